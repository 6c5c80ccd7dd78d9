// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product that a device computes at once, and its text in target attributes and in the requirements of
// kernels.

#ifndef INLAY_SUPPORT_MATRIXSHAPE_H
#define INLAY_SUPPORT_MATRIXSHAPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace inlay {

/// A product of `rows` x `depth` and `depth` x `columns` matrices of `element`, accumulated in `sum`. All sizes are
/// powers of two.
struct MatrixShape {
  int64_t rows = 0, columns = 0, depth = 0;
  std::string element, sum; ///< One of f16 to f64, s8 to s64, u8 to u64.
};

/// Parses text such as "16x8x16xf16xf32". Returns std::nullopt if it is malformed.
std::optional<MatrixShape> parseMatrixShape(llvm::StringRef text);

std::string formatMatrixShape(const MatrixShape &shape);

} // namespace inlay

#endif // INLAY_SUPPORT_MATRIXSHAPE_H
