// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the slices of a contraction and packs constant weights. ContractionShape.cpp finds the matrix product in
// its loops, and Contraction.cpp runs the slices.

#include "ContractionPlan.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "TaskSizes.h"

#include <algorithm>

namespace inlay::rt::host {

/// Columns per slice. The number doesn't depend on m or on the number of threads, so that all calls share packed
/// weights.
static constexpr int64_t kSliceColumns = 256;
/// Rows per slice: at most what fits the second-level cache beside the columns, at least what hides loads of B.
static constexpr int64_t kMaxSliceRows = 128, kMinSliceRows = 16;
static constexpr size_t kMaxPackedParts = 4096;

int64_t offsetOf(const std::vector<ContractionLoop> &loops, int64_t index, uint32_t buffer) {
  int64_t offset = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    offset += index % loop->size * loop->strides[buffer];
    index /= loop->size;
  }
  return offset;
}

static int64_t countIndices(const std::vector<ContractionLoop> &loops) {
  int64_t count = 1;
  for (const ContractionLoop &loop : loops)
    count *= loop.size;
  return count;
}

static int64_t divideUp(int64_t value, int64_t by) { return value / by + (value % by != 0); }

/// Splits `size` into parts of about equal size, each a multiple of `multiple` and at most `maxSize`.
static Slices slice(int64_t size, int64_t maxSize, int64_t multiple) {
  Slices slices{size, size, 1};
  if (size > maxSize) {
    slices.slice = divideUp(divideUp(size, divideUp(size, maxSize)), multiple) * multiple;
    slices.count = divideUp(size, slices.slice);
  }
  return slices;
}

static void chooseSlices(ContractionPlan &plan, int64_t threads) {
  double work = static_cast<double>(plan.outerCount) * static_cast<double>(plan.sumCount) *
                static_cast<double>(plan.shape.m.size) * static_cast<double>(plan.shape.n.size) *
                static_cast<double>(plan.shape.k.size);
  plan.n = slice(plan.shape.n.size, kSliceColumns, 64);
  int64_t rows = kMaxSliceRows;
  plan.m = slice(plan.shape.m.size, rows, 8);
  while (plan.tasks() < threads * kTasksPerThread && rows > kMinSliceRows &&
         work / static_cast<double>(plan.tasks()) > 4 * kMinWork) {
    rows /= 2;
    plan.m = slice(plan.shape.m.size, rows, 8);
  }
  double perTask = work / static_cast<double>(plan.tasks());
  plan.chunk = std::max<int64_t>(1, static_cast<int64_t>(kMinWork / std::max(perTask, 1.0)));
}

static Status makeGemms(ContractionPlan &plan, bool accumulates, SequentialLibrary &library) {
  const ContractionShape &shape = plan.shape;
  uint32_t c = static_cast<uint32_t>(shape.m.strides.size()) - 1;
  for (int later = 0; later < (plan.sumCount > 1 ? 2 : 1); ++later)
    for (int tailM = 0; tailM < 2; ++tailM)
      for (int tailN = 0; tailN < 2; ++tailN) {
        int64_t rows = tailM ? plan.m.length(plan.m.count - 1) : plan.m.slice;
        int64_t columns = tailN ? plan.n.length(plan.n.count - 1) : plan.n.slice;
        if ((tailM && rows == plan.m.slice) || (tailN && columns == plan.n.slice))
          continue;
        GemmShape gemm{rows, columns, shape.k.size};
        gemm.aRow = shape.m.strides[shape.a];
        gemm.aColumn = shape.k.strides[shape.a];
        gemm.bRow = shape.k.strides[shape.b];
        gemm.bColumn = shape.n.strides[shape.b];
        gemm.cRow = plan.usesScratch ? plan.n.slice : shape.m.strides[c];
        gemm.accumulates = accumulates || later;
        gemm.packsB = plan.packsB;
        StatusOr<std::shared_ptr<Gemm>> made = makeGemm(library, gemm);
        if (!made.isOk())
          return made.status();
        plan.gemms[later][tailM][tailN] = std::move(*made);
      }
  return Status::ok();
}

