// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts functions that launch kernels to engines.

#include "Target/Vulkan/SPIRV/KernelToSPIRV.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Target/Vulkan/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace inlay {
#define GEN_PASS_DEF_GPUTOENGINEPASS
#include "inlay/Target/Vulkan/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Maximum number of 32-bit push constants that every Vulkan device supports.
static constexpr int64_t kMaxPushConstants = 32;

/// Returns the access of the kernel to a memref argument.
static plan::Access getAccess(BlockArgument buffer) {
  bool reads = false, writes = false;
  for (Operation *user : buffer.getUsers()) {
    reads |= !isa<memref::StoreOp, vector::StoreOp, gpu::SubgroupMmaStoreMatrixOp>(user);
    writes |= !isa<memref::LoadOp, vector::LoadOp, gpu::SubgroupMmaLoadMatrixOp>(user);
  }
  return reads && writes ? plan::Access::read_write : writes ? plan::Access::write : plan::Access::read;
}

/// Returns the size of a buffer in bytes. Emits an error and fails if even its minimum exceeds `limit`.
static FailureOr<AffineExpr> getBoundSize(BlockArgument argument, int64_t limit, ArrayRef<SymbolAttr> symbols) {
  Location loc = argument.getOwner()->getParentOp()->getLoc();
  FailureOr<AffineExpr> bytes = getByteSize(loc, argument);
  if (failed(bytes))
    return failure();
  int64_t minBytes = getRange(*bytes, symbols).min;
  if (minBytes > limit)
    return emitError(loc) << "unsupported-shape: a buffer of " << minBytes << " bytes exceeds the device's limit of "
                          << limit;
  return bytes;
}

/// Returns the fused location of all ops of a kernel that add origins. A kernel may be fused from ops of several calls.
static Location getOrigin(gpu::LaunchFuncOp launch, gpu::GPUFuncOp kernel) {
  llvm::SmallSetVector<Location, 4> locs;
  SmallVector<StringRef> known;
  llvm::SmallDenseSet<Location> seen;
  kernel.walk([&](Operation *op) {
    if (op == kernel || !seen.insert(op->getLoc()).second)
      return;
    SmallVector<StringRef> origins = getOrigins(op->getLoc());
    if (llvm::all_of(origins, [&](StringRef origin) { return llvm::is_contained(known, origin); }))
      return;
    known.append(origins);
    locs.insert(op->getLoc());
  });
  return locs.empty() ? launch.getLoc() : FusedLoc::get(launch.getContext(), locs.getArrayRef());
}

namespace {
/// Builds the engine of one function.
class EngineBuilder {
public:
  EngineBuilder(func::FuncOp func, VulkanAttr target) : func(func), target(target), builder(func) {}

  LogicalResult run() {
    auto arguments = func->getAttrOfType<IntegerAttr>(plan::kArgumentsAttr);
    int64_t segmentArguments = arguments ? arguments.getInt() : func.getNumArguments();
    SmallVector<AffineExpr> scratch;
    for (BlockArgument argument : func.getArguments()) {
      if (!isa<MemRefType>(argument.getType()))
        return func.emitError("unsupported-type: expected arguments to be buffers, but got ") << argument.getType();
      FailureOr<AffineExpr> bytes = getBoundSize(argument, target.getMaxStorageBufferRange(), getSymbols(func));
      if (failed(bytes))
        return failure();
      if (argument.getArgNumber() >= segmentArguments)
        scratch.push_back(argument.use_empty() ? builder.getAffineConstantExpr(1)
                                               : *bytes); // Unused arguments need only a minimal buffer.
    }
    symbols = getSymbols(func).size();
    auto engine =
        plan::EngineOp::create(builder, func.getLoc(), func.getSymName(), segmentArguments,
                               AffineMap::get(0, symbols, scratch, builder.getContext()),
                               /*host_version=*/nullptr, func->getAttrOfType<DenseI64ArrayAttr>(plan::kUpdatesAttr));
    setOrders(engine, segmentArguments);
    builder.createBlock(&engine.getBody());
    for (Operation &op : func.getBody().front()) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        if (failed(addDispatch(launch)))
          return failure();
      } else if (!isPure(&op) && !isa<func::ReturnOp, ViewLikeOpInterface>(op)) {
        return op.emitError("no-converter: ") << op.getName() << " can't run on a device outside a kernel";
      }
    }
    func.erase();
    return success();
  }

