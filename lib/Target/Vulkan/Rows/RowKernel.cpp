// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits a row group. `emitShared` is where the invocations of a workgroup join a reduction. SplitSums.cpp splits a
// reduction over several kernels instead.

#include "RowKernel.h"
#include "Target/Vulkan/GPU/Launch.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace inlay;

/// Maximum number of sizes known only at a call that a kernel may take: the push constants that every device supports,
/// minus some for the grid.
static constexpr size_t kMaxSizes = 28;

/// Number of rows that the tiles of a product should share.
static constexpr int64_t kProductRows = 32;

/// Invocations of a workgroup that computes products.
static constexpr int64_t kProductInvocations = 64;

/// With fewer workgroups, cores would be idle.
static constexpr int64_t kManyGroups = 8;

/// With fewer rows, tiles would read more than they compute.
static constexpr int64_t kMinProductRows = 4;

/// Returns the bytes that an element takes in workgroup memory. Kernels may keep narrow elements in words.
static int64_t getElementBytes(Type type) { return std::max<int64_t>(4, type.getIntOrFloatBitWidth() / 8); }

FailureOr<RowKernel> RowKernel::create(const RowGroup &group, const InitialValues &initial,
                                       const WorkgroupLimits &limits) {
  linalg::LinalgOp last = group.members().back().op;
  RowKernel kernel(group, limits, OpBuilder(last));
  kernel.loc = last.getLoc();
  if (failed(kernel.createSteps(initial)))
    return failure();
  kernel.chooseBlock();
  kernel.findLocals();
  if (!kernel.placeLocals())
    return kernel;
  for (Step &step : kernel.steps)
    kernel.planStep(step);
  kernel.possible = kernel.isWithinLimits();
  return kernel;
}

LogicalResult RowKernel::createSteps(const InitialValues &initial) {
  for (const RowGroup::Member &member : group.members()) {
    FailureOr<TileEmitter> emitter = TileEmitter::create(builder, member.op, &values);
    if (failed(emitter))
      return failure();
    emitter->setInitial(initial.lookup(member.op));
    emitter->setFusesProducts(true);
    cutSums(*emitter);
    steps.push_back({member, std::move(*emitter), {}, {}, {}, {}, {}});
  }
  return success();
}

/// Sets the number of invocations of a workgroup that computes one row, by the most elements that a step has in a row.
void RowKernel::chooseBlock() {
  if (!limits.singleRows)
    return;
  uint64_t longest = 1;
  for (const Step &step : steps) {
    uint64_t elements = 1;
    for (auto [loop, info] : llvm::enumerate(step.emitter.shape().loops))
      if (!llvm::is_contained(step.member.loops, loop))
        elements = llvm::SaturatingMultiply<uint64_t>(elements, static_cast<uint64_t>(info.size));
    longest = std::max(longest, elements);
  }
  auto elements = static_cast<int64_t>(std::min<uint64_t>(longest, std::numeric_limits<int64_t>::max()));
  limits.block =
      group.hasProducts() ? std::min(limits.block, kProductInvocations) : chooseRowInvocations(elements, limits.block);
}

//===-- Workgroup memory -----------------------------------------------------------------------------------------===//

/// Returns true if only `ops` use `alloc`, apart from its flat form.
static bool isPrivate(memref::AllocOp alloc, ArrayRef<RowGroup::Member> ops, Value flat) {
  return llvm::all_of(alloc->getUsers(), [&](Operation *user) {
    return (flat && flat.getDefiningOp() == user) ||
           llvm::any_of(ops, [&](const RowGroup::Member &member) { return member.op == user; });
  });
}

