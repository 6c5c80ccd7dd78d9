// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposition of a matrix.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H

#include <cstdint>

namespace inlay::rt::host {

/// Sets to[column][row] = from[row][column]. `fromRow` and `toRow` are the pitches of rows in elements.
void transpose(const float *from, int64_t fromRow, int64_t rows, int64_t columns, float *to, int64_t toRow);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H
