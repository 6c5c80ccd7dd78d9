// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns scratch memory into buffers that the caller passes.

#include "inlay/Convert/Bufferize/Arena.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace inlay {
#define GEN_PASS_DEF_HOISTALLOCATIONSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Refuses allocations whose size is unknown when the function is called.
static LogicalResult checkAllocation(memref::AllocOp alloc) {
  if (getBufferDims(alloc) && alloc.getType().getLayout().isIdentity())
    return success();
  return alloc.emitError(
             "unsupported-shape: expected scratch memory whose size follows from the sizes of inputs, but got ")
         << alloc.getType();
}

/// Makes `alloc` a trailing argument.
static LogicalResult hoist(func::FuncOp func, memref::AllocOp alloc) {
  unsigned number = func.getNumArguments();
  SmallVector<AffineExpr> dims = *getBufferDims(alloc);
  if (failed(func.insertArgument(number, alloc.getType(), {}, alloc.getLoc())))
    return failure();
  if (!alloc.getType().hasStaticShape())
    func.setArgAttr(number, InlayDialect::kDimsAttr, makeDimsAttr(func.getContext(), getSymbols(func).size(), dims));
  alloc.replaceAllUsesWith(Value(func.getArgument(number)));
  alloc.erase();
  return success();
}

//===-- One arena -----------------------------------------------------------------------------------------------===//

namespace {
/// Numbers the ops of the entry block and measures lifetimes by these numbers.
class Clock {
public:
  explicit Clock(func::FuncOp func) : block(&func.getBody().front()) {
    for (auto [number, op] : llvm::enumerate(*block))
      times[&op] = number;
  }

  /// Returns the lifetime of `memref`, from the first to the last use through any view.
  Lifetime measure(Value memref, int64_t bytes) const {
    Lifetime lifetime{bytes, static_cast<unsigned>(times.size()), 0};
    SmallVector<Value> values{memref};
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
          values.push_back(user->getResult(0));
          continue;
        }
        unsigned time = times.lookup(block->findAncestorOpInBlock(*user));
        lifetime.first = std::min(lifetime.first, time);
        lifetime.last = std::max(lifetime.last, time);
      }
    return lifetime;
  }

private:
  Block *block;
  llvm::DenseMap<Operation *, unsigned> times;
};
} // namespace

/// Replaces allocations of static size by views of one byte buffer.
static LogicalResult shareArena(func::FuncOp func, ArrayRef<memref::AllocOp> allocs, const Clock &clock) {
  if (allocs.empty())
    return success();
  std::vector<Lifetime> lifetimes;
  for (memref::AllocOp alloc : allocs) {
    FailureOr<int64_t> bytes = getByteSize(alloc.getLoc(), cast<ShapedType>(Value(alloc).getType()));
    if (failed(bytes))
      return failure();
    lifetimes.push_back(clock.measure(alloc, *bytes));
  }
  ArenaPlan plan = planArena(lifetimes);
  auto builder = OpBuilder::atBlockBegin(&func.getBody().front());
  auto type = MemRefType::get({std::max<int64_t>(plan.bytes, 1)}, builder.getI8Type());
  if (failed(func.insertArgument(func.getNumArguments(), type, {}, func.getLoc())))
    return failure();
  Value arena = func.getArguments().back();
  for (size_t i = 0; i < allocs.size(); ++i) {
    memref::AllocOp alloc = allocs[i];
    builder.setInsertionPoint(alloc);
    Value start = arith::ConstantIndexOp::create(builder, alloc.getLoc(), plan.offsets[i]);
    alloc.replaceAllUsesWith(
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), arena, start, ValueRange()).getResult());
    alloc.erase();
  }
  return success();
}

/// Makes allocations of the same type and size share a buffer if their lifetimes do not overlap.
static void shareEqual(ArrayRef<memref::AllocOp> allocs, const Clock &clock, unsigned symbols) {
  struct Slot {
    memref::AllocOp alloc;
    SmallVector<AffineExpr> dims;
    unsigned last;
  };
  SmallVector<std::pair<Lifetime, memref::AllocOp>> sorted;
  for (memref::AllocOp alloc : allocs)
    sorted.emplace_back(clock.measure(alloc, 0), alloc);
  llvm::stable_sort(sorted, [](auto &a, auto &b) { return a.first.first < b.first.first; });
  SmallVector<Slot> slots;
  for (auto [lifetime, alloc] : sorted) {
    SmallVector<AffineExpr> dims = *getBufferDims(alloc);
    auto slot = llvm::find_if(slots, [&, &lifetime = lifetime, &alloc = alloc](const Slot &other) {
      return other.last < lifetime.first && memref::AllocOp(other.alloc)->isBeforeInBlock(alloc) &&
             memref::AllocOp(other.alloc).getType() == alloc.getType() &&
             llvm::all_of(
                 llvm::zip_equal(other.dims, dims),
                 [&](auto pair) { return areEqual(std::get<0>(pair), std::get<1>(pair), symbols); });
    });
    if (slot == slots.end()) {
      slots.push_back({alloc, std::move(dims), lifetime.last});
      continue;
    }
    slot->last = lifetime.last;
    alloc.replaceAllUsesWith(slot->alloc.getResult());
    alloc.erase();
  }
}

/// Records the number of bytes that the allocations would take without an arena.
static LogicalResult noteUnshared(func::FuncOp func) {
  AffineExpr sum = getAffineConstantExpr(0, func.getContext());
  for (auto alloc : func.getOps<memref::AllocOp>()) {
    FailureOr<AffineExpr> bytes = getByteSize(alloc.getLoc(), alloc.getResult());
    if (failed(bytes))
      return failure();
    sum = sum + *bytes;
  }
  func->setAttr(plan::kUnsharedAttr, AffineMapAttr::get(AffineMap::get(0, getSymbols(func).size(), sum)));
  return success();
}

namespace {
struct HoistAllocationsPass : inlay::impl::HoistAllocationsPassBase<HoistAllocationsPass> {
  using HoistAllocationsPassBase::HoistAllocationsPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    func->setAttr(plan::kArgumentsAttr, IntegerAttr::get(IntegerType::get(&getContext(), 64), func.getNumArguments()));
    SmallVector<memref::AllocOp> fixed, open;
    for (auto alloc : func.getOps<memref::AllocOp>()) {
      if (failed(checkAllocation(alloc)))
        return signalPassFailure();
      (alloc.getType().hasStaticShape() ? fixed : open).push_back(alloc);
    }
    if (arena) {
      if (failed(noteUnshared(func)))
        return signalPassFailure();
      Clock clock(func);
      shareEqual(open, clock, getSymbols(func).size());
      if (failed(shareArena(func, fixed, clock)))
        return signalPassFailure();
    }
    for (auto alloc : llvm::make_early_inc_range(func.getOps<memref::AllocOp>()))
      if (failed(hoist(func, alloc)))
        return signalPassFailure();
  }
};
} // namespace
