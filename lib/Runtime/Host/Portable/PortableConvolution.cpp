// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in convolutions. The windows of a row of results become the rows of a matrix (im2col), which is multiplied by
// the weights of a group. A depthwise convolution sums its taps with channels side by side.

#include "PortableConvolution.h"
#include "PortableGemm.h"
#include "Runtime/Host/Support/Memory.h"
#include "Simd.h"

#include <algorithm>

namespace inlay::rt::host {

namespace {
/// The results of all channels at one position: y[c] = sum over taps of x[offset of the tap + c] w[tap][c].
struct DepthwisePixel {
  const float *x;
  const int64_t *offsets; ///< Negative for padding.
  int64_t taps;
  const float *weights;
  float *y;
  int64_t channels;
};

class PortableConvolution : public ConvolutionPrimitive {
public:
  explicit PortableConvolution(const ConvolutionShape &shape);

  std::string packFormat() const override;
  size_t packedBytes() const override;
  Status pack(const float *weights, void *packed) const override;
  Status run(const float *x, const void *weights, float *y) const override;

private:
  void findTaps(int64_t place, int64_t *offsets) const;
  void fillRow(const float *x, const int64_t *offsets, int64_t group, float *row) const;

  ConvolutionShape shape_;
  int64_t taps_ = 1, places_ = 1, rowPlaces_ = 1;
  bool isDepthwise_;
  std::shared_ptr<Gemm> gemm_;     ///< Product of a row of positions.
  std::shared_ptr<Gemm> tailGemm_; ///< Product of the last positions, if they are fewer.
};
} // namespace

static INLAY_INLINE void convolvePixelBody(const DepthwisePixel &pixel) {
  std::fill_n(pixel.y, pixel.channels, 0.0f);
  for (int64_t tap = 0; tap < pixel.taps; ++tap) {
    if (pixel.offsets[tap] < 0)
      continue;
    const float *x = pixel.x + pixel.offsets[tap];
    const float *weights = pixel.weights + tap * pixel.channels;
    for (int64_t channel = 0; channel < pixel.channels; ++channel)
      pixel.y[channel] += x[channel] * weights[channel];
  }
}

INLAY_MULTIVERSION(convolvePixel, (const DepthwisePixel &pixel), convolvePixelBody, (pixel))

PortableConvolution::PortableConvolution(const ConvolutionShape &shape)
    : shape_(shape), isDepthwise_(shape.inputs == 1 && shape.outputs == 1 && shape.groups > 1) {
  constexpr int64_t kMaxPlaces = 48;
  for (int64_t dim = 0; dim < shape.dims; ++dim) {
    taps_ *= shape.window[static_cast<size_t>(dim)].kernel;
    places_ *= shape.window[static_cast<size_t>(dim)].output;
  }
  rowPlaces_ = std::min(places_, kMaxPlaces);
  GemmShape gemm{rowPlaces_, shape.outputs, taps_ * shape.inputs};
  gemm.aRow = gemm.k;
  gemm.aColumn = gemm.bRow = 1;
  gemm.bColumn = gemm.k;
  gemm.cRow = shape.groups * shape.outputs;
  gemm.packsB = true;
  gemm_ = makePortableGemm(gemm);
  gemm.m = places_ % rowPlaces_;
  tailGemm_ = makePortableGemm(gemm);
}

std::string PortableConvolution::packFormat() const {
  return (isDepthwise_ ? "taps" : "windows") + gemm_->packFormat();
}

size_t PortableConvolution::packedBytes() const {
  return isDepthwise_ ? static_cast<size_t>(taps_ * shape_.groups) * sizeof(float)
                      : gemm_->packedBytes() * static_cast<size_t>(shape_.groups);
}

Status PortableConvolution::pack(const float *weights, void *packed) const {
  if (isDepthwise_) {
    for (int64_t group = 0; group < shape_.groups; ++group)
      for (int64_t tap = 0; tap < taps_; ++tap)
        static_cast<float *>(packed)[tap * shape_.groups + group] = weights[group * taps_ + tap];
    return Status::ok();
  }
  for (int64_t group = 0; group < shape_.groups; ++group)
    INLAY_RETURN_IF_ERROR(gemm_->pack(weights + group * shape_.outputs * shape_.inputs * taps_,
                                      static_cast<char *>(packed) + group * gemm_->packedBytes()));
  return Status::ok();
}

/// Computes the offset in X that each tap of the window at `place` reads; -1 for padding.
void PortableConvolution::findTaps(int64_t place, int64_t *offsets) const {
  std::array<int64_t, 3> at{};
  for (int64_t dim = shape_.dims - 1; dim >= 0; --dim) {
    const WindowDim &window = shape_.window[static_cast<size_t>(dim)];
    at[static_cast<size_t>(dim)] = place % window.output * window.stride - window.paddingFront;
    place /= window.output;
  }
  for (int64_t tap = 0; tap < taps_; ++tap) {
    int64_t rest = tap, offset = 0, pitch = shape_.groups * shape_.inputs;
    bool isInside = true;
    for (int64_t dim = shape_.dims - 1; dim >= 0; --dim) {
      const WindowDim &window = shape_.window[static_cast<size_t>(dim)];
      int64_t index = at[static_cast<size_t>(dim)] + rest % window.kernel * window.dilation;
      rest /= window.kernel;
      isInside = isInside && index >= 0 && index < window.input;
      offset += index * pitch;
      pitch *= window.input;
    }
    offsets[tap] = isInside ? offset : -1;
  }
}

/// Fills a row of the matrix in the order of a group's weights: channels, then taps.
void PortableConvolution::fillRow(const float *x, const int64_t *offsets, int64_t group, float *row) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    const float *from = x + offsets[tap] + group * shape_.inputs;
    for (int64_t channel = 0; channel < shape_.inputs; ++channel)
      row[channel * taps_ + tap] = offsets[tap] < 0 ? 0.0f : from[channel];
  }
}

