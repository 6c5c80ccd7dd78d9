// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Softmax.h"
#include "SimdMath.h"

#include <cmath>

namespace inlay::rt::host {

/// The scores that `lanes` of a vector hold; the other lanes are `filler`.
static INLAY_INLINE Vector loadSome(const float *from, int64_t lanes, float filler) {
  if (lanes >= kLanes)
    return load(from);
  float line[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane)
    line[lane] = lane < lanes ? from[lane] : filler;
  return load(line);
}

static INLAY_INLINE void storeSome(float *to, int64_t lanes, Vector value) {
  if (lanes >= kLanes)
    return store(to, value);
  float line[kLanes];
  store(line, value);
  for (int64_t lane = 0; lane < lanes; ++lane)
    to[lane] = line[lane];
}

static INLAY_INLINE void scaleAndMask(const ScoreRow &row) {
  float *scores = row.scores;
  float scale = row.scale;
  int64_t stride = row.maskStride;
  if (row.maskKind == MaskKind::Added && stride == 1) {
    const auto *mask = static_cast<const float *>(row.mask);
    for (int64_t key = 0; key < row.visible; ++key)
      scores[key] = scores[key] * scale + mask[key];
  } else if (row.maskKind == MaskKind::Added) {
    const auto *mask = static_cast<const float *>(row.mask);
    for (int64_t key = 0; key < row.visible; ++key)
      scores[key] = scores[key] * scale + mask[key * stride];
  } else if (row.maskKind == MaskKind::Selected) {
    const auto *mask = static_cast<const uint8_t *>(row.mask);
    for (int64_t key = 0; key < row.visible; ++key)
      scores[key] = mask[key * stride] ? scores[key] * scale : -INFINITY;
  } else {
    for (int64_t key = 0; key < row.visible; ++key)
      scores[key] *= scale;
  }
}

/// The largest score; NaN doesn't count, as the sum has it anyway.
static INLAY_INLINE float findMost(const ScoreRow &row) {
  Vector most = broadcast(-INFINITY);
  for (int64_t key = 0; key < row.visible; key += kLanes) {
    Vector scores = loadSome(row.scores + key, row.visible - key, -INFINITY);
    most = select(scores > most, scores, most);
  }
  float line[kLanes], result = -INFINITY;
  store(line, most);
  for (float score : line)
    result = score > result ? score : result;
  return result;
}

static INLAY_INLINE void softmaxBody(const ScoreRow &row) {
  scaleAndMask(row);
  float most = findMost(row);
  // Minus infinity less itself is NaN: such rows, of which every weight is 0, are shifted by nothing.
  float shift = most == -INFINITY ? 0 : most;
  Vector sums{};
  for (int64_t key = 0; key < row.visible; key += kLanes) {
    int64_t lanes = row.visible - key;
    Vector weights = exponential(loadSome(row.scores + key, lanes, -INFINITY) - shift);
    storeSome(row.scores + key, lanes, weights);
    sums += weights;
  }
  float line[kLanes], sum = 0;
  store(line, sums);
  for (float part : line)
    sum += part;
  float factor = sum == 0 ? 0 : 1 / sum;
  for (int64_t key = 0; key < row.visible; ++key)
    row.scores[key] *= factor;
  for (int64_t key = row.visible; key < row.keys; ++key)
    row.scores[key] = 0;
}

INLAY_MULTIVERSION(softmax, (const ScoreRow &row), softmaxBody, (row))

void applySoftmax(const ScoreRow &row) { softmax(row); }

} // namespace inlay::rt::host
