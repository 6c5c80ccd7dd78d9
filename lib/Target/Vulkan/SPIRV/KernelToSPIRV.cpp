// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts one GPU kernel to SPIR-V words, in a separate module, so that launches elsewhere never see it change.

#include "KernelToSPIRV.h"
#include "CooperativeMatrixModules.h"
#include "EmulateTypes.h"
#include "GuardDomains.h"
#include "GuardPowers.h"
#include "LoopResults.h"
#include "RoundHalves.h"
#include "TexelBuffers.h"
#include "VectorBuffers.h"
#include "inlay/Convert/LoopNest/ExpandMath.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/ControlFlowToSPIRV/ControlFlowToSPIRV.h"
#include "mlir/Conversion/FuncToSPIRV/FuncToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/IndexToSPIRV/IndexToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/MemRefToSPIRV/MemRefToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "spirv-tools/libspirv.h"

using namespace mlir;
using namespace inlay;

//===-- The target's environment --------------------------------------------------------------------------------===//

namespace {
/// A device feature with the SPIR-V capabilities and extensions that it enables.
struct Feature {
  StringLiteral name;
  std::initializer_list<spirv::Capability> capabilities;
  std::initializer_list<spirv::Extension> extensions;
};
} // namespace

static ArrayRef<Feature> allFeatures() {
  using Cap = spirv::Capability;
  using Ext = spirv::Extension;
  static const Feature features[] = {
      {"float16", {Cap::Float16, Cap::StorageBuffer16BitAccess}, {Ext::SPV_KHR_16bit_storage}},
      {"float64", {Cap::Float64}, {}},
      {"int8", {Cap::Int8, Cap::StorageBuffer8BitAccess}, {Ext::SPV_KHR_8bit_storage}},
      {"int16", {Cap::Int16, Cap::StorageBuffer16BitAccess}, {Ext::SPV_KHR_16bit_storage}},
      {"int64", {Cap::Int64}, {}},
  };
  return features;
}

static constexpr StringLiteral kSubgroupFeature = "subgroup-broadcast", kArithmeticFeature = "subgroup-arithmetic",
                               kShuffleFeature = "subgroup-shuffle", kTexelFeature = "texel-reads";

/// Returns the environment of the target. `matrices` is true for a kernel that multiplies cooperative matrices.
static spirv::TargetEnvAttr getTargetEnv(VulkanAttr target, bool matrices) {
  MLIRContext *context = target.getContext();
  SmallVector<spirv::Capability> capabilities{spirv::Capability::Shader};
  SmallVector<spirv::Extension> extensions{spirv::Extension::SPV_KHR_storage_buffer_storage_class};
  for (const Feature &feature : allFeatures())
    if (target.hasFeature(feature.name)) {
      capabilities.append(feature.capabilities);
      extensions.append(feature.extensions);
    }
  if (target.hasFeature(kSubgroupFeature))
    capabilities.push_back(spirv::Capability::GroupNonUniformBallot);
  if (target.hasFeature(kArithmeticFeature))
    capabilities.push_back(spirv::Capability::GroupNonUniformArithmetic);
  if (target.hasFeature(kShuffleFeature))
    capabilities.push_back(spirv::Capability::GroupNonUniformShuffle);
  if (target.hasFeature(kTexelFeature))
    capabilities.push_back(spirv::Capability::SampledBuffer);
  if (matrices) {
    capabilities.append({spirv::Capability::CooperativeMatrixKHR, spirv::Capability::VulkanMemoryModel});
    extensions.append({spirv::Extension::SPV_KHR_cooperative_matrix, spirv::Extension::SPV_KHR_vulkan_memory_model});
  }
  // Vulkan 1.3 supports both versions.
  spirv::Version version = matrices ? spirv::Version::V_1_6 : spirv::Version::V_1_3;
  auto triple = spirv::VerCapExtAttr::get(version, capabilities, extensions, context);
  return spirv::TargetEnvAttr::get(triple, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan);
}

