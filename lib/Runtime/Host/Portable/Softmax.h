// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of a row of attention scores, for Kernels/Attention.cpp. It serves no other softmax: a softmax op outside
// attention is generated code (Convert/GraphToLinalg/Normalization.cpp).

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A row of scores. Only the first `visible` are used; the others count as minus infinity.
struct ScoreRow {
  float *scores = nullptr;
  int64_t keys = 0, visible = 0;
  float scale = 1;
  MaskKind maskKind = MaskKind::None;
  const void *mask = nullptr; ///< f32 or bool, one element per key.
  int64_t maskStride = 0;
};

/// Scales and masks the scores and replaces them by their softmax, in place. If all are minus infinity, the result is
/// all zeros. NaN gives NaN.
void applySoftmax(const ScoreRow &row);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H