/// Returns the layout of `buffer`, which the group writes, in workgroup memory, or nullopt if it cannot be there.
std::optional<RowKernel::Local> RowKernel::makeLocal(Value buffer) const {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  std::optional<SmallVector<AffineExpr>> dims = alloc ? getBufferDims(buffer) : std::nullopt;
  if (!dims || !isPrivate(alloc, group.members(), values.roots.lookup(buffer)) ||
      alloc.getType().getElementType() != localType)
    return std::nullopt;
  Local local{buffer, {}, {1, 0, static_cast<unsigned>(steps.size()), 0}, -1};
  const Step *writer = nullptr;
  AffineMap map;
  for (auto [number, step] : llvm::enumerate(steps))
    for (const BufferUse &use : listUses(step.member.op)) {
      if (use.view != buffer)
        continue;
      if (!use.map || !use.map.isProjectedPermutation(/*allowZeroInResults=*/true)) // For example a flipped access.
        return std::nullopt;
      if (use.writes && !writer) {
        writer = &step;
        map = use.map;
      }
      local.size.first = std::min<unsigned>(local.size.first, number);
      local.size.last = std::max<unsigned>(local.size.last, number);
    }
  if (!writer)
    return std::nullopt;
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, buffer.getContext()); };
  local.strides.assign(dims->size(), constant(0));
  ArrayRef<SymbolAttr> symbols = writer->emitter.getSymbols();
  for (size_t dim = dims->size(); dim-- > 0;) {
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    auto row = loop ? llvm::find(writer->member.loops, loop.getPosition()) : writer->member.loops.end();
    if (row != writer->member.loops.end()) {
      if (row + 1 == writer->member.loops.end())
        local.rowDim = dim;
      continue;
    }
    local.strides[dim] = constant(local.size.perRow);
    if (llvm::MulOverflow(local.size.perRow, getRange((*dims)[dim], symbols).max, local.size.perRow))
      return std::nullopt;
  }
  if (local.rowDim < 0)
    return std::nullopt;
  local.strides[local.rowDim] = constant(local.size.perRow);
  return local;
}

void RowKernel::findLocals() {
  SmallVector<Value> written;
  for (const Step &step : steps)
    for (Value init : linalg::LinalgOp(step.member.op).getDpsInits()) {
      if (!localType && TileEmitter::canShare(step.member.op))
        localType = getElementTypeOrSelf(init.getType());
      written.push_back(init);
    }
  for (Value buffer : llvm::SetVector<Value>(written.begin(), written.end()))
    if (std::optional<Local> local = makeLocal(buffer))
      locals.push_back(std::move(*local));
}

/// Returns the maximum number of rows of a workgroup. With products it is `kProductRows`. With `singleRows` it is one.
/// Otherwise each invocation may have one row, so that no row is shared. The number is halved as long as this still
/// covers all existing rows.
int64_t RowKernel::maxRows() const {
  int64_t rows = group.hasProducts() ? kProductRows : limits.singleRows ? 1 : limits.block;
  int64_t existing = getTypicalValue(group.rowSizes().back(), steps.front().emitter.getSymbols());
  while (rows > 1 && rows / 2 >= existing)
    rows /= 2;
  return rows;
}

/// Returns true if each invocation should compute a whole row, because there are enough rows for many workgroups.
bool RowKernel::hasWholeRows() const {
  ArrayRef<SymbolAttr> symbols = steps.front().emitter.getSymbols();
  AffineExpr rows = countElements(group.rowSizes(), group.rowSizes().front().getContext());
  return limits.wholeRows && !group.hasProducts() &&
         getTypicalValue(group.rowSizes().back(), symbols) >= limits.block &&
         getTypicalValue(rows, symbols) >= kManyGroups * limits.block;
}

/// Returns the bytes that the shares of reductions need: one array per type, with one element per invocation.
int64_t RowKernel::countShareBytes() const {
  llvm::SmallSetVector<Type, 2> types;
  for (const Step &step : steps)
    if (TileEmitter::canShare(step.member.op))
      types.insert(step.emitter.shareType());
  int64_t bytes = 0;
  for (Type type : types)
    bytes += limits.block * getElementBytes(type);
  return bytes;
}

bool RowKernel::placeLocals() {
  wholeRows = hasWholeRows();
  if (wholeRows) {
    locals.clear();
    plan.rows = limits.block;
    return true;
  }
  int64_t bytes = getElementBytes(localType);
  int64_t room = (limits.memory - countShareBytes()) / bytes;
  while (true) {
    std::vector<RowBuffer> sizes;
    for (const Local &local : locals)
      sizes.push_back(local.size);
    // A workgroup has several rows only if they leave most of the workgroup memory, or of the nearest cache of a CPU,
    // to other workgroups.
    std::optional<RowGroupPlan> found = planRowGroup(sizes, maxRows(), group.hasProducts() ? room : room / 4);
    if (!found)
      found = planRowGroup(sizes, /*maxRows=*/1, room);
    if (found) {
      plan = std::move(*found);
      return !group.hasProducts() || plan.rows >= std::min(kMinProductRows, maxRows());
    }
    // Tiles of a product read local buffers too often for these to be in global memory.
    if (group.hasProducts() || locals.empty())
      return false;
    locals.erase(llvm::max_element(
        locals, [](const Local &lhs, const Local &rhs) { return lhs.size.perRow < rhs.size.perRow; }));
  }
}

