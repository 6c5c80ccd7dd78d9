// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a convolution's sizes, and cuts it into slices of rows. Convolution.cpp runs the slices, and
// Portable/PortableConvolution.cpp or OneDnn/Convolution.cpp does the arithmetic.

#include "ConvolutionPlan.h"
#include "LibraryKernel.h"
#include "TaskSizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace inlay::rt::host {

/// Maximum bytes of a slice's rows of X and Y. They fit the second-level cache.
static constexpr int64_t kMaxSliceBytes = 1 << 20;

static Status checkDim(const HostKernel &kernel, const char *what, int64_t value, int64_t min) {
  constexpr int64_t kMaxSize = INT32_MAX; // libraries count in 32 bits
  if (value >= min && value <= kMaxSize)
    return Status::ok();
  return {StatusCode::InvalidArgument, fmt::format("kernel '{}': expected {} of a convolution from {} to {}, but got "
                                                   "{}",
                                                   kernel.name, what, min, kMaxSize, value)};
}

static Status checkProduct(const HostKernel &kernel, std::initializer_list<int64_t> factors,
                           const std::array<WindowDim, 3> &window, int64_t WindowDim::*size) {
  int64_t product = sizeof(float);
  bool isTooLarge = false;
  for (int64_t factor : factors)
    isTooLarge = __builtin_mul_overflow(product, factor, &product) || isTooLarge;
  for (const WindowDim &dim : window)
    isTooLarge = __builtin_mul_overflow(product, dim.*size, &product) || isTooLarge;
  if (!isTooLarge)
    return Status::ok();
  return {StatusCode::InvalidArgument,
          fmt::format("kernel '{}': expected the bytes of a buffer below 2^63", kernel.name)};
}

static Status readSizes(const HostKernel &kernel, const int64_t *sizes, ConvolutionPlan &plan) {
  ConvolutionShape &shape = plan.shape;
  plan.batch = sizes[0];
  shape.groups = sizes[1];
  shape.inputs = sizes[2];
  shape.outputs = sizes[3];
  shape.dims = sizes[4];
  INLAY_RETURN_IF_ERROR(checkDim(kernel, "the batch", plan.batch, 0));
  INLAY_RETURN_IF_ERROR(checkDim(kernel, "the groups", shape.groups, 1));
  INLAY_RETURN_IF_ERROR(checkDim(kernel, "the input channels", shape.inputs, 0));
  INLAY_RETURN_IF_ERROR(checkDim(kernel, "the output channels", shape.outputs, 0));
  for (int64_t i = 0; i < shape.dims; ++i) {
    const int64_t *dim = sizes + countConvolutionSizes(i);
    shape.window[static_cast<size_t>(i)] = {dim[0], dim[1], dim[2], dim[3], dim[4], dim[5]};
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "an input size", dim[0], 0));
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "an output size", dim[1], 0));
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "a kernel size", dim[2], 1));
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "a stride", dim[3], 1));
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "a dilation", dim[4], 1));
    INLAY_RETURN_IF_ERROR(checkDim(kernel, "a padding", dim[5], 0));
  }
  INLAY_RETURN_IF_ERROR(
      checkProduct(kernel, {plan.batch, shape.groups, shape.inputs}, shape.window, &WindowDim::input));
  INLAY_RETURN_IF_ERROR(
      checkProduct(kernel, {plan.batch, shape.groups, shape.outputs}, shape.window, &WindowDim::output));
  return checkProduct(kernel, {shape.groups, shape.inputs, shape.outputs}, shape.window, &WindowDim::kernel);
}

/// Returns the slice of `rows` rows of the result from `begin` on, with the rows of X that they need.
static RowSlice sliceRows(const WindowDim &dim, int64_t begin, int64_t rows) {
  RowSlice slice;
  slice.outputBegin = begin;
  slice.outputRows = rows;
  int64_t first = begin * dim.stride - dim.paddingFront;
  int64_t end = (begin + rows - 1) * dim.stride + (dim.kernel - 1) * dim.dilation + 1 - dim.paddingFront;
  slice.inputBegin = std::clamp<int64_t>(first, 0, dim.input);
  slice.inputRows = std::clamp<int64_t>(end, 0, dim.input) - slice.inputBegin;
  return slice;
}

static bool isSameWindow(const WindowDim &x, const WindowDim &y) {
  return x.input == y.input && x.output == y.output && x.paddingFront == y.paddingFront;
}