Status PortableConvolution::run(const float *x, const void *weights, float *y) const {
  static Scratch scratch;
  size_t rowBytes = static_cast<size_t>(taps_ * shape_.inputs) * sizeof(float);
  size_t offsetBytes = static_cast<size_t>(rowPlaces_ * taps_) * sizeof(int64_t);
  char *memory = static_cast<char *>(scratch.reserve(offsetBytes + static_cast<size_t>(rowPlaces_) * rowBytes));
  if (!memory)
    return {StatusCode::ResourceExhausted, "no memory for the windows of a convolution"};
  auto *offsets = reinterpret_cast<int64_t *>(memory);
  auto *matrix = reinterpret_cast<float *>(memory + offsetBytes);
  int64_t channels = shape_.groups * shape_.outputs;
  for (int64_t first = 0; first < places_; first += rowPlaces_) {
    int64_t count = std::min(rowPlaces_, places_ - first);
    for (int64_t i = 0; i < count; ++i)
      findTaps(first + i, offsets + i * taps_);
    for (int64_t i = 0; i < count && isDepthwise_; ++i)
      convolvePixel(
          {x, offsets + i * taps_, taps_, static_cast<const float *>(weights), y + (first + i) * channels, channels});
    for (int64_t group = 0; group < shape_.groups && !isDepthwise_; ++group) {
      for (int64_t i = 0; i < count; ++i)
        fillRow(x, offsets + i * taps_, group, matrix + i * taps_ * shape_.inputs);
      const Gemm &gemm = count == rowPlaces_ ? *gemm_ : *tailGemm_;
      INLAY_RETURN_IF_ERROR(gemm.run(matrix, static_cast<const char *>(weights) + group * gemm_->packedBytes(),
                                     y + first * channels + group * shape_.outputs));
    }
  }
  return Status::ok();
}

std::shared_ptr<ConvolutionPrimitive> makePortableConvolution(const ConvolutionShape &shape) {
  return std::make_shared<PortableConvolution>(shape);
}

} // namespace inlay::rt::host