//===-- Tiles ---------------------------------------------------------------------------------------------------===//

/// Returns the nest inside a workgroup: one step along the row loops, but `rows` steps along the last one.
static LoopNestShape viewInside(const LoopNestShape &shape, ArrayRef<unsigned> loops, int64_t rows) {
  LoopNestShape inside = shape;
  for (unsigned loop : loops)
    inside.loops[loop] = {1, false};
  inside.loops[loops.back()].size = rows;
  return inside;
}

void RowKernel::planStep(Step &step) {
  const LoopNestShape &shape = step.emitter.shape();
  ArrayRef<unsigned> rows = step.member.loops;
  TileLimits tileLimits;
  tileLimits.pointwiseFactor = 4;
  tileLimits.maxPoints = 64;
  step.tile = chooseTile(viewInside(shape, rows, wholeRows ? 1 : plan.rows), tileLimits);
  MLIRContext *context = builder.getContext();
  step.counts.assign(shape.loops.size(), OpFoldResult());
  step.totalExpr = getAffineConstantExpr(1, context);
  for (auto [loop, info] : llvm::enumerate(shape.loops)) {
    bool isRow = llvm::is_contained(rows, loop);
    if (info.reduction || (isRow && (wholeRows || loop != rows.back())))
      continue;
    AffineExpr size = isRow ? getAffineConstantExpr(plan.rows, context) : step.emitter.size(loop);
    AffineExpr count = size.ceilDiv(step.tile.factors[loop]);
    step.counts[loop] = materializeExpr(builder, loc, count);
    step.totalExpr = step.totalExpr * count;
  }
  step.total = materializeExpr(builder, loc, step.totalExpr);
  if (wholeRows || !linalg::LinalgOp(step.member.op).getNumReductionLoops() || isProduct(step.member.op, rows))
    return;
  step.share.count = chooseShares(limits.block, plan.rows);
  int64_t longest = -1;
  for (auto [loop, info] : llvm::enumerate(shape.loops))
    if (info.reduction && info.size >= longest) {
      longest = info.size;
      step.share.loop = loop;
    }
  auto last = llvm::find_if(llvm::reverse(shape.loops), [](auto &info) { return info.reduction; });
  bool isLast = &*last == &shape.loops[step.share.loop];
  if (limits.singleRows && step.share.count > 1 && isLast &&
      isa<AffineConstantExpr>(step.emitter.size(step.share.loop)))
    step.share.unrolled = chooseUnrolled(longest / step.share.count);
}

/// Returns true if the last workgroup may have fewer rows than the others.
bool RowKernel::overruns() const {
  auto known = dyn_cast<AffineConstantExpr>(group.rowSizes().back());
  return !known || known.getValue() % plan.rows;
}

bool RowKernel::isWithinLimits() const {
  int64_t iterations = 0;
  llvm::SmallDenseSet<Value> buffers;
  for (const Step &step : steps) {
    if (countIterations(step.emitter) > kMaxIterations) // In this case the op alone cannot be a kernel either.
      return false;
    int64_t tiles = 1;
    if (step.share.count == 1)
      tiles = llvm::divideCeil(std::min(getRange(step.totalExpr, step.emitter.getSymbols()).max, kMaxIterations * 2048),
                               wholeRows ? 1 : limits.block);
    int64_t perStep = countIterations(step.emitter, step.share) + 1;
    if (llvm::MulOverflow(perStep, tiles, perStep) || llvm::AddOverflow(iterations, perStep, iterations))
      return false;
    for (const BufferUse &use : listUses(step.member.op))
      if (llvm::none_of(locals, [&](const Local &local) { return local.buffer == use.view; }))
        buffers.insert(use.root);
  }
  AffineExpr groups = countElements(group.rowSizes(), builder.getContext());
  ExprRange range = getRange(groups, steps.front().emitter.getSymbols());
  return iterations <= kMaxIterations && static_cast<int64_t>(buffers.size()) <= limits.maxBuffers &&
         values.sizes.size() <= kMaxSizes && range.max > 0 && range.min / plan.rows / limits.maxGrid < limits.maxGrid;
}

