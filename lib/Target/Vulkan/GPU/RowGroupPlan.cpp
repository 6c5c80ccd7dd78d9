// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans rows per workgroup and the layout of workgroup memory of a row group. RowKernel.cpp emits the code by this
// plan.

#include "RowGroupPlan.h"
#include "inlay/Convert/Bufferize/Arena.h"

#include "llvm/Support/MathExtras.h"

using namespace inlay;

/// Returns the number of elements of a buffer for `rows` rows, or nullopt if there are more than `maxElements`.
static std::optional<int64_t> countFor(const RowBuffer &buffer, int64_t rows, int64_t maxElements) {
  int64_t elements = 0;
  if (llvm::MulOverflow(buffer.perRow, rows, elements) || llvm::AddOverflow(elements, buffer.perGroup, elements) ||
      elements > maxElements)
    return std::nullopt;
  return elements;
}

std::optional<RowGroupPlan> inlay::planRowGroup(const std::vector<RowBuffer> &buffers, int64_t maxRows,
                                                int64_t elements) {
  for (int64_t rows = maxRows; rows >= 1; rows /= 2) {
    std::vector<Lifetime> lifetimes;
    for (const RowBuffer &buffer : buffers)
      if (std::optional<int64_t> count = countFor(buffer, rows, elements))
        lifetimes.push_back({*count, buffer.first, buffer.last});
    if (lifetimes.size() < buffers.size())
      continue;
    ArenaPlan plan = planArena(lifetimes, /*alignment=*/1);
    if (plan.bytes <= elements)
      return RowGroupPlan{rows, plan.offsets, plan.bytes};
  }
  return std::nullopt;
}

int64_t inlay::chooseShares(int64_t invocations, int64_t points) {
  int64_t shares = 1;
  while (2 * shares * points <= invocations)
    shares *= 2;
  return shares;
}
