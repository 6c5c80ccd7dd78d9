// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in kernel library as an object: its products are in PortableGemm.cpp and its convolutions in
// PortableConvolution.cpp.

#include "PortableConvolution.h"
#include "PortableGemm.h"
#include "inlay/Runtime/Core/LazyStatic.h"

namespace inlay::rt::host {

namespace {
class PortableLibrary : public SequentialLibrary {
public:
  std::string describe() const override { return "built-in kernels"; }
  StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape) override { return makePortableGemm(shape); }
  StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape) override {
    return makePortableConvolution(shape);
  }
};
} // namespace

SequentialLibrary &portableLibrary() {
  static LazyStatic<PortableLibrary> library;
  return library.get();
}

} // namespace inlay::rt::host
