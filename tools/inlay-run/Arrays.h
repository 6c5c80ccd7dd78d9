// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in memory and in NumPy's files (format: numpy.lib.format; .npz by libzip).

#ifndef INLAY_TOOLS_INLAYRUN_ARRAYS_H
#define INLAY_TOOLS_INLAYRUN_ARRAYS_H

#include "inlay/Runtime/Core/Program.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inlay::tools {

/// A dense row-major array that owns its bytes, maybe with others.
struct Array {
  rt::ElementType element = rt::ElementType::F32;
  std::vector<int64_t> dims;
  std::shared_ptr<char[]> bytes;

  size_t size() const { return count() * rt::byteWidth(element); } ///< in bytes

  rt::TensorView view() { return {bytes.get(), element, dims, bytes}; }
  int64_t count() const;
};

/// An array of the type and dims, zeros; an error if there is no memory for it.
rt::StatusOr<Array> makeArray(rt::ElementType element, std::vector<int64_t> dims);

/// Fills floats with normal values and integers with small ones, the same for the same seed everywhere.
void fillRandom(Array &array, uint64_t seed);

/// Reads a .npy file, or each array of a .npz file under its name; errors name the file and what is wrong in it.
rt::StatusOr<Array> readNpy(const std::string &path);
rt::StatusOr<std::map<std::string, Array>> readNpz(const std::string &path);

/// Writes one array as .npy, or several as .npz.
rt::Status writeNpy(const std::string &path, const Array &array);
rt::Status writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_ARRAYS_H