/// Lists the parts of B that tasks read, each once.
static void listPackedParts(ContractionPlan &plan) {
  const ContractionShape &shape = plan.shape;
  const auto &gemms = plan.gemms[0];
  plan.isTailPackedSeparately = (gemms[1][0] && gemms[1][0]->packFormat() != gemms[0][0]->packFormat()) ||
                                (gemms[1][1] && gemms[1][1]->packFormat() != gemms[0][1]->packFormat());
  for (int64_t outer = 0; outer < plan.outerCount; ++outer)
    for (int64_t sum = 0; sum < plan.sumCount; ++sum)
      for (int64_t n = 0; n < plan.n.count; ++n) {
        int64_t offset = offsetOf(shape.outer, outer, shape.b) + offsetOf(shape.sums, sum, shape.b) +
                         plan.n.begin(n) * shape.n.strides[shape.b];
        plan.packedParts.push_back({offset, false, plan.n.isTail(n)});
        if (plan.isTailPackedSeparately)
          plan.packedParts.push_back({offset, true, plan.n.isTail(n)});
      }
  std::sort(plan.packedParts.begin(), plan.packedParts.end());
  auto isSame = [](const PackedPart &x, const PackedPart &y) { return !(x < y) && !(y < x); };
  plan.packedParts.erase(std::unique(plan.packedParts.begin(), plan.packedParts.end(), isSame), plan.packedParts.end());
  for (int tailM = 0; tailM <= plan.isTailPackedSeparately; ++tailM)
    for (int tailN = 0; tailN < 2; ++tailN)
      if (gemms[tailM][tailN])
        plan.packedLayout += gemms[tailM][tailN]->packFormat();
  for (const PackedPart &part : plan.packedParts)
    plan.packedLayout += std::to_string(part.offset) + (part.isTailN ? "n," : ",");
}

size_t ContractionPlan::findPart(int64_t offset, bool isTailM, bool isTailN) const {
  PackedPart key{offset, isTailM && isTailPackedSeparately, isTailN};
  auto found = std::lower_bound(packedParts.begin(), packedParts.end(), key);
  return static_cast<size_t>(found - packedParts.begin());
}

Status ContractionPlan::pack(const float *buffer, Packed &packed) const {
  packed.resize(packedParts.size());
  return ThreadPool::get().run(static_cast<int64_t>(packedParts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const PackedPart &part = packedParts[static_cast<size_t>(i)];
      const Gemm &gemm = *gemms[0][part.isTailM][part.isTailN];
      Memory memory = allocate(gemm.packedBytes());
      if (!memory)
        return Status(StatusCode::ResourceExhausted, "no memory for packed weights");
      INLAY_RETURN_IF_ERROR(gemm.pack(buffer + part.offset, memory.get()));
      packed[static_cast<size_t>(i)] = std::move(memory);
    }
    return Status::ok();
  });
}

StatusOr<std::shared_ptr<const ContractionPlan>> planContraction(const HostKernel &kernel, const int64_t *sizes,
                                                                 bool isInPlace, int64_t threads,
                                                                 SequentialLibrary &library) {
  StatusOr<ContractionShape> shape = analyzeContraction(kernel, sizes);
  if (!shape.isOk())
    return shape.status();
  auto plan = std::make_shared<ContractionPlan>();
  plan->shape = std::move(*shape);
  if (plan->shape.isEmpty)
    return std::shared_ptr<const ContractionPlan>(std::move(plan));
  plan->outerCount = countIndices(plan->shape.outer);
  plan->sumCount = countIndices(plan->shape.sums);
  chooseSlices(*plan, threads);
  int64_t column = plan->shape.n.strides.back();
  plan->usesScratch = isInPlace || (plan->shape.n.size > 1 && column != 1);
  if (plan->shape.isEmptySum)
    return std::shared_ptr<const ContractionPlan>(std::move(plan));
  double parts = static_cast<double>(plan->outerCount) * static_cast<double>(plan->sumCount * plan->n.count);
  const ContractionShape &loops = plan->shape;
  bool isAdjacent = loops.n.strides[loops.b] == 1 || loops.k.strides[loops.b] == 1;
  // A single row reads B once, so packing would not make it faster.
  plan->packsB = isConstant(kernel, loops.b) && parts <= static_cast<double>(kMaxPackedParts) &&
                 !(loops.m.size == 1 && isAdjacent);
  INLAY_RETURN_IF_ERROR(makeGemms(*plan, kernel.accumulates, library));
  if (plan->packsB)
    listPackedParts(*plan);
  return std::shared_ptr<const ContractionPlan>(std::move(plan));
}

} // namespace inlay::rt::host
