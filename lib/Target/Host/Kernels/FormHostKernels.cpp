// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves structured ops on buffers into functions whose iterations several threads share, and turns library calls into
// function calls that pass all sizes.

#include "LibraryOperands.h"
#include "SplitLoop.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Target/Host/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace inlay {
#define GEN_PASS_DEF_FORMHOSTKERNELSPASS
#include "inlay/Target/Host/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns the names by which users know the ops, for messages and profiles.
static std::string nameOps(ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<StringRef, 4> names;
  llvm::SmallDenseSet<Location> seen;
  // A fused op has the origins of several ops. The ops of its body keep their locations.
  for (Operation *op : ops)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (seen.insert(inner->getLoc()).second)
        for (StringRef origin : getOrigins(inner->getLoc()))
          names.insert(origin);
    });
  return llvm::join(names, ", ");
}

//===-- The context of a kernel ----------------------------------------------------------------------------------===//

namespace {
/// The ops that a kernel needs besides its structured ops, and the buffers that it gets as arguments.
struct Surroundings {
  llvm::SetVector<Operation *> cloned; ///< Views, constants and arithmetic on sizes.
  llvm::SetVector<Value> buffers;
};
} // namespace

/// Adds the ops and buffers from which `value` is computed to `needs`. Fails if they include other values than buffers,
/// or ops that cannot be cloned.
static LogicalResult collect(Value value, Surroundings &needs) {
  Operation *op = value.getDefiningOp();
  bool isBuffer = isa<MemRefType>(value.getType());
  if (!op || isa<memref::AllocOp>(op)) {
    if (!isBuffer)
      return failure();
    needs.buffers.insert(value);
    return success();
  }
  if (needs.cloned.contains(op))
    return success();
  if (op->getNumRegions() || !(isPure(op) || isa<ViewLikeOpInterface>(op)))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(collect(operand, needs)))
      return failure();
  needs.cloned.insert(op);
  return success();
}

/// Returns true if the ops of the body are pure, load from buffers, or call functions of libm.
static bool isPlainBody(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isPure(&inner) || isa<memref::LoadOp, func::CallOp>(inner); });
}

