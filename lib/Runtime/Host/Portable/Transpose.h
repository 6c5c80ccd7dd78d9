// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H

#include <cstdint>

namespace inlay::rt::host {

/// to[column][row] = from[row][column]; pitches of rows count elements.
void transpose(const float *from, int64_t fromRow, int64_t rows, int64_t columns, float *to, int64_t toRow);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_TRANSPOSE_H
