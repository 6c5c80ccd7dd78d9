// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches the softmax of attention scores to Softmax.inc. A softmax op outside attention is generated code:
// Convert/GraphToLinalg/Normalization.cpp.

#include "Softmax.h"
#include "Simd.h"

#include <cmath>

#define INLAY_PER_TARGET "Softmax.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

void applySoftmax(const ScoreRow &row) { INLAY_DISPATCH(applySoftmax, (row)) }

} // namespace inlay::rt::host
