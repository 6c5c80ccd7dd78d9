// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A row of scores, of which the first `visible` are seen: the rest is minus infinity.
struct ScoreRow {
  float *scores = nullptr;
  int64_t keys = 0, visible = 0;
  float scale = 1;
  MaskKind maskKind = MaskKind::None;
  const void *mask = nullptr; ///< f32 or bool, one for each key
  int64_t maskStride = 0;
};

/// Scales, masks and replaces scores by their softmax, in place. Where all are minus infinity it is all zeros; NaN
/// gives NaN.
void applySoftmax(const ScoreRow &row);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_SOFTMAX_H
