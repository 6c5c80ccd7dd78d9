// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers all dialects, targets, passes and interface models for embedders and tools.

#include "inlay/Pipeline/InitAll.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Import/Passes.h"
#include "inlay/Partition/Partitioning.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Rewrite/Passes.h"
#include "inlay/Shape/Passes.h"
#include "inlay/Stitch/Passes.h"
#include "inlay/Target/Host/HostTarget.h"
#include "inlay/Target/Host/Passes.h"
#include "inlay/Target/Torch/TorchTarget.h"
#include "inlay/Target/Vulkan/Passes.h"
#include "inlay/Target/Vulkan/VulkanTarget.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

void inlay::registerAll(mlir::DialectRegistry &registry) {
  registerPartitionDialects(registry);
  registry.insert<plan::PlanDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  registerHostTarget(registry);
  registerTorchTarget(registry);
  registerVulkanTarget(registry);
}

void inlay::registerAllPasses() {
  registerInlayImportPasses();
  registerInlayRewritePasses();
  registerPartitionPasses();
  registerInlayShapePasses();
  registerInlayConvertPasses();
  registerInlayHostPasses();
  registerInlayVulkanPasses();
  registerInlayStitchPasses();
}
