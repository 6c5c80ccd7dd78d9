// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plug-in's entry point. The plug-in is a separate library, so that the runtime works where oneDNN is not
// installed.

#include "Convolution.h"
#include "Gemm.h"
#include "Primitive.h"

namespace inlay::rt::host::onednn {

namespace {
class Library : public SequentialLibrary {
public:
  std::string describe() const override {
    const dnnl_version_t *version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }
  StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape) override { return onednn::makeGemm(shape); }
  StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape) override {
    return onednn::makeConvolution(shape);
  }
};

Library library;
} // namespace

} // namespace inlay::rt::host::onednn

extern "C" __attribute__((visibility("default"))) inlay::rt::host::SequentialLibrary *
inlayOpenHostLibrary(uint32_t version) {
  using namespace inlay::rt::host;
  if (version != kHostLibraryVersion || !onednn::open())
    return nullptr;
  return &onednn::library;
}