private:
  /// Records the orders of dims in which the engine reads its constants.
  void setOrders(plan::EngineOp engine, int64_t arguments) {
    SmallVector<Attribute> orders(arguments, builder.getDenseI64ArrayAttr({}));
    bool hasAny = false;
    for (int64_t number = 0; number < arguments; ++number)
      if (Attribute order = func.getArgAttr(number, plan::kConstantOrderAttr)) {
        orders[number] = order;
        hasAny = true;
      }
    if (hasAny)
      engine->setAttr(plan::kConstantOrdersAttr, builder.getArrayAttr(orders));
  }

  /// Returns the engine's kernel for `kernel`. Converts `kernel` unless it has equal words, requirements and binding
  /// kinds as an earlier kernel. The words alone are not enough: they do not contain the size of a texel buffer.
  FailureOr<plan::KernelOp> getKernel(gpu::LaunchFuncOp launch, gpu::GPUFuncOp kernel, ArrayRef<int64_t> block) {
    FailureOr<SPIRVKernel> spirv = convertKernelToSPIRV(kernel, target, block);
    if (failed(spirv))
      return failure();
    auto type = RankedTensorType::get({static_cast<int64_t>(spirv->words.size())}, builder.getI32Type());
    auto words = DenseElementsAttr::get(type, ArrayRef<uint32_t>(spirv->words));
    SmallVector<Attribute> bindings, requirements, kinds;
    for (const std::string &name : spirv->requirements)
      requirements.push_back(builder.getStringAttr(name));
    if (llvm::any_of(spirv->kinds, [](plan::BindingKind kind) { return kind != plan::BindingKind::storage; }))
      for (plan::BindingKind kind : spirv->kinds)
        kinds.push_back(plan::BindingKindAttr::get(builder.getContext(), kind));
    Attribute key = builder.getArrayAttr({words, builder.getArrayAttr(requirements), builder.getArrayAttr(kinds)});
    if (plan::KernelOp known = kernels.lookup(key))
      return known;
    int64_t pushConstants = 0;
    for (BlockArgument argument : kernel.getArguments()) {
      if (isa<MemRefType>(argument.getType()))
        bindings.push_back(plan::AccessAttr::get(builder.getContext(), getAccess(argument)));
      else
        ++pushConstants;
    }
    if (static_cast<int64_t>(bindings.size()) > target.getMaxStorageBuffers())
      return launch.emitError("unsupported-shape: a kernel of ")
             << bindings.size() << " buffers exceeds the device's limit of " << target.getMaxStorageBuffers();
    if (pushConstants > kMaxPushConstants)
      return launch.emitError("unsupported-shape: a kernel of ")
             << pushConstants << " numbers that are known only at a call exceeds the limit of " << kMaxPushConstants;
    auto op = plan::KernelOp::create(builder, launch.getLoc(), "k" + std::to_string(kernels.size()), words,
                                     builder.getArrayAttr(bindings), builder.getDenseI64ArrayAttr(block), pushConstants,
                                     requirements.empty() ? ArrayAttr() : builder.getArrayAttr(requirements),
                                     kinds.empty() ? ArrayAttr() : builder.getArrayAttr(kinds));
    kernels[key] = op;
    return op;
  }

  LogicalResult addDispatch(gpu::LaunchFuncOp launch) {
    SmallVector<int64_t> block, buffers;
    SmallVector<AffineExpr> grid, pushed;
    gpu::KernelDim3 size = launch.getBlockSizeOperandValues(), groups = launch.getGridSizeOperandValues();
    for (Value value : {size.x, size.y, size.z}) {
      std::optional<int64_t> number = getConstantIntValue(value);
      if (!number)
        return launch.emitError("expected a constant block size");
      block.push_back(*number);
    }
    for (Value value : {groups.x, groups.y, groups.z}) {
      grid.push_back(readExpr(value));
      if (!grid.back())
        return launch.emitError("expected a grid that follows from the sizes of inputs");
    }
    for (Value operand : launch.getKernelOperands()) {
      if (!isa<MemRefType>(operand.getType())) {
        pushed.push_back(readExpr(operand));
        if (!pushed.back())
          return launch.emitError("expected kernel operands that follow from the sizes of inputs");
        continue;
      }
      auto argument = dyn_cast<BlockArgument>(findRoot(operand));
      if (!argument)
        return launch.emitError("expected kernel operands to be buffers of the function");
      buffers.push_back(argument.getArgNumber());
    }
    auto function = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernel());
    if (!function)
      return launch.emitError("expected an outlined kernel, but got ") << launch.getKernel();
    FailureOr<plan::KernelOp> kernel = getKernel(launch, function, block);
    if (failed(kernel))
      return failure();
    MLIRContext *context = builder.getContext();
    plan::DispatchOp::create(
        builder, getOrigin(launch, function), FlatSymbolRefAttr::get(context, kernel->getSymName()),
        builder.getDenseI64ArrayAttr(buffers), AffineMapAttr::get(AffineMap::get(0, symbols, grid, context)),
        AffineMapAttr::get(AffineMap::get(0, symbols, pushed, context)));
    return success();
  }

  func::FuncOp func;
  VulkanAttr target;
  OpBuilder builder;
  unsigned symbols = 0;
  llvm::DenseMap<Attribute, plan::KernelOp> kernels;
};

struct GPUToEnginePass : inlay::impl::GPUToEnginePassBase<GPUToEnginePass> {
  using GPUToEnginePassBase::GPUToEnginePassBase;

  void runOnOperation() override {
    auto attr = dyn_cast_or_null<VulkanAttr>(parseAttribute(target, &getContext()));
    if (!attr) {
      getOperation().emitError("expected option 'target' to be a #inlay.vulkan attribute, but got ") << target;
      return signalPassFailure();
    }
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!func.isDeclaration() && failed(EngineBuilder(func, attr).run()))
        return signalPassFailure();
    for (auto module : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      module.erase();
  }
};
} // namespace
