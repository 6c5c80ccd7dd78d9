// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in memory and in NumPy's file formats (numpy.lib.format; .npz with libzip).

#ifndef INLAY_TOOLS_INLAYRUN_ARRAYS_H
#define INLAY_TOOLS_INLAYRUN_ARRAYS_H

#include "inlay/Runtime/Core/Program.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inlay::tools {

/// A dense row-major array. Several arrays may share its bytes.
struct Array {
  rt::ElementType element = rt::ElementType::F32;
  std::vector<int64_t> dims;
  std::shared_ptr<char[]> bytes;

  size_t size() const { return count() * rt::byteWidth(element); } ///< In bytes.

  rt::TensorView view() { return {bytes.get(), element, dims, bytes}; }
  int64_t count() const;
};

/// Returns an array of zeros, or an error if there is no memory for it.
rt::StatusOr<Array> makeArray(rt::ElementType element, std::vector<int64_t> dims);

/// Fills floats with normally distributed values and integers with small ones. The same seed gives the same values on
/// every machine.
void fillRandom(Array &array, uint64_t seed);

/// Read a .npy file, or all arrays of a .npz file by name. Errors name the file and the fault.
rt::StatusOr<Array> readNpy(const std::string &path);
rt::StatusOr<std::map<std::string, Array>> readNpz(const std::string &path);

/// Write one array as .npy, or several as .npz.
rt::Status writeNpy(const std::string &path, const Array &array);
rt::Status writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_ARRAYS_H
