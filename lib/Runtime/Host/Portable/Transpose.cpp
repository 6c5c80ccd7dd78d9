// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes the rows of a convolution's input and result. Transpose.inc has the inner loops. A permute op is
// generated code: Convert/GraphToLinalg/Layout.cpp.

#include "Transpose.h"
#include "Simd.h"

#include <algorithm>

#define INLAY_PER_TARGET "Transpose.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

static void transposeBlock(const float *from, int64_t fromRow, float *to, int64_t toRow) {
  INLAY_DISPATCH(transposeBlock, (from, fromRow, to, toRow))
}

void transpose(const float *from, int64_t fromRow, int64_t rows, int64_t columns, float *to, int64_t toRow) {
  for (int64_t row = 0; row < rows; row += kLanes)
    for (int64_t column = 0; column < columns; column += kLanes) {
      int64_t rowEnd = std::min(row + kLanes, rows), columnEnd = std::min(column + kLanes, columns);
      // Narrower processors would split the shuffles of whole blocks.
      if (simdLevel() == SimdLevel::V4 && rowEnd - row == kLanes && columnEnd - column == kLanes) {
        transposeBlock(from + row * fromRow + column, fromRow, to + column * toRow + row, toRow);
        continue;
      }
      for (int64_t j = column; j < columnEnd; ++j)
        for (int64_t i = row; i < rowEnd; ++i)
          to[j * toRow + i] = from[i * fromRow + j];
    }
}

} // namespace inlay::rt::host
