// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a library of kernels has to offer: primitives for one shape that run on the thread that calls them. Slices, the
// pool, biases and post-ops are ours. A plug-in exports `inlayOpenHostLibrary`.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H

#include "inlay/Runtime/Core/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace inlay::rt::host {

/// C = A B, or C += A B. Sizes are at least 1, strides count elements; C's columns are adjacent.
struct GemmShape {
  int64_t m = 1, n = 1, k = 1;
  int64_t aRow = 0, aColumn = 0; ///< A is [m, k]
  int64_t bRow = 0, bColumn = 0; ///< B is [k, n]
  int64_t cRow = 0;
  bool accumulates = false;
  bool packsB = false; ///< B holds the same at each run and is passed as `pack` left it
};

/// Safe from several threads, as long as they write different bytes.
class Gemm {
public:
  virtual ~Gemm() = default;

  /// Tells layouts of packed B apart: what one of two primitives packed, the other can use, if this is the same.
  virtual std::string packFormat() const = 0;
  /// Bytes of packed B; its storage is aligned to 64 bytes.
  virtual size_t packedBytes() const = 0;
  /// `b` is as the shape says.
  virtual Status pack(const float *b, void *packed) const = 0;
  /// `b` is packed if the shape says so.
  virtual Status run(const float *a, const void *b, float *c) const = 0;
};

/// One spatial dim of a convolution. Dilation 1 has no gaps. The padding behind may be negative: then it is what no
/// window reads.
struct WindowDim {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, paddingFront = 0;

  int64_t paddingBehind() const { return (output - 1) * stride + (kernel - 1) * dilation + 1 - input - paddingFront; }
};

/// Y = X * W of one image, or a slice of its outermost spatial dim. X is [spatial..., groups * inputs], Y [spatial...,
/// groups * outputs], W [groups * outputs, inputs, kernel...], all without gaps. No size is 0.
struct ConvolutionShape {
  int64_t groups = 1, inputs = 1, outputs = 1; ///< channels are those of a group
  int64_t dims = 2;
  std::array<WindowDim, 3> window; ///< the leading `dims` count
};

/// As `Gemm`; weights are always passed as `pack` left them.
class ConvolutionPrimitive {
public:
  virtual ~ConvolutionPrimitive() = default;
  virtual std::string packFormat() const = 0;
  virtual size_t packedBytes() const = 0;
  virtual Status pack(const float *weights, void *packed) const = 0;
  virtual Status run(const float *x, const void *weights, float *y) const = 0;
};

/// Primitives are made for a shape; null for a shape that the library has nothing good for.
class SequentialLibrary {
public:
  virtual ~SequentialLibrary() = default;
  virtual std::string describe() const = 0;
  virtual StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape) = 0;
  virtual StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape) = 0;
};

/// Changes with every change of this header: a plug-in and what loads it are built from the same one.
constexpr uint32_t kHostLibraryVersion = 1;
constexpr const char *kHostLibraryEntry = "inlayOpenHostLibrary";

/// A plug-in's entry: its library, which lives as long as the process, or null for another version.
using OpenHostLibrary = SequentialLibrary *(*)(uint32_t version);

/// Code of our own, which takes every shape.
SequentialLibrary &portableLibrary();

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H
