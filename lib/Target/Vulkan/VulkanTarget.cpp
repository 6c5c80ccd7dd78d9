// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the target interface for Vulkan: the stages from linalg to an engine, and the options that they get for
// a device. The passes are in GPU/, and kernels become SPIR-V in SPIRV/KernelToSPIRV.cpp.

#include "inlay/Target/Vulkan/VulkanTarget.h"
#include "Target/Vulkan/GPU/OrderWeights.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Convert/SegmentConversion.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Target/Vulkan/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace inlay;

/// Bytes of workgroup memory that a kernel may use. With more, few workgroups could run at the same time.
static constexpr int64_t kMaxWorkgroupMemory = 32768;

/// Returns the options for kernels of row groups. Software runs the invocations of a subgroup in lockstep and pays for
/// each switch between subgroups at a barrier. GPUs need many subgroups to be busy, so each row has a workgroup.
/// `chooseLaunches` sets the number of invocations per workgroup of all other kernels.
static FormWorkgroupKernelsPassOptions chooseWorkgroups(VulkanAttr target) {
  FormWorkgroupKernelsPassOptions options;
  bool isSoftware = target.getDeviceKind() == DeviceKind::SoftwareVulkan;
  int64_t wanted = isSoftware ? std::max<int64_t>(target.getSubgroupSize(), 8) : 256;
  options.block = llvm::bit_floor<uint64_t>(std::min(wanted, target.getMaxWorkgroupInvocations()));
  options.maxGrid = target.getMaxWorkgroupCount();
  options.memory = std::min(target.getMaxWorkgroupMemory(), kMaxWorkgroupMemory);
  options.maxBuffers = target.getMaxStorageBuffers();
  options.wholeRows = isSoftware;
  options.singleRows = !isSoftware;
  return options;
}

/// Returns true if whole subgroups compute products. They read vectors of channels.
static bool computesBySubgroups(VulkanAttr target) {
  return target.hasFeature("subgroup-broadcast") && target.getSubgroupSize() > 1;
}

/// Returns the options for kernels of single ops, such as the number of invocations per workgroup. `chooseWorkgroups`
/// sets those of row groups.
static LinalgToGPUPassOptions chooseLaunches(VulkanAttr target) {
  LinalgToGPUPassOptions options;
  options.block = std::min<int64_t>(64, target.getMaxWorkgroupInvocations());
  options.maxGrid = target.getMaxWorkgroupCount();
  options.subgroup = target.hasFeature("subgroup-broadcast") ? target.getSubgroupSize() : 0;
  options.arithmetic = target.hasFeature("subgroup-arithmetic");
  options.inSoftware = target.getDeviceKind() == DeviceKind::SoftwareVulkan;
  options.texels = target.hasFeature("texel-reads");
  if (target.getTuning())
    llvm::raw_string_ostream(options.tuning) << target.getTuning();
  if (target.hasFeature("float16"))
    for (const MatrixShape &shape : target.getMatrixShapes())
      options.matrices.push_back(formatMatrixShape(shape));
  options.invocations = target.getMaxWorkgroupInvocations();
  options.memory = std::min(target.getMaxWorkgroupMemory(), kMaxWorkgroupMemory);
  options.maxBuffers = target.getMaxStorageBuffers();
  return options;
}

/// Returns the facts by which dot products are planned. isPacked: true for products with packed weights.
static DotProductProfile findDotProducts(VulkanAttr target, bool isPacked) {
  LinalgToGPUPassOptions launches = chooseLaunches(target);
  auto profile = launches.inSoftware
                     ? SubgroupProductProfile::forSoftware(launches.subgroup, launches.texels, launches.arithmetic)
                     : SubgroupProductProfile::forGPU(launches.subgroup, launches.arithmetic);
  return DotProductProfile::from(profile, launches.invocations, isPacked);
}

/// Converts linalg on tensors to a `plan.engine`.
static LogicalResult runStages(ModuleOp module, VulkanAttr target) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false); // The tests of each stage verify it. Here verification would take a third of the time.
  if (computesBySubgroups(target))
    pm.addNestedPass<func::FuncOp>(createChannelsLastPass({/*direct=*/true}));
  LinalgToGPUPassOptions options = chooseLaunches(target);
  SplitSumsPassOptions parts;
  parts.subgroup = options.subgroup;
  parts.arithmetic = options.arithmetic;
  parts.inSoftware = options.inSoftware;
  parts.texels = options.texels;
  parts.tuning = options.tuning;
  pm.addNestedPass<func::FuncOp>(createSplitSumsPass(parts));
  buildBufferizePipeline(pm);
  if (target.getRowKernels())
    pm.addNestedPass<func::FuncOp>(createFormWorkgroupKernelsPass(chooseWorkgroups(target)));
  pm.addNestedPass<func::FuncOp>(createHoistAllocationsPass());
  pm.addNestedPass<func::FuncOp>(createLinalgToGPUPass(options));
  pm.addPass(createGpuKernelOutliningPass()); // Must run before CSE, which would turn constants into launch parameters.
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  std::string attr;
  llvm::raw_string_ostream(attr) << target;
  pm.addPass(createGPUToEnginePass({attr}));
  return pm.run(module);
}

namespace {
struct VulkanTarget : TargetAttrInterface::ExternalModel<VulkanTarget, VulkanAttr> {
  StringRef getTargetName(Attribute) const { return "vulkan"; }
  bool canUpdateInPlace(Attribute) const { return true; }
  std::string getCostKey(Attribute attr) const {
    StringAttr kind = cast<VulkanAttr>(attr).getKind();
    return kind ? ("vulkan/" + kind.getValue()).str() : "vulkan";
  }
  TargetCosts getCosts(Attribute attr) const { return getDefaultCosts(cast<VulkanAttr>(attr).getDeviceKind()); }

  Verdict canRun(Attribute attr, Operation *op) const {
    if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
      return {ReasonCode::ControlFlow, "the host decides what runs on a device"};
    return tryConvert(op, [&](ModuleOp module) { return runStages(module, cast<VulkanAttr>(attr)); });
  }

  LogicalResult convertSegment(Attribute attr, func::FuncOp segment) const {
    auto target = cast<VulkanAttr>(attr);
    Preparation prepare;
    if (computesBySubgroups(target))
      prepare = [&](func::FuncOp function) {
        orderWeights(function, findDotProducts(target, /*isPacked=*/false));
        orderPackedWeights(function, findDotProducts(target, /*isPacked=*/true));
      };
    auto module = convertAlone(segment, [&](ModuleOp scratch) { return runStages(scratch, target); }, prepare);
    if (failed(module))
      return failure();
    OpBuilder builder(segment);
    for (auto engine : (*module)->getOps<plan::EngineOp>())
      builder.clone(*engine);
    segment.erase();
    return success();
  }
};
} // namespace

void inlay::registerVulkanTarget(DialectRegistry &registry) {
  registerGraphToLinalgDialects(registry);
  registerBufferizeDialects(registry);
  registry.addExtension(+[](MLIRContext *context, InlayDialect *dialect) {
    VulkanAttr::attachInterface<VulkanTarget>(*context);
    dialect->addDefaultTarget(/*rank=*/0, parseAttribute("#inlay.vulkan", context));
    loadBufferizeDialects(*context);
    context->loadDialect<DLTIDialect, gpu::GPUDialect, plan::PlanDialect, spirv::SPIRVDialect, vector::VectorDialect>();
  });
}