static LogicalResult collectFor(linalg::LinalgOp op, Surroundings &needs) {
  llvm::SetVector<Value> values(op->getOperands().begin(), op->getOperands().end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return success(isPlainBody(op) &&
                 llvm::all_of(values, [&](Value value) { return succeeded(collect(value, needs)); }));
}

//===-- Equal kernels -------------------------------------------------------------------------------------------===//

static bool areEqual(func::FuncOp lhs, func::FuncOp rhs) {
  return lhs.getFunctionType() == rhs.getFunctionType() && lhs.getArgAttrsAttr() == rhs.getArgAttrsAttr() &&
         lhs->getDiscardableAttrDictionary() == rhs->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(&lhs.getBody(), &rhs.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

static llvm::hash_code hashOf(func::FuncOp func) {
  llvm::hash_code hash = hash_value(Type(func.getFunctionType()));
  func.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), Attribute(op->getDiscardableAttrDictionary()),
                              OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                OperationEquivalence::ignoreHashValue,
                                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

//===-- Forming -------------------------------------------------------------------------------------------------===//

namespace {
/// Forms the kernels of one function.
class KernelBuilder {
public:
  explicit KernelBuilder(func::FuncOp func) : func(func), builder(func) {}

  LogicalResult run() {
    formGroups();
    for (auto call : llvm::make_early_inc_range(func.getOps<plan::LibraryCallOp>()))
      if (failed(callLibrary(call)))
        return failure();
    if (!kernels.empty())
      func->setAttr(plan::kKernelsAttr, builder.getArrayAttr(kernels));
    return success();
  }

private:
  /// Forms kernels of consecutive ops that can be split in the same way. Ops in between are pure or allocate memory.
  void formGroups() {
    SmallVector<SplitGroup> groups;
    bool open = false;
    for (Operation &op : func.getBody().front()) {
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      Surroundings needs;
      if (structured && succeeded(collectFor(structured, needs))) {
        if (!open || !groups.back().join(structured))
          groups.emplace_back(structured);
        open = true;
      } else if (!isPure(&op) && !isa<ViewLikeOpInterface, memref::AllocOp>(op)) {
        open = false;
      }
    }
    for (const SplitGroup &group : groups)
      outline(group);
  }

  int64_t addKernel(plan::HostKernelAttr kernel) {
    kernels.push_back(kernel);
    return kernels.size() - 1;
  }

  void outline(const SplitGroup &group) {
    Surroundings needs;
    SmallVector<Operation *> ops;
    for (auto [op, split] : group.members()) {
      (void)collectFor(op, needs);
      ops.push_back(op);
    }
    func::FuncOp kernel = reuse(makeKernel(group, needs));
    // The call goes after the last op of the group, where all buffers exist.
    builder.setInsertionPointAfter(ops.back());
    Location loc = ops.back()->getLoc();
    AffineExpr count = group.size() ? group.size().ceilDiv(group.unit()) : builder.getAffineConstantExpr(1);
    SmallVector<Value> operands{arith::ConstantIndexOp::create(builder, loc, 0),
                                getValueOrCreateConstantIndexOp(builder, loc, materializeExpr(builder, loc, count))};
    llvm::append_range(operands, needs.buffers);
    auto call = func::CallOp::create(builder, loc, kernel, operands);
    auto name = builder.getStringAttr(nameOps(ops));
    int64_t number = addKernel(plan::HostKernelAttr::get(func.getContext(), name, plan::HostKernelKind::loops,
                                                         needs.buffers.size(), 0, {}, {}, nullptr));
    call->setAttr(plan::kKernelAttr, builder.getI64IntegerAttr(number));
    call->setAttr(plan::kCostAttr, builder.getI64IntegerAttr(group.cost()));
    for (Operation *op : ops)
      op->erase();
  }

  func::FuncOp makeKernel(const SplitGroup &group, const Surroundings &needs) {
    OpBuilder outside(func);
    linalg::LinalgOp first = group.members().front().first;
    Location loc = first.getLoc();
    SmallVector<Type> types(2, outside.getIndexType());
    for (Value buffer : needs.buffers)
      types.push_back(buffer.getType());
    auto kernel = func::FuncOp::create(outside, loc, (func.getSymName() + "_loops" + Twine(functions++)).str(),
                                       outside.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr(plan::kUnitAttr, outside.getI64IntegerAttr(group.unit()));
    if (Attribute symbols = func->getAttr(InlayDialect::kSymbolsAttr))
      kernel->setAttr(InlayDialect::kSymbolsAttr, symbols);
    Block *body = kernel.addEntryBlock();
    IRMapping mapping;
    for (auto [buffer, argument] : llvm::zip_equal(needs.buffers, body->getArguments().drop_front(2))) {
      mapping.map(buffer, argument);
      if (!cast<MemRefType>(buffer.getType()).hasStaticShape())
        if (std::optional<SmallVector<AffineExpr>> dims = getBufferDims(buffer))
          kernel.setArgAttr(argument.getArgNumber(), InlayDialect::kDimsAttr,
                            makeDimsAttr(func.getContext(), getSymbols(func).size(), *dims));
    }
    OpBuilder inside = OpBuilder::atBlockEnd(body);
    for (Operation *op : needs.cloned)
      inside.clone(*op, mapping);
    for (auto [op, split] : group.members()) {
      Operation *clone = inside.clone(*op, mapping);
      if (split)
        clone->setAttr(plan::kSplitAttr, inside.getI64IntegerAttr(*split));
    }
    func::ReturnOp::create(inside, loc);
    return kernel;
  }

  /// Returns an equal earlier kernel and erases `kernel`, or returns `kernel` if there is none.
  func::FuncOp reuse(func::FuncOp kernel) {
    SmallVector<func::FuncOp> &alike = known[hashOf(kernel)];
    for (func::FuncOp other : alike)
      if (areEqual(other, kernel)) {
        kernel.erase();
        --functions;
        return other;
      }
    alike.push_back(kernel);
    return kernel;
  }

  LogicalResult callLibrary(plan::LibraryCallOp op) {
    builder.setInsertionPoint(op);
    FailureOr<LibraryOperands> operands = listLibraryOperands(builder, op);
    if (failed(operands))
      return failure();
    SmallVector<Value> values;
    for (AffineExpr size : operands->sizes)
      values.push_back(
          getValueOrCreateConstantIndexOp(builder, op.getLoc(), materializeExpr(builder, op.getLoc(), size)));
    for (const LinearBuffer &buffer : operands->buffers) {
      values.push_back(buffer.memref);
      values.push_back(
          getValueOrCreateConstantIndexOp(builder, op.getLoc(), materializeExpr(builder, op.getLoc(), buffer.offset)));
    }
    int64_t number = addKernel(op.describe(nameOps({op})));
    OpBuilder outside(func);
    auto callee = func::FuncOp::create(outside, op.getLoc(), (func.getSymName() + "_library" + Twine(number)).str(),
                                       outside.getFunctionType(ValueRange(values).getTypes(), {}));
    callee.setPrivate();
    auto call = func::CallOp::create(builder, op.getLoc(), callee, values);
    call->setAttr(plan::kKernelAttr, builder.getI64IntegerAttr(number));
    op.erase();
    return success();
  }

  func::FuncOp func;
  OpBuilder builder;
  SmallVector<Attribute> kernels;
  size_t functions = 0;
  llvm::DenseMap<size_t, SmallVector<func::FuncOp>> known; ///< Kernels by hash.
};

struct FormHostKernelsPass : inlay::impl::FormHostKernelsPassBase<FormHostKernelsPass> {
  /// Records the constants from which reductions start. Restores the fills of reductions that start from other scalars.
  static LogicalResult prepare(func::FuncOp func) {
    replaceCopies(func);
    FailureOr<InitialValues> initial = prepareLinalgOps(func);
    if (failed(initial))
      return failure();
    for (auto [op, value] : *initial) {
      TypedAttr constant;
      if (matchPattern(value, m_Constant(&constant))) {
        op->setAttr(plan::kInitialAttr, constant);
        continue;
      }
      OpBuilder builder(op);
      linalg::FillOp::create(builder, op->getLoc(), value, cast<linalg::LinalgOp>(op).getDpsInits().front());
    }
    return success();
  }

  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isDeclaration())
        continue;
      if (failed(prepare(func)) || failed(completeLibraryCalls(func)) || failed(KernelBuilder(func).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
