// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the target interface for the host: verdicts by trial, and the conversion of a segment to a host
// function. LLVM/HostCode.cpp generates the code.

#include "inlay/Target/Host/HostTarget.h"
#include "Target/Host/LLVM/HostCode.h"
#include "Target/Host/LibraryCalls/FormLibraryCalls.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Convert/SegmentConversion.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

/// Returns the byte sizes of the scratch arguments, which follow the arguments of the segment.
static FailureOr<AffineMap> getScratch(func::FuncOp func) {
  SmallVector<AffineExpr> sizes;
  auto arguments = func->getAttrOfType<IntegerAttr>(plan::kArgumentsAttr);
  for (BlockArgument argument :
       func.getArguments().drop_front(arguments ? arguments.getInt() : func.getNumArguments())) {
    FailureOr<AffineExpr> bytes = getByteSize(func.getLoc(), argument);
    if (failed(bytes))
      return failure();
    sizes.push_back(*bytes);
  }
  return AffineMap::get(0, getSymbols(func).size(), sizes, func.getContext());
}

/// Returns the size that the scratch memory would have if its buffers shared none of it, or null if that is the same
/// size.
static AffineMapAttr getUnshared(func::FuncOp func, AffineMap scratch) {
  auto unshared = func->getAttrOfType<AffineMapAttr>(plan::kUnsharedAttr);
  AffineExpr shared = getAffineConstantExpr(0, func.getContext());
  for (AffineExpr bytes : scratch.getResults())
    shared = shared + bytes;
  return unshared && unshared.getValue().getResult(0) != shared && scratch.getNumResults() ? unshared : nullptr;
}

namespace {
struct HostTarget : TargetAttrInterface::ExternalModel<HostTarget, HostAttr> {
  StringRef getTargetName(Attribute) const { return "host"; }
  bool isAccelerator(Attribute) const { return false; }
  bool canReplaceEngines(Attribute) const { return true; }
  bool canUpdateInPlace(Attribute) const { return true; }
  TargetCosts getCosts(Attribute) const { return getDefaultCosts(DeviceKind::HostCpu); }

  Verdict canRun(Attribute, Operation *op) const {
    return tryConvert(op,
                      [](ModuleOp module) { return failed(lowerToLoops(module)) ? failure() : lowerToLLVM(module); });
  }

  LogicalResult convertSegment(Attribute target, func::FuncOp segment) const {
    AffineMap scratch;
    AffineMapAttr unshared;
    ArrayAttr kernels;
    DenseI64ArrayAttr updates;
    auto stages = [&](ModuleOp scratchModule) -> LogicalResult {
      if (failed(lowerToLoops(scratchModule)))
        return failure();
      for (auto func : scratchModule.getOps<func::FuncOp>())
        if (!func.isDeclaration() && !func->hasAttr(plan::kUnitAttr)) {
          FailureOr<AffineMap> sizes = getScratch(func);
          if (failed(sizes))
            return failure();
          scratch = *sizes;
          unshared = getUnshared(func, scratch);
          kernels = func->getAttrOfType<ArrayAttr>(plan::kKernelsAttr);
          updates = func->getAttrOfType<DenseI64ArrayAttr>(plan::kUpdatesAttr);
        }
      return lowerToLLVM(scratchModule);
    };
    Preparation prepare = cast<HostAttr>(target).getLibrary() ? formLibraryCalls : Preparation();
    auto module = convertAlone(segment, stages, prepare);
    if (failed(module))
      return failure();
    if (failed(addHostCode(segment->getParentOfType<ModuleOp>(), **module)))
      return failure();
    OpBuilder builder(segment);
    FunctionType type = segment.getFunctionType();
    AffineMapAttr sizes;
    SmallVector<AffineExpr> symbols;
    for (size_t number = 0, count = getSymbols(segment).size(); number < count; ++number)
      symbols.push_back(builder.getAffineSymbolExpr(number));
    if (!symbols.empty())
      sizes = makeDimsAttr(segment.getContext(), symbols.size(), symbols);
    int64_t arguments = type.getNumInputs() + type.getNumResults() - (updates ? updates.size() : 0);
    plan::HostFunctionOp::create(builder, segment.getLoc(), segment.getSymName(), arguments, type.getNumInputs(),
                                 scratch, sizes, kernels, unshared, updates);
    segment.erase();
    return success();
  }

  LogicalResult finishModule(Attribute, ModuleOp module) const { return emitHostObjects(module); }
};
} // namespace

void inlay::registerHostTarget(DialectRegistry &registry) {
  registerGraphToLinalgDialects(registry);
  registerBufferizeDialects(registry);
  registerHostCodeTranslations(registry);
  registerLibraryCallBufferization(registry);
  registry.addExtension(+[](MLIRContext *context, InlayDialect *dialect) {
    HostAttr::attachInterface<HostTarget>(*context);
    dialect->addDefaultTarget(/*rank=*/1, HostAttr::get(context));
    loadBufferizeDialects(*context);
    context->loadDialect<LLVM::LLVMDialect, vector::VectorDialect, plan::PlanDialect>();
  });
}
