// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the kernel of one host function from the plan dialect. PlanFromIR.cpp converts everything else.

#include "HostKernelsFromIR.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;

// The enums of the dialect and of the runtime have the same order.
static_assert(static_cast<int>(plan::HostKernelKind::integer_product) ==
              static_cast<int>(rt::HostKernelKind::IntegerProduct));
static_assert(static_cast<int>(plan::PostOpKind::mul_channels) == static_cast<int>(rt::PostOpKind::MulChannels));

static rt::PostOp convertPostOp(plan::PostOpAttr attr) {
  rt::PostOp postOp{static_cast<rt::PostOpKind>(attr.getKind()), 0, 0};
  if (attr.getLow()) {
    postOp.low = static_cast<float>(attr.getLow().getValueAsDouble());
    postOp.high = static_cast<float>(attr.getHigh().getValueAsDouble());
  }
  return postOp;
}

rt::HostKernel inlay::convertHostKernel(plan::HostKernelAttr attr) {
  rt::HostKernel kernel;
  kernel.name = attr.getName().str();
  // The name is the list of calls joined with commas.
  for (StringRef name = attr.getName(); !name.empty();) {
    auto [call, rest] = name.split(", ");
    kernel.calls.push_back(call.str());
    name = rest;
  }
  kernel.kind = static_cast<rt::HostKernelKind>(attr.getKind());
  kernel.buffers = static_cast<uint32_t>(attr.getBuffers());
  kernel.loops = static_cast<uint32_t>(attr.getLoops());
  kernel.constants.assign(attr.getConstants().begin(), attr.getConstants().end());
  llvm::append_range(kernel.postOps, llvm::map_range(attr.getPostOps(), convertPostOp));
  DictionaryAttr config = attr.getConfig();
  if (!config)
    return kernel;
  kernel.hasBias = config.contains("bias");
  kernel.accumulates = config.contains("accumulate");
  kernel.channelsLast = config.contains("channels_last");
  kernel.isCausal = config.contains("causal");
  if (auto mask = config.getAs<StringAttr>("mask"))
    kernel.mask = mask == "added" ? rt::MaskKind::Added : rt::MaskKind::Selected;
  if (auto scale = config.getAs<FloatAttr>("scale"))
    kernel.scale = scale.getValueAsDouble();
  return kernel;
}