/// Sets the primitive of a slice. Slices of the same shape share one.
static Status findPrimitive(ConvolutionPlan &plan, RowSlice &slice, SequentialLibrary &library) {
  ConvolutionShape shape = plan.shape;
  WindowDim &rows = shape.window[0];
  rows.paddingFront = slice.inputBegin - (slice.outputBegin * rows.stride - rows.paddingFront);
  rows.input = slice.inputRows;
  rows.output = slice.outputRows;
  for (slice.primitive = 0; slice.primitive < plan.sliceShapes.size(); ++slice.primitive)
    if (isSameWindow(plan.sliceShapes[slice.primitive].window[0], rows))
      return Status::ok();
  StatusOr<std::shared_ptr<ConvolutionPrimitive>> made = makeConvolutionPrimitive(library, shape);
  if (!made.isOk())
    return made.status();
  plan.sliceShapes.push_back(shape);
  plan.primitives.push_back(std::move(*made));
  size_t first = 0;
  while (plan.primitives[first]->packFormat() != plan.primitives.back()->packFormat())
    ++first;
  plan.layouts.push_back(first);
  if (first + 1 == plan.primitives.size())
    plan.packedLayout += plan.primitives.back()->packFormat();
  else
    plan.packedLayout += fmt::format("={}", first);
  return Status::ok();
}

static int64_t chooseRows(const ConvolutionPlan &plan, double work, int64_t threads) {
  const WindowDim &dim = plan.shape.window[0];
  int64_t perRow = 4 * (plan.outputRow * plan.outputChannels() + dim.stride * plan.inputRow * plan.inputChannels());
  int64_t rows = std::clamp<int64_t>(kMaxSliceBytes / std::max<int64_t>(perRow, 1), 1, dim.output);
  double tasks = std::min(static_cast<double>(threads * kTasksPerThread), work / (4 * kMinWork));
  double slices = std::clamp(tasks / static_cast<double>(plan.batch), 1.0, static_cast<double>(dim.output));
  int64_t rowsForTasks = static_cast<int64_t>(std::ceil(static_cast<double>(dim.output) / std::floor(slices)));
  return std::max<int64_t>(1, std::min(rows, rowsForTasks));
}

Status ConvolutionPlan::pack(const float *weights, Packed &packed) const {
  packed.resize(primitives.size());
  for (size_t i = 0; i < primitives.size(); ++i) {
    if (layouts[i] != i)
      continue;
    packed[i] = allocate(primitives[i]->packedBytes());
    if (!packed[i])
      return {StatusCode::ResourceExhausted, "no memory for packed weights"};
    INLAY_RETURN_IF_ERROR(primitives[i]->pack(weights, packed[i].get()));
  }
  return Status::ok();
}

StatusOr<std::shared_ptr<const ConvolutionPlan>> planConvolution(const HostKernel &kernel, const int64_t *sizes,
                                                                 int64_t threads, SequentialLibrary &library) {
  auto plan = std::make_shared<ConvolutionPlan>();
  INLAY_RETURN_IF_ERROR(readSizes(kernel, sizes, *plan));
  const ConvolutionShape &shape = plan->shape;
  double work = static_cast<double>(plan->batch * plan->outputChannels()) * static_cast<double>(shape.inputs);
  bool readsNothing = shape.inputs == 0;
  for (int64_t i = 0; i < shape.dims; ++i) {
    const WindowDim &dim = shape.window[static_cast<size_t>(i)];
    work *= static_cast<double>(dim.output) * static_cast<double>(dim.kernel);
    readsNothing = readsNothing || dim.input == 0;
    plan->inputRow *= i > 0 ? dim.input : 1;
    plan->outputRow *= i > 0 ? dim.output : 1;
    plan->isEmpty = plan->isEmpty || dim.output == 0;
  }
  plan->isEmpty = plan->isEmpty || plan->batch == 0 || shape.outputs == 0;
  if (plan->isEmpty)
    return std::shared_ptr<const ConvolutionPlan>(std::move(plan));
  int64_t rows = chooseRows(*plan, work, threads);
  for (int64_t begin = 0; begin < shape.window[0].output; begin += rows) {
    RowSlice slice = sliceRows(shape.window[0], begin, std::min(rows, shape.window[0].output - begin));
    if (readsNothing)
      slice.inputRows = 0;
    if (slice.inputRows > 0)
      INLAY_RETURN_IF_ERROR(findPrimitive(*plan, slice, library));
    plan->slices.push_back(slice);
  }
  double perTask = work / static_cast<double>(plan->batch) / static_cast<double>(plan->slices.size());
  plan->chunk = std::max<int64_t>(1, static_cast<int64_t>(kMinWork / std::max(perTask, 1.0)));
  return std::shared_ptr<const ConvolutionPlan>(std::move(plan));
}

} // namespace inlay::rt::host
