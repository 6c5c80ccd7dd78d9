// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies biases, activations, sums and products to a slice of a result, with any kernel library. The formulas
// without an operand are in PostOps.inc.

#include "PostOps.h"
#include "Simd.h"

#define INLAY_PER_TARGET "PostOps.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

static void applyUnary(const PostOp &op, float *row, int64_t size) { INLAY_DISPATCH(applyUnary, (op, row, size)) }

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
      bool isAdd = op.kind == PostOpKind::Add || op.kind == PostOpKind::AddChannels;
      combine(isAdd, data, operand->data + row * operand->row, operand->column, tile.columns);
      ++operand;
    }
  }
}

} // namespace inlay::rt::host