/// Returns true if the kernel multiplies cooperative matrices.
static bool multipliesMatrices(gpu::GPUFuncOp func) {
  return func.walk([](gpu::SubgroupMmaComputeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Size of a texel buffer, in elements, that every Vulkan device supports.
static constexpr int64_t kMinTexelElements = 65536;

/// Bytes of workgroup memory that every Vulkan device supports.
static constexpr int64_t kMinWorkgroupMemory = 16384;

/// Returns the bytes of workgroup memory that the variables of the module take.
static int64_t countWorkgroupMemory(spirv::ModuleOp module) {
  int64_t bytes = 0;
  for (auto variable : module.getOps<spirv::GlobalVariableOp>()) {
    auto type = cast<spirv::PointerType>(variable.getType());
    if (type.getStorageClass() == spirv::StorageClass::Workgroup)
      bytes += cast<spirv::SPIRVType>(type.getPointeeType()).getSizeInBytes().value_or(0);
  }
  return bytes;
}

/// Returns the number of elements of the largest texel buffer of the kernel.
static int64_t countTexels(ArrayRef<plan::BindingKind> kinds, ArrayRef<int64_t> elements) {
  int64_t maxTexels = 0;
  for (auto [kind, count] : llvm::zip_equal(kinds, elements))
    if (kind != plan::BindingKind::storage)
      maxTexels = std::max(maxTexels, kind == plan::BindingKind::vector_texels ? count / 4 : count);
  return maxTexels;
}

/// Returns the optional features whose capabilities `module` uses, and its other requirements that not every device
/// meets.
static SmallVector<std::string> getRequirements(spirv::ModuleOp module, VulkanAttr target) {
  SmallVector<std::string> names;
  std::optional<spirv::VerCapExtAttr> triple = module.getVceTriple();
  if (!triple)
    return names;
  auto used = triple->getCapabilities();
  for (const Feature &feature : allFeatures())
    if (llvm::is_contained(used, *feature.capabilities.begin()))
      names.push_back(feature.name.str());
  if (llvm::is_contained(used, spirv::Capability::StorageBuffer16BitAccess))
    names.push_back("storage16");
  if (llvm::is_contained(used, spirv::Capability::StorageBuffer8BitAccess))
    names.push_back("storage8");
  if (int64_t bytes = countWorkgroupMemory(module); bytes > kMinWorkgroupMemory)
    names.push_back("workgroup-memory=" + std::to_string(bytes));
  if (llvm::is_contained(used, spirv::Capability::GroupNonUniformArithmetic))
    names.push_back("subgroup-arithmetic");
  if (llvm::is_contained(used, spirv::Capability::GroupNonUniformBallot))
    names.push_back("subgroup-ballot");
  if (llvm::is_contained(used, spirv::Capability::GroupNonUniformShuffle))
    names.push_back("subgroup-shuffle");
  if (llvm::is_contained(used, spirv::Capability::GroupNonUniform))
    names.push_back("subgroup-size=" + std::to_string(target.getSubgroupSize()));
  for (const std::string &shape : listMatrixShapes(module))
    names.push_back("cooperative-matrix=" + shape);
  return names;
}

//===-- Conversion ----------------------------------------------------------------------------------------------===//

/// Returns true for a function of doubles that GLSL.std.450 defines, unlike most functions.
static bool isFunctionOfDoubles(Operation *op) {
  return isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp, math::RoundEvenOp, math::RsqrtOp,
             math::SqrtOp, math::TruncOp>(op);
}

/// Refuses types and functions that the SPIR-V conversion lacks or would emulate, unless `emulateTypes` replaces them.
static LogicalResult checkBody(gpu::GPUFuncOp func, VulkanAttr target) {
  auto feature = [&](Type type) -> std::optional<StringRef> {
    if (type.isF32() || type.isInteger(32) || type.isIndex() || type.isInteger(1) || isEmulated(type, target))
      return "";
    if (type.isF16())
      return "float16";
    if (type.isF64())
      return "float64";
    if (type.isInteger(8) || type.isInteger(16) || type.isInteger(64))
      return type.isInteger(8) ? "int8" : type.isInteger(16) ? "int16" : "int64";
    return std::nullopt;
  };
  auto check = [&](Location loc, Type type) -> LogicalResult {
    auto matrix = dyn_cast<gpu::MMAMatrixType>(type);
    // Buffers may have vectors as elements.
    Type element = matrix ? matrix.getElementType() : getElementTypeOrSelf(getElementTypeOrSelf(type));
    std::optional<StringRef> needed = feature(element);
    if (!needed)
      return emitError(loc) << "unsupported-type: vulkan has no " << element;
    if (!needed->empty() && !target.hasFeature(*needed))
      return emitError(loc) << "unsupported-type: " << element << " needs the device feature " << *needed;
    return success();
  };
  for (BlockArgument argument : func.getArguments())
    if (failed(check(func.getLoc(), argument.getType())))
      return failure();
  WalkResult walk = func.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      op->emitError("no-converter: vulkan can't call the library function '") << call.getCallee() << "'";
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes())
      if (failed(check(op->getLoc(), type)))
        return WalkResult::interrupt();
    if (isa<math::MathDialect>(op->getDialect()) && op->getResult(0).getType().isF64() && !isFunctionOfDoubles(op)) {
      op->emitError("unsupported-type: vulkan has no ") << op->getName() << " of f64";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Turns scalar arguments into 32-bit push constants and removes them from the signature.
static LogicalResult pushScalars(gpu::GPUFuncOp func) {
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  BitVector scalars(func.getNumArguments());
  for (BlockArgument argument : func.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      scalars.set(argument.getArgNumber());
  unsigned offset = 0;
  for (unsigned number : scalars.set_bits()) {
    BlockArgument argument = func.getArgument(number);
    if (!argument.getType().isIndex())
      return func.emitError("unsupported-type: expected scalar launch operands of type index, but got ")
             << argument.getType();
    Value value =
        spirv::getPushConstantValue(func.getOperation(), scalars.count(), offset++, builder.getI32Type(), builder);
    if (!value)
      return func.emitError("can't create a push constant");
    Value index = arith::IndexCastUIOp::create(builder, func.getLoc(), builder.getIndexType(), value);
    argument.replaceAllUsesWith(index);
  }
  return func.eraseArguments(scalars);
}

/// Rewrites math ops that SPIR-V lacks.
static LogicalResult legalizeMath(Operation *module) {
  guardPowers(module);
  expandMath(module);
  RewritePatternSet patterns(module->getContext());
  populatePolynomialApproximateErfPattern(patterns);
  populatePolynomialApproximateErfcPattern(patterns);
  math::populateExpansionPatterns(patterns, {"exp2", "clampf", "fpowi"});
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  guardDomains(module);
  roundDoubles(module);
  selectSigns(module);
  roundInnerHalves(module);
  return success();
}

namespace {
/// Converts a broadcast from a constant lane, which SPIR-V before 1.5 requires. Uses a shuffle if the target allows it.
struct ConvertBroadcast : OpConversionPattern<gpu::SubgroupBroadcastOp> {
  ConvertBroadcast(const TypeConverter &converter, MLIRContext *context, bool shuffles)
      : OpConversionPattern(converter, context, /*benefit=*/2), shuffles(shuffles) {}

  LogicalResult matchAndRewrite(gpu::SubgroupBroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getBroadcastType() != gpu::BroadcastType::specific_lane || !matchPattern(op.getLane(), m_Constant()))
      return rewriter.notifyMatchFailure(op, "expected a constant lane");
    if (shuffles) {
      rewriter.replaceOpWithNewOp<spirv::GroupNonUniformShuffleOp>(op, spirv::Scope::Subgroup, adaptor.getSrc(),
                                                                   adaptor.getLane());
      return success();
    }
    rewriter.replaceOpWithNewOp<spirv::GroupNonUniformBroadcastOp>(op, spirv::Scope::Subgroup, adaptor.getSrc(),
                                                                   adaptor.getLane());
    return success();
  }

private:
  bool shuffles;
};

struct ConvertLaneId : OpConversionPattern<gpu::LaneIdOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(gpu::LaneIdOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, spirv::getBuiltinVariableValue(op, spirv::BuiltIn::SubgroupLocalInvocationId,
                                                          rewriter.getI32Type(), rewriter));
    return success();
  }
};
} // namespace

static LogicalResult convertModule(gpu::GPUModuleOp module, spirv::TargetEnvAttr env) {
  MLIRContext *context = module.getContext();
  spirv::MemorySpaceToStorageClassConverter spaces([](Attribute space) {
    return isa_and_nonnull<gpu::AddressSpaceAttr>(space) ? spirv::StorageClass::Workgroup
                                                         : spirv::mapMemorySpaceToVulkanStorageClass(space);
  });
  spirv::convertMemRefTypesAndAttrs(module, spaces);
  SPIRVTypeConverter converter(env);
  RewritePatternSet patterns(context);
  populateGPUToSPIRVPatterns(converter, patterns);
  patterns.add<ConvertBroadcast>(converter, context,
                                 spirv::TargetEnv(env).allows(spirv::Capability::GroupNonUniformShuffle));
  patterns.add<ConvertLaneId>(converter, context, /*benefit=*/2);
  ScfToSPIRVContext scfContext;
  populateSCFToSPIRVPatterns(converter, scfContext, patterns);
  arith::populateArithToSPIRVPatterns(converter, patterns);
  populateMathToSPIRVPatterns(converter, patterns);
  populateMemRefToSPIRVPatterns(converter, patterns);
  populateFuncToSPIRVPatterns(converter, patterns);
  populateVectorToSPIRVPatterns(converter, patterns);
  populateMMAToSPIRVCoopMatrixTypeConversion(converter);
  populateGpuWMMAToSPIRVCoopMatrixKHRConversionPatterns(converter, patterns);
  cf::populateControlFlowToSPIRVPatterns(converter, patterns);
  index::populateIndexToSPIRVPatterns(converter, patterns);
  populateBuiltinFuncToSPIRVPatterns(converter, patterns);
  std::unique_ptr<ConversionTarget> target = SPIRVConversionTarget::get(env);
  return applyFullConversion(module.getOperation(), *target, std::move(patterns));
}

/// Forbids optimizations that violate IEEE 754: x - x is not 0 for all x, x * 0 is not 0 for all x, and (x + y) - y is
/// not always x.
static void decorateExact(spirv::ModuleOp module) {
  module.walk([](Operation *op) {
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp, spirv::GLFmaOp>(op))
      op->setAttr("no_contraction", UnitAttr::get(op->getContext()));
  });
}

/// Returns true if the kernel both loads from and stores to the variable.
static bool isReadAndWritten(spirv::GlobalVariableOp variable, spirv::ModuleOp module) {
  bool reads = false, writes = false;
  module.walk([&](spirv::AddressOfOp address) {
    if (address.getVariable() == variable.getSymName())
      for (Operation *access : address->getUsers())
        for (Operation *user : access->getUsers()) {
          reads |= isa<spirv::LoadOp>(user);
          writes |= isa<spirv::StoreOp, spirv::AtomicOrOp>(user);
        }
  });
  return reads && writes;
}

/// Makes barriers also order the accesses of a workgroup to storage buffers, and makes stores of one invocation visible
/// to the others.
static void orderStorageBuffers(spirv::ModuleOp module) {
  bool hasBarriers = false;
  if (hasMatrices(module)) // Invocations never read storage buffers that other invocations have written.
    return;
  module.walk([&](spirv::ControlBarrierOp barrier) {
    barrier.setMemorySemantics(barrier.getMemorySemantics() | spirv::MemorySemantics::UniformMemory);
    hasBarriers = true;
  });
  if (!hasBarriers)
    return;
  for (auto variable : module.getOps<spirv::GlobalVariableOp>())
    if (cast<spirv::PointerType>(variable.getType()).getStorageClass() == spirv::StorageClass::StorageBuffer &&
        isReadAndWritten(variable, module))
      variable->setAttr("coherent", UnitAttr::get(module.getContext()));
}

/// Merging constants drops their locations. Gives each constant the locations of its users.
static void locateConstants(ModuleOp holder) {
  holder.walk([](spirv::ConstantOp constant) {
    if (!isa<UnknownLoc>(constant.getLoc()))
      return;
    llvm::SmallSetVector<Location, 4> users;
    for (Operation *user : constant->getUsers())
      users.insert(user->getLoc());
    constant->setLoc(FusedLoc::get(constant.getContext(), users.getArrayRef()));
  });
}

static void addCapability(spirv::ModuleOp module, spirv::Capability capability, spirv::Version least) {
  std::optional<spirv::VerCapExtAttr> triple = module.getVceTriple();
  if (!triple)
    return;
  llvm::SetVector<spirv::Capability> capabilities(triple->getCapabilities().begin(), triple->getCapabilities().end());
  capabilities.insert(capability);
  SmallVector<spirv::Extension> extensions(triple->getExtensions());
  module.setVceTripleAttr(spirv::VerCapExtAttr::get(std::max(triple->getVersion(), least), capabilities.getArrayRef(),
                                                    extensions, module.getContext()));
}

/// Adds the capability that atomic ops of the scope Device need with the Vulkan memory model.
static void requireDeviceScope(spirv::ModuleOp module) {
  auto isAtomic = [](Operation *op) {
    return isa<spirv::AtomicAndOp, spirv::AtomicOrOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (module.getMemoryModel() == spirv::MemoryModel::Vulkan && module.walk(isAtomic).wasInterrupted())
    addCapability(module, spirv::Capability::VulkanMemoryModelDeviceScope, spirv::Version::V_1_3);
}

/// Adds the capability that variables for lane and subgroup numbers need. Upstream finds capabilities only by ops.
static void requireLanes(spirv::ModuleOp module) {
  auto isLane = [](spirv::GlobalVariableOp variable) {
    std::optional<StringRef> name = variable.getBuiltIn();
    return name == spirv::stringifyBuiltIn(spirv::BuiltIn::SubgroupLocalInvocationId) ||
           name == spirv::stringifyBuiltIn(spirv::BuiltIn::SubgroupId);
  };
  if (llvm::any_of(module.getOps<spirv::GlobalVariableOp>(), isLane))
    addCapability(module, spirv::Capability::GroupNonUniform, spirv::Version::V_1_3);
}

/// Finishes the module. `makeTexels` runs before the required capabilities are determined.
static LogicalResult finishModule(ModuleOp holder, llvm::function_ref<void(spirv::ModuleOp)> makeTexels) {
  for (auto module : holder.getOps<spirv::ModuleOp>())
    if (failed(storeInitialResults(module)))
      return failure();
  PassManager simplify(holder.getContext()), finish(holder.getContext());
  OpPassManager &pm = simplify.nest<spirv::ModuleOp>();
  pm.addPass(spirv::createSPIRVLowerABIAttributesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (failed(simplify.run(holder)))
    return failure();
  makeTexels(*holder.getOps<spirv::ModuleOp>().begin());
  useVulkanMemoryModel(*holder.getOps<spirv::ModuleOp>().begin());
  locateConstants(holder);
  finish.addNestedPass<spirv::ModuleOp>(spirv::createSPIRVUpdateVCEPass());
  if (failed(finish.run(holder)))
    return failure();
  for (auto module : holder.getOps<spirv::ModuleOp>()) {
    requireLanes(module);
    requireDeviceScope(module);
  }
  return success();
}

//===-- Validation ----------------------------------------------------------------------------------------------===//

/// Returns true if SPIRV-Tools supports SPV_KHR_cooperative_matrix. Versions before 2023.3 refuse all modules with it.
static bool knowsMatrices(spv_const_context context) {
  StringRef text = "OpCapability CooperativeMatrixKHR";
  spv_binary binary = nullptr;
  spv_result_t result = spvTextToBinary(context, text.data(), text.size(), &binary, nullptr);
  spvBinaryDestroy(binary);
  return result == SPV_SUCCESS;
}

/// Validates the words with SPIRV-Tools. A rejection is a bug of the conversion, so the error has the validator's
/// message.
static LogicalResult validate(Location loc, ArrayRef<uint32_t> words, bool matrices) {
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
  if (matrices && !knowsMatrices(context)) {
    spvContextDestroy(context);
    return success();
  }
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic diagnostic = nullptr;
  spv_result_t result = spvValidate(context, &binary, &diagnostic);
  std::string message = diagnostic && diagnostic->error ? diagnostic->error : "";
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  if (result == SPV_SUCCESS)
    return success();
  return emitError(loc) << "generated SPIR-V is not valid: " << message;
}

FailureOr<SPIRVKernel> inlay::convertKernelToSPIRV(gpu::GPUFuncOp func, VulkanAttr target, ArrayRef<int64_t> block) {
  if (failed(checkBody(func, target)))
    return failure();
  MLIRContext *context = func.getContext();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> holder = ModuleOp::create(func.getLoc());
  builder.setInsertionPointToEnd(holder->getBody());
  auto module = gpu::GPUModuleOp::create(builder, func.getLoc(), "kernel");
  builder.setInsertionPointToEnd(module.getBody());
  auto kernel = cast<gpu::GPUFuncOp>(builder.clone(*func));
  kernel.setName("main");
  spirv::TargetEnvAttr env = getTargetEnv(target, multipliesMatrices(func));
  module->setAttr(spirv::getTargetEnvAttrName(), env);
  SmallVector<int32_t> size(block.begin(), block.end());
  kernel->setAttr(spirv::getEntryPointABIAttrName(), spirv::getEntryPointABIAttr(context, size));
  SmallVector<int64_t> elements; // Number of elements of each buffer.
  for (Type type : kernel.getArgumentTypes())
    if (auto buffer = dyn_cast<MemRefType>(type))
      elements.push_back(buffer.hasStaticShape() ? buffer.getNumElements() : 0);
  SPIRVKernel result;
  auto makeTexels = [&](spirv::ModuleOp converted) {
    if (target.hasFeature(kTexelFeature))
      result.kinds = makeTexelBuffers(converted, elements.size(), target.getMaxTexelElements());
  };
  bool isHardware = target.getDeviceKind() != DeviceKind::SoftwareVulkan;
  makeWordBuffers(kernel, /*dividesTerms=*/isHardware);
  if (failed(emulateTypes(kernel, target)) || failed(pushScalars(kernel)) ||
      failed(makeVectorBuffers(kernel, /*dividesTerms=*/isHardware)) || failed(legalizeMath(module)) ||
      failed(convertModule(module, env)) || failed(finishModule(*holder, makeTexels)))
    return failure();
  auto modules = holder->getOps<spirv::ModuleOp>();
  if (!llvm::hasSingleElement(modules))
    return func.emitError("expected one SPIR-V module");
  roundStoredHalves(*modules.begin());
  decorateExact(*modules.begin());
  orderStorageBuffers(*modules.begin());
  if (failed(spirv::serialize(*modules.begin(), result.words)) ||
      failed(validate(func.getLoc(), result.words, hasMatrices(*modules.begin()))))
    return failure();
  result.requirements = getRequirements(*modules.begin(), target);
  if (int64_t texels = result.kinds.empty() ? 0 : countTexels(result.kinds, elements); texels > kMinTexelElements)
    result.requirements.push_back("texel-elements=" + std::to_string(texels));
  return result;
}
