// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SequentialLibrary: the interface of a kernel library. It provides primitives for one shape that run on the calling
// thread. The runtime handles slices, threads, biases and post-ops. A plug-in exports `inlayOpenHostLibrary`.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H

#include "inlay/Runtime/Core/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace inlay::rt::host {

/// C = A B, or C += A B. Sizes are at least 1. Strides count elements. C's columns are adjacent.
struct GemmShape {
  int64_t m = 1, n = 1, k = 1;
  int64_t aRow = 0, aColumn = 0; ///< Strides of A, which is [m, k].
  int64_t bRow = 0, bColumn = 0; ///< Strides of B, which is [k, n].
  int64_t cRow = 0;
  bool accumulates = false;
  bool packsB = false; ///< True if B is the same at each run and is passed in the form that `pack` wrote.
};

/// A matrix product. Thread-safe if the threads write different bytes.
class Gemm {
public:
  virtual ~Gemm() = default;

  /// Returns an identifier of the layout of packed B. Primitives with the same identifier can share packed matrices.
  virtual std::string packFormat() const = 0;
  /// Returns the bytes of packed B. Its storage must be aligned to 64 bytes.
  virtual size_t packedBytes() const = 0;
  /// Packs `b`, which has the strides of the shape.
  virtual Status pack(const float *b, void *packed) const = 0;
  /// Computes the product. `b` is packed if the shape says so.
  virtual Status run(const float *a, const void *b, float *c) const = 0;
};

/// One spatial dim of a convolution. Dilation 1 means no gaps. A negative padding behind counts input elements that no
/// window reads.
struct WindowDim {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, paddingFront = 0;

  int64_t paddingBehind() const { return (output - 1) * stride + (kernel - 1) * dilation + 1 - input - paddingFront; }
};

/// Y = X * W for one image or for a slice of its outermost spatial dim. X is [spatial..., groups * inputs], Y is
/// [spatial..., groups * outputs], W is [groups * outputs, inputs, kernel...]. All are contiguous. No size is 0.
struct ConvolutionShape {
  int64_t groups = 1, inputs = 1, outputs = 1; ///< Channels are counted per group.
  int64_t dims = 2;
  std::array<WindowDim, 3> window; ///< Only the first `dims` are used.
};

/// A convolution. Its functions are those of `Gemm`; weights are always passed in the form that `pack` wrote.
class ConvolutionPrimitive {
public:
  virtual ~ConvolutionPrimitive() = default;
  virtual std::string packFormat() const = 0;
  virtual size_t packedBytes() const = 0;
  virtual Status pack(const float *weights, void *packed) const = 0;
  virtual Status run(const float *x, const void *weights, float *y) const = 0;
};

/// A library. It creates primitives, or returns null for a shape that it does not support well.
class SequentialLibrary {
public:
  virtual ~SequentialLibrary() = default;
  virtual std::string describe() const = 0;
  virtual StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape) = 0;
  virtual StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape) = 0;
};

/// Version of this header. Every change of the header must change it, because a plug-in and the runtime must be built
/// from the same header.
constexpr uint32_t kHostLibraryVersion = 1;
constexpr const char *kHostLibraryEntry = "inlayOpenHostLibrary";

/// A plug-in's entry point. Returns its library, which lives as long as the process, or null for another version.
using OpenHostLibrary = SequentialLibrary *(*)(uint32_t version);

/// Returns the built-in library, which supports all shapes.
SequentialLibrary &portableLibrary();

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_SEQUENTIALLIBRARY_H
