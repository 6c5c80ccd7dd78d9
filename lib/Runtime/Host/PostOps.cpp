// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PostOps.h"
#include "SimdMath.h"

namespace inlay::rt::host {

static INLAY_INLINE Vector evaluate(PostOpKind kind, Vector x, float low, float high) {
  switch (kind) {
  case PostOpKind::Relu:
    return select(x < Vector{}, Vector{}, x);
  case PostOpKind::Clip:
    return clip(x, low, high);
  case PostOpKind::Gelu:
    return 0.5f * x * onePlusErf(x * 0.70710678f);
  case PostOpKind::GeluTanh:
    return 0.5f * x * (1.0f + hyperbolicTangent(0.79788456f * (x + 0.044715f * x * x * x)));
  case PostOpKind::Silu:
    return x / (1.0f + exponential(-x));
  case PostOpKind::Sigmoid:
    return 1.0f / (1.0f + exponential(-x));
  case PostOpKind::Tanh:
    return hyperbolicTangent(x);
  case PostOpKind::HardSwish:
    return x * clip(x + 3.0f, 0.0f, 6.0f) / 6.0f;
  case PostOpKind::HardSigmoid:
    return clip(x + 3.0f, 0.0f, 6.0f) / 6.0f;
  case PostOpKind::Add:
  case PostOpKind::Mul:
    break; // take an operand
  }
  return x;
}

/// One version of the loop for each kind: the switch is gone from it.
template <PostOpKind Kind>
static INLAY_INLINE void applyToRow(float *row, int64_t size, float low, float high) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    store(row + i, evaluate(Kind, load(row + i), low, high));
  if (i == size)
    return;
  float rest[kLanes] = {};
  for (int64_t lane = 0; lane < size - i; ++lane)
    rest[lane] = row[i + lane];
  store(rest, evaluate(Kind, load(rest), low, high));
  for (int64_t lane = 0; lane < size - i; ++lane)
    row[i + lane] = rest[lane];
}

static INLAY_INLINE void applyBody(const PostOp &op, float *row, int64_t size) {
  switch (op.kind) {
#define INLAY_KIND(kind)                                                                                               \
  case PostOpKind::kind:                                                                                               \
    return applyToRow<PostOpKind::kind>(row, size, op.low, op.high);
    INLAY_KIND(Relu)
    INLAY_KIND(Clip)
    INLAY_KIND(Gelu)
    INLAY_KIND(GeluTanh)
    INLAY_KIND(Silu)
    INLAY_KIND(Sigmoid)
    INLAY_KIND(Tanh)
    INLAY_KIND(HardSwish)
    INLAY_KIND(HardSigmoid)
#undef INLAY_KIND
  case PostOpKind::Add:
  case PostOpKind::Mul:
    return;
  }
}

INLAY_MULTIVERSION(applyUnary, (const PostOp &op, float *row, int64_t size), applyBody, (op, row, size))

static INLAY_INLINE void combineBody(bool isAdd, float *row, const float *operand, int64_t stride, int64_t size) {
  if (stride == 1 && isAdd) {
    for (int64_t i = 0; i < size; ++i)
      row[i] += operand[i];
  } else if (stride == 1) {
    for (int64_t i = 0; i < size; ++i)
      row[i] *= operand[i];
  } else if (stride == 0) {
    float value = operand[0];
    for (int64_t i = 0; i < size; ++i)
      row[i] = isAdd ? row[i] + value : row[i] * value;
  } else {
    for (int64_t i = 0; i < size; ++i)
      row[i] = isAdd ? row[i] + operand[i * stride] : row[i] * operand[i * stride];
  }
}

INLAY_MULTIVERSION(combine, (bool isAdd, float *row, const float *operand, int64_t stride, int64_t size), combineBody,
                   (isAdd, row, operand, stride, size))

size_t countOperands(const HostKernel &kernel) {
  size_t count = kernel.hasBias;
  for (const PostOp &op : kernel.postOps)
    count += takesOperand(op.kind);
  return count;
}

std::vector<PostOp> withBias(const HostKernel &kernel) {
  std::vector<PostOp> all;
  if (kernel.hasBias)
    all.push_back({PostOpKind::Add});
  all.insert(all.end(), kernel.postOps.begin(), kernel.postOps.end());
  return all;
}

void applyPostOps(const std::vector<PostOp> &postOps, const PostOperand *operands, const Tile &tile) {
  for (int64_t row = 0; row < tile.rows && !postOps.empty(); ++row) {
    float *data = tile.data + row * tile.row;
    const PostOperand *operand = operands;
    for (const PostOp &op : postOps) {
      if (!takesOperand(op.kind)) {
        applyUnary(op, data, tile.columns);
        continue;
      }
      combine(op.kind == PostOpKind::Add, data, operand->data + row * operand->row, operand->column, tile.columns);
      ++operand;
    }
  }
}

} // namespace inlay::rt::host
