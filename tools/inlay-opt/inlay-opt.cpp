// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-opt: every upstream dialect and pass plus Inlay's.

#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Import/Passes.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Shape/Passes.h"
#include "inlay/Stitch/Passes.h"
#include "inlay/Target/Host/HostTarget.h"
#include "inlay/Target/Torch/TorchTarget.h"
#include "inlay/Target/Vulkan/VulkanTarget.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<inlay::InlayDialect, inlay::plan::PlanDialect>();
  inlay::registerHostTarget(registry);
  inlay::registerTorchTarget(registry);
  inlay::registerVulkanTarget(registry);
  inlay::registerInlayImportPasses();
  inlay::registerInlayConvertPasses();
  inlay::registerPartitionPasses();
  inlay::registerInlayShapePasses();
  inlay::registerInlayStitchPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Inlay optimizer driver\n", registry));
}
