// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans rows per workgroup and the layout of workgroup memory of a row group. RowKernel.cpp emits the code by this
// plan.

#include "RowGroupPlan.h"
#include "inlay/Convert/Bufferize/Arena.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

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

int64_t inlay::chooseRowInvocations(int64_t elements, int64_t maxInvocations) {
  constexpr int64_t kMin = 64, kPerInvocation = 8;
  int64_t invocations = std::min(kMin, maxInvocations);
  while (invocations < maxInvocations && invocations < elements / kPerInvocation + (elements % kPerInvocation != 0))
    invocations *= 2;
  return invocations;
}

int64_t inlay::chooseUnrolled(int64_t steps) {
  constexpr int64_t kMax = 8, kUneven = 4;
  for (int64_t unrolled = std::min(kMax, steps); unrolled > 2; --unrolled)
    if (steps % unrolled == 0)
      return unrolled;
  return std::clamp<int64_t>(steps, 1, kUneven);
}

int64_t inlay::chooseShares(int64_t invocations, int64_t points) {
  int64_t shares = 1;
  while (2 * shares * points <= invocations)
    shares *= 2;
  return shares;
}
