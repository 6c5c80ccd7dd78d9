// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by oneDNN.

#include "Convolution.h"
#include "Primitive.h"

#include <algorithm>

namespace inlay::rt::host::onednn {

namespace {
class OneDnnConvolution : public ConvolutionPrimitive {
public:
  std::string packFormat() const override { return toBytes(weights_); }
  size_t packedBytes() const override { return dnnl_memory_desc_get_size(&weights_); }

  Status pack(const float *weights, void *packed) const override {
    auto reorder = Primitive::makeReorder(plainWeights_, weights_);
    if (!reorder.isOk())
      return reorder.status();
    const Argument arguments[] = {{DNNL_ARG_FROM, &plainWeights_, weights}, {DNNL_ARG_TO, &weights_, packed}};
    return (*reorder)->run(arguments, 2);
  }

  Status run(const float *x, const void *weights, float *y) const override {
    const Argument arguments[] = {
        {DNNL_ARG_SRC, &source_, x}, {DNNL_ARG_WEIGHTS, &weights_, weights}, {DNNL_ARG_DST, &destination_, y}};
    return primitive_->run(arguments, 3);
  }

  dnnl_memory_desc_t source_{}, plainWeights_{}, weights_{}, destination_{};
  std::unique_ptr<Primitive> primitive_;
};

/// A shape in oneDNN's form.
struct Dims {
  dnnl_dims_t source{}, weights{}, destination{}, strides{}, dilations{}, front{}, behind{};
  int rank, weightsRank;

  explicit Dims(const ConvolutionShape &shape) : rank(static_cast<int>(shape.dims) + 2), weightsRank(rank) {
    int next = 0;
    if (shape.groups > 1) {
      weights[next++] = shape.groups;
      ++weightsRank;
    }
    weights[next++] = shape.outputs;
    weights[next++] = shape.inputs;
    source[0] = destination[0] = 1;
    source[1] = shape.groups * shape.inputs;
    destination[1] = shape.groups * shape.outputs;
    for (int i = 0; i < shape.dims; ++i) {
      const WindowDim &dim = shape.window[static_cast<size_t>(i)];
      source[i + 2] = dim.input;
      destination[i + 2] = dim.output;
      weights[next++] = dim.kernel;
      strides[i] = dim.stride;
      dilations[i] = dim.dilation - 1;
      front[i] = dim.paddingFront;
      behind[i] = std::max<int64_t>(dim.paddingBehind(), 0);
    }
  }
};
} // namespace

/// Returns true if oneDNN derives the same size of the result as the given one.
static bool isAsDerived(const ConvolutionShape &shape) {
  for (int64_t i = 0; i < shape.dims; ++i) {
    const WindowDim &dim = shape.window[static_cast<size_t>(i)];
    int64_t reach = dim.input + dim.paddingFront + std::max<int64_t>(dim.paddingBehind(), 0) -
                    ((dim.kernel - 1) * dim.dilation + 1);
    if (reach < 0 || reach / dim.stride + 1 != dim.output)
      return false;
  }
  return true;
}

static bool describe(OneDnnConvolution &convolution, const ConvolutionShape &shape, dnnl_memory_desc_t &any) {
  constexpr dnnl_format_tag_t kLast[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
  constexpr dnnl_format_tag_t kWeights[] = {dnnl_oiw, dnnl_oihw, dnnl_oidhw};
  constexpr dnnl_format_tag_t kGroups[] = {dnnl_goiw, dnnl_goihw, dnnl_goidhw};
  Dims dims(shape);
  size_t index = static_cast<size_t>(shape.dims) - 1;
  dnnl_format_tag_t weights = shape.groups > 1 ? kGroups[index] : kWeights[index];
  return dnnl_memory_desc_init_by_tag(&convolution.source_, dims.rank, dims.source, dnnl_f32, kLast[index]) ==
             dnnl_success &&
         dnnl_memory_desc_init_by_tag(&convolution.destination_, dims.rank, dims.destination, dnnl_f32, kLast[index]) ==
             dnnl_success &&
         dnnl_memory_desc_init_by_tag(&convolution.plainWeights_, dims.weightsRank, dims.weights, dnnl_f32, weights) ==
             dnnl_success &&
         dnnl_memory_desc_init_by_tag(&any, dims.weightsRank, dims.weights, dnnl_f32, dnnl_format_tag_any) ==
             dnnl_success;
}

StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape) {
  auto convolution = std::make_shared<OneDnnConvolution>();
  dnnl_memory_desc_t any{};
  if (!isAsDerived(shape) || !describe(*convolution, shape, any))
    return std::shared_ptr<ConvolutionPrimitive>();
  Dims dims(shape);
  dnnl_convolution_desc_t op{};
  if (dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct,
                                                 &convolution->source_, &any, nullptr, &convolution->destination_,
                                                 dims.strides, dims.dilations, dims.front, dims.behind) != dnnl_success)
    return std::shared_ptr<ConvolutionPrimitive>();
  auto primitive = Primitive::make(&op, makeAttributes(/*accumulates=*/false));
  if (!primitive.isOk())
    return primitive.status();
  if (!*primitive)
    return std::shared_ptr<ConvolutionPrimitive>();
  convolution->primitive_ = std::move(*primitive);
  convolution->weights_ = *convolution->primitive_->desc(dnnl_query_weights_md);
  return std::shared_ptr<ConvolutionPrimitive>(std::move(convolution));
}

} // namespace inlay::rt::host::onednn
