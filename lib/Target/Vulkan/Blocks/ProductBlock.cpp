// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the roles of the loops of a product, and the memory of its blocks.

#include "ProductBlock.h"

#include <algorithm>

using namespace inlay;

/// Returns the number of steps of `loops` together, capped at 1e15.
static double countSteps(const LoopNestShape &shape, const std::vector<size_t> &loops) {
  double steps = 1;
  for (size_t loop : loops)
    steps *= double(std::max<int64_t>(shape.loops[loop].size, 1));
  return std::min(steps, 1e15);
}

std::optional<ProductLoops> inlay::findProductLoops(const LoopNestShape &shape) {
  if (shape.inputStrides.size() != 2)
    return std::nullopt;
  ProductLoops loops;
  // The columns are the loops along which the result is contiguous.
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (!shape.loops[i].reduction && shape.outputStrides[i] == 1 && !shape.loops[i].isSingle() &&
        (shape.inputStrides[0][i] != 0) != (shape.inputStrides[1][i] != 0))
      loops.lhs = shape.inputStrides[0][i] != 0 ? 1 : 0;
  bool hasInner = false;
  for (size_t i = 0; i < shape.loops.size(); ++i) {
    bool inLhs = shape.inputStrides[loops.lhs][i] != 0, inRhs = shape.inputStrides[1 - loops.lhs][i] != 0;
    if (!shape.loops[i].reduction) {
      (inLhs == inRhs ? loops.outer : inLhs ? loops.rows : loops.columns).push_back(i);
      continue;
    }
    loops.sums.push_back(i);
    if (inLhs && inRhs && (!hasInner || shape.loops[i].size >= shape.loops[loops.inner].size)) {
      loops.inner = i;
      hasInner = true;
    }
  }
  if (!hasInner || loops.rows.empty() || loops.columns.empty())
    return std::nullopt;
  loops.sums.erase(std::find(loops.sums.begin(), loops.sums.end(), loops.inner));
  return loops;
}

ProductSizes ProductSizes::of(const LoopNestShape &shape, const ProductLoops &loops) {
  return {countSteps(shape, loops.outer), countSteps(shape, loops.rows), countSteps(shape, loops.columns),
          countSteps(shape, loops.sums), double(shape.loops[loops.inner].size)};
}

int64_t inlay::getBlockPitch(int64_t minor, int64_t elementBytes) {
  constexpr int64_t kPaddingBytes = 16;
  return minor + kPaddingBytes / elementBytes;
}

int64_t inlay::countBlockMemory(const BlockSize &size, int64_t elementBytes) {
  auto count = [&](int64_t across) {
    return std::max(across * getBlockPitch(size.depth, elementBytes), size.depth * getBlockPitch(across, elementBytes));
  };
  return elementBytes * (count(size.rows) + count(size.columns));
}