//===-- Barriers -------------------------------------------------------------------------------------------------===//

namespace {
/// Finds the steps that need a barrier before them. Tracks the reads and writes since the last barrier.
class Hazards {
public:
  /// Elements of a buffer, or of workgroup memory if `root` is null.
  struct Range {
    Value root;
    int64_t begin, end;

    bool touches(const Range &other) const { return root == other.root && begin < other.end && other.begin < end; }
  };

  void read(Range range) { nextReads.push_back(range); }
  void write(Range range) { nextWrites.push_back(range); }
  /// Ends the accesses of a step. Returns true if the step needs a barrier before it.
  bool close() {
    auto touch = [](ArrayRef<Range> some, ArrayRef<Range> others) {
      return llvm::any_of(some, [&](const Range &range) {
        return llvm::any_of(others, [&](const Range &other) { return range.touches(other); });
      });
    };
    bool isNeeded = touch(nextReads, writes) || touch(nextWrites, writes) || touch(nextWrites, reads);
    if (isNeeded) {
      reads.clear();
      writes.clear();
    }
    reads.append(nextReads);
    writes.append(nextWrites);
    nextReads.clear();
    nextWrites.clear();
    return isNeeded;
  }

private:
  SmallVector<Range> reads, writes, nextReads, nextWrites;
};
} // namespace

//===-- Emission -------------------------------------------------------------------------------------------------===//

Value RowKernel::allocate(OpBuilder &b, Type element, int64_t elements) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return memref::AllocOp::create(b, loc, MemRefType::get({elements}, element, MemRefLayoutAttrInterface(), space));
}

/// Emits the condition that row `row` exists. Returns null if it always exists.
Value RowKernel::isRow(OpBuilder &b, Value row) {
  if (!overruns())
    return nullptr;
  AffineExpr size = group.rowSizes().back();
  auto known = dyn_cast<AffineConstantExpr>(size);
  Value end = known ? arith::ConstantIndexOp::create(b, loc, known.getValue()) : values.sizes.lookup(size);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, end);
}

/// Emits the tile with this number in the workgroup if its rows exist.
void RowKernel::emitTile(OpBuilder &b, Step &step, Value number) {
  SmallVector<Value> base = splitNumber(b, loc, step.tile.factors, step.counts, number);
  ArrayRef<unsigned> rows = step.member.loops;
  for (auto [loop, first] : llvm::zip_equal(rows.drop_back(), ArrayRef(rowBase).drop_back()))
    base[loop] = first;
  base[rows.back()] = arith::AddIOp::create(b, loc, rowBase.back(), wholeRows ? lane : base[rows.back()]);
  OpBuilder inside = b;
  if (Value condition = wholeRows ? Value() : isRow(b, base[rows.back()]))
    inside = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder();
  step.emitter.emit(inside, step.tile, base, /*active=*/1, findRagged(step.emitter.shape(), step.tile));
}

/// Emits the tiles of a step. Invocation i computes tile i and every `limits.block`-th tile after it. With whole rows,
/// each invocation computes all tiles of its row.
void RowKernel::emitTiles(OpBuilder &b, Step &step) {
  std::optional<int64_t> total = getConstantIntValue(step.total);
  if (wholeRows) {
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
    Value first = constant(0);
    if (total == 1)
      return emitTile(b, step, first);
    auto loop = scf::ForOp::create(b, loc, first, getValueOrCreateConstantIndexOp(b, loc, step.total), constant(1));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    return emitTile(inside, step, loop.getInductionVar());
  }
  if (total == limits.block)
    return emitTile(b, step, lane);
  Value end = getValueOrCreateConstantIndexOp(b, loc, step.total);
  if (total && *total < limits.block) {
    Value condition = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lane, end);
    OpBuilder inside = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder();
    return emitTile(inside, step, lane);
  }
  Value together = arith::ConstantIndexOp::create(b, loc, limits.block);
  auto loop = scf::ForOp::create(b, loc, lane, end, together);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  emitTile(inside, step, loop.getInductionVar());
}

