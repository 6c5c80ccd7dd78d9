// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs convolutions as slices of rows, in parallel.

#include "ConvolutionPlan.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Portable/PostOps.h"
#include "Runtime/Host/Portable/Transpose.h"
#include "Runtime/Host/Support/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace inlay::rt::host {

namespace {
class ConvolutionKernel : public LibraryKernel {
public:
  ConvolutionKernel(const HostKernel &kernel, SequentialLibrary &library)
      : kernel(kernel), library(library), postOps(withBias(kernel)) {
    perChannel.assign(kernel.hasBias, true);
    for (const PostOp &op : kernel.postOps)
      if (takesOperand(op.kind))
        perChannel.push_back(isPerChannel(op.kind));
  }

  Status call(void *const *buffers, const int64_t *sizes) override;
  void forgetConstants() override { constants.forget(); }

private:
  StatusOr<std::shared_ptr<const Packed>> packWeights(const ConvolutionPlan &plan, const float *weights);

  HostKernel kernel;
  SequentialLibrary &library;
  std::vector<PostOp> postOps;
  std::vector<bool> perChannel; ///< Per operand; the bias is the first.
  PlanCache<ConvolutionPlan> plans;
  ConstantCache constants;
};

/// The data of one call that its tasks share. Libraries are fast only if channels are last, so slices of tensors with
/// channels first are transposed in cache.
struct ConvolutionRun {
  const HostKernel &kernel;
  const ConvolutionPlan &plan;
  const std::vector<PostOp> &postOps;
  const Packed *packed;
  const float *x;
  std::vector<const float *> operands; ///< The bias is the first.
  const std::vector<bool> &perChannel; ///< Per operand.
  float *y;
  bool isInPlace; ///< True if an operand is Y.

  Status runTask(int64_t task) const;

private:
  const float *findInput(int64_t image, const RowSlice &slice, Scratch &scratch) const;
  void finish(int64_t image, const RowSlice &slice, const Tile &tile) const;
  int64_t inputPlaces() const { return plan.shape.window[0].input * plan.inputRow; }
  int64_t outputPlaces() const { return plan.shape.window[0].output * plan.outputRow; }
};
} // namespace

/// Returns the rows of X that the slice reads, with channels last; null if out of memory.
const float *ConvolutionRun::findInput(int64_t image, const RowSlice &slice, Scratch &scratch) const {
  int64_t channels = plan.inputChannels(), begin = slice.inputBegin * plan.inputRow;
  const float *from = x + image * inputPlaces() * channels;
  if (kernel.channelsLast)
    return from + begin * channels;
  int64_t places = slice.inputRows * plan.inputRow;
  auto *to = static_cast<float *>(scratch.reserve(static_cast<size_t>(places * channels) * sizeof(float)));
  if (to)
    transpose(from + begin, inputPlaces(), channels, places, to, channels);
  return to;
}

/// Applies post-ops to a slice of the result in `tile` and stores it in Y.
void ConvolutionRun::finish(int64_t image, const RowSlice &slice, const Tile &tile) const {
  int64_t channels = plan.outputChannels(), begin = slice.outputBegin * plan.outputRow;
  bool isLast = kernel.channelsLast;
  int64_t pitch = isLast ? channels : outputPlaces();
  int64_t offset = image * outputPlaces() * channels + (isLast ? begin * channels : begin);
  std::vector<PostOperand> placed;
  for (size_t i = 0; i < operands.size(); ++i)
    placed.push_back(perChannel[i] ? PostOperand{operands[i], !isLast, isLast}
                                   : PostOperand{operands[i] + offset, pitch, 1});
  applyPostOps(postOps, placed.data(), tile);
  for (int64_t row = 0; row < tile.rows && tile.data != y + offset; ++row)
    std::memcpy(y + offset + row * pitch, tile.data + row * tile.row,
                static_cast<size_t>(tile.columns) * sizeof(float));
}

