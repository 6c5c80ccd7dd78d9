// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Softmax.h"
#include "Simd.h"

#include <cmath>

#define INLAY_PER_TARGET "Softmax.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

void applySoftmax(const ScoreRow &row) { INLAY_DISPATCH(applySoftmax, (row)) }

} // namespace inlay::rt::host
