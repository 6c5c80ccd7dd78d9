// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of matrices that a device computes at once, and its text: of target attributes and kernels' requirements.

#ifndef INLAY_SUPPORT_MATRIXSHAPE_H
#define INLAY_SUPPORT_MATRIXSHAPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace inlay {

/// `rows` x `depth` times `depth` x `columns`, all powers of two, of `element`, added up in `sum`.
struct MatrixShape {
  int64_t rows = 0, columns = 0, depth = 0;
  std::string element, sum; ///< f16 to f64, s8 to s64, u8 to u64
};

/// As "16x8x16xf16xf32"; nothing if `text` isn't such.
std::optional<MatrixShape> parseMatrixShape(llvm::StringRef text);

std::string formatMatrixShape(const MatrixShape &shape);

} // namespace inlay

#endif // INLAY_SUPPORT_MATRIXSHAPE_H