Status ConvolutionRun::runTask(int64_t task) const {
  static Scratch inputScratch, outputScratch, tileScratch;
  const Status noMemory(StatusCode::ResourceExhausted, "no memory for a slice of a convolution");
  int64_t count = static_cast<int64_t>(plan.slices.size()), image = task / count;
  const RowSlice &slice = plan.slices[static_cast<size_t>(task % count)];
  int64_t channels = plan.outputChannels(), places = slice.outputRows * plan.outputRow;
  int64_t begin = slice.outputBegin * plan.outputRow;
  float *target = y + (image * outputPlaces() + begin) * channels;
  size_t bytes = static_cast<size_t>(places * channels) * sizeof(float);
  if (!kernel.channelsLast || isInPlace)
    target = static_cast<float *>(outputScratch.reserve(bytes));
  if (!target)
    return noMemory;
  if (slice.inputRows == 0) {
    std::fill_n(target, places * channels, 0.0f);
  } else {
    const float *input = findInput(image, slice, inputScratch);
    if (!input)
      return noMemory;
    const void *weights = (*packed)[plan.layouts[slice.primitive]].get();
    INLAY_RETURN_IF_ERROR(plan.primitives[slice.primitive]->run(input, weights, target));
  }
  if (kernel.channelsLast) {
    finish(image, slice, {target, places, channels, channels});
    return Status::ok();
  }
  Tile tile{y + image * outputPlaces() * channels + begin, channels, places, outputPlaces()};
  if (isInPlace)
    tile = {static_cast<float *>(tileScratch.reserve(bytes)), channels, places, places};
  if (!tile.data)
    return noMemory;
  transpose(target, channels, places, channels, tile.data, tile.row);
  finish(image, slice, tile);
  return Status::ok();
}

StatusOr<std::shared_ptr<const Packed>> ConvolutionKernel::packWeights(const ConvolutionPlan &plan,
                                                                       const float *weights) {
  auto pack = [&](Packed &packed) { return plan.pack(weights, packed); };
  if (isConstant(kernel, 1))
    return constants.get(weights, plan.packedLayout, pack);
  auto packed = std::make_shared<Packed>();
  if (Status status = pack(*packed); !status.isOk())
    return status;
  return std::shared_ptr<const Packed>(std::move(packed));
}

/// Copies operands that overlap Y without being Y, because Y is written before they are read.
static Status copyOverlapping(ConvolutionRun &run, std::vector<Memory> &copies) {
  const ConvolutionPlan &plan = run.plan;
  int64_t channels = plan.outputChannels();
  int64_t elements = plan.batch * plan.shape.window[0].output * plan.outputRow * channels;
  for (size_t i = 0; i < run.operands.size(); ++i) {
    int64_t size = run.perChannel[i] ? channels : elements;
    const float *begin = run.operands[i];
    if (begin >= run.y + elements || run.y >= begin + size || (begin == run.y && size == elements))
      continue;
    Memory copy = allocate(static_cast<size_t>(size) * sizeof(float));
    if (!copy)
      return {StatusCode::ResourceExhausted, fmt::format("no memory for {} elements of an operand", size)};
    std::memcpy(copy.get(), begin, static_cast<size_t>(size) * sizeof(float));
    run.operands[i] = static_cast<const float *>(copy.get());
    copies.push_back(std::move(copy));
  }
  return Status::ok();
}

Status ConvolutionKernel::call(void *const *buffers, const int64_t *sizes) {
  if (!isConvolutionRank(sizes[4]))
    return {StatusCode::InvalidArgument,
            fmt::format("expected a convolution of 1 to 3 spatial dims, but got {}", sizes[4])};
  int64_t threads = threadsToPlanFor();
  std::vector<int64_t> key(sizes, sizes + countConvolutionSizes(sizes[4]));
  key.push_back(threads);
  auto plan = plans.get(std::move(key), [&] { return planConvolution(kernel, sizes, threads, library); });
  if (!plan.isOk())
    return plan.status();
  if ((*plan)->isEmpty)
    return Status::ok();
  auto packed = packWeights(**plan, static_cast<const float *>(buffers[1]));
  if (!packed.isOk())
    return packed.status();
  auto *y = static_cast<float *>(buffers[kernel.buffers - 1]);
  ConvolutionRun run{kernel, **plan,     postOps, packed->get(), static_cast<const float *>(buffers[0]),
                     {},     perChannel, y,       false};
  for (uint32_t buffer = 2; buffer + 1 < kernel.buffers; ++buffer) {
    run.operands.push_back(static_cast<const float *>(buffers[buffer]));
    run.isInPlace = run.isInPlace || buffers[buffer] == y;
  }
  std::vector<Memory> copies;
  INLAY_RETURN_IF_ERROR(copyOverlapping(run, copies));
  int64_t tasks = (*plan)->batch * static_cast<int64_t>((*plan)->slices.size());
  return ThreadPool::get().run(tasks, (*plan)->chunk, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(run.runTask(task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeConvolution(const HostKernel &kernel, SequentialLibrary &library) {
  size_t expected = 3 + countOperands(kernel);
  if (kernel.buffers != expected)
    return Status(StatusCode::InvalidArgument, fmt::format("kernel '{}': expected a convolution of {} buffers, but got "
                                                           "{}",
                                                           kernel.name, expected, kernel.buffers));
  return std::unique_ptr<LibraryKernel>(std::make_unique<ConvolutionKernel>(kernel, library));
}

} // namespace inlay::rt::host