/// Emits a step whose reductions are shared: invocations compute shares of the reduction of each row and join them
/// pairwise.
void RowKernel::emitShared(OpBuilder &b, Step &step) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Value count = constant(step.share.count), row = rowBase.back();
  step.share.number = lane;
  if (plan.rows > 1) {
    step.share.number = arith::RemUIOp::create(b, loc, lane, count);
    row = arith::AddIOp::create(b, loc, row, arith::DivUIOp::create(b, loc, lane, count));
  }
  SmallVector<Value> base(step.emitter.shape().loops.size());
  for (auto [loop, first] : llvm::zip_equal(step.member.loops, rowBase))
    base[loop] = first;
  Value &last = base[step.member.loops.back()], inside = isRow(b, row);
  last = row;
  if (inside) // All invocations must reach the barriers, so those without a row load an existing one.
    last = arith::SelectOp::create(b, loc, inside, row, rowBase.back());
  Value shares = scratch.lookup(step.emitter.shareType());
  memref::StoreOp::create(b, loc, step.emitter.emitShare(b, base, step.share), shares, lane);
  gpu::BarrierOp::create(b, loc);
  for (int64_t half = step.share.count / 2; half >= 1; half /= 2) {
    Value condition = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, step.share.number, constant(half));
    if (half == 1 && inside)
      condition = arith::AndIOp::create(b, loc, condition, inside);
    OpBuilder joining = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder();
    Value other = arith::AddIOp::create(joining, loc, lane, arith::ConstantIndexOp::create(joining, loc, half));
    Value joined = step.emitter.join(joining, memref::LoadOp::create(joining, loc, shares, lane),
                                     memref::LoadOp::create(joining, loc, shares, other));
    if (half == 1) {
      step.emitter.store(joining, base, joined);
      continue;
    }
    memref::StoreOp::create(joining, loc, joined, shares, lane);
    gpu::BarrierOp::create(b, loc);
  }
}

void RowKernel::emitSteps(OpBuilder &b, gpu::LaunchOp launch, Value number) {
  lane = launch.getThreadIds().x;
  SmallVector<int64_t> factors(group.rowSizes().size(), 1);
  factors.back() = plan.rows;
  SmallVector<OpFoldResult> counts;
  for (auto [size, factor] : llvm::zip_equal(group.rowSizes(), factors))
    counts.push_back(materializeExpr(builder, loc, size.ceilDiv(factor)));
  rowBase = splitNumber(b, loc, factors, counts, number);
  Value memory = plan.elements ? allocate(b, localType, plan.elements) : Value();
  llvm::SmallDenseMap<Value, Hazards::Range> ranges;
  for (auto [local, offset] : llvm::zip_equal(locals, plan.offsets)) {
    Value before =
        arith::MulIOp::create(b, loc, rowBase.back(), arith::ConstantIndexOp::create(b, loc, local.size.perRow));
    Value start = arith::SubIOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, offset), before);
    ranges[local.buffer] = {Value(), offset, offset + local.size.perRow * plan.rows};
    for (Step &step : steps)
      step.emitter.setLocal({local.buffer, memory, local.strides, start});
  }
  for (const Step &step : steps)
    if (step.share.count > 1)
      if (Value &shares = scratch[step.emitter.shareType()]; !shares)
        shares = allocate(b, step.emitter.shareType(), limits.block);
  if (wholeRows) {
    if (Value condition = isRow(b, arith::AddIOp::create(b, loc, rowBase.back(), lane)))
      b = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder();
    for (Step &step : steps)
      emitTiles(b, step);
    return;
  }
  Hazards hazards;
  for (Step &step : steps) {
    for (const BufferUse &use : listUses(step.member.op)) {
      auto local = ranges.find(use.view);
      Hazards::Range range = local == ranges.end() ? Hazards::Range{use.root, 0, 1} : local->second;
      use.writes ? hazards.write(range) : hazards.read(range);
    }
    if (step.share.count > 1)
      hazards.write({Value(), -1, 0}); // The memory of the shares.
    if (hazards.close())
      gpu::BarrierOp::create(b, loc);
    step.share.count > 1 ? emitShared(b, step) : emitTiles(b, step);
  }
}

void RowKernel::emit() {
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> blocks(group.rowSizes());
  blocks.back() = blocks.back().ceilDiv(plan.rows);
  AffineExpr groups = countElements(blocks, context);
  int64_t maxGroups = getRange(groups, steps.front().emitter.getSymbols()).max;
  Launch launch = openWorkgroups(builder, loc, groups, maxGroups, limits.block, limits.maxGrid);
  builder.setInsertionPoint(launch.op);
  emitSteps(launch.inside, launch.op, launch.number);
  sinkScalars(launch.op);
}
