// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operand is looked at twice and set at most once: values are mapped where they are read, never searched for by
// their uses, of which a value may have as many as there are ops.

#include "inlay/Partition/SegmentBuilder.h"
#include "inlay/Partition/OpKinds.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

/// Calls `visit` on each operand of the op, nested ones included, that is no value of its own regions.
template <typename Visit>
static void forEachOperand(Operation *op, Visit visit) {
  if (op->getNumRegions() == 0) {
    for (OpOperand &operand : op->getOpOperands())
      visit(operand);
    return;
  }
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands()) {
      Region *region = operand.get().getParentRegion();
      if (!region || !op->isAncestor(region->getParentOp()))
        visit(operand);
    }
  });
}

namespace {
class BlockSegmenter {
public:
  BlockSegmenter(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets)
      : graph(graph), plan(plan), targets(targets), block(graph.getBlock()), builder(block.getParentOp()),
        home(graph.size()), borders(plan.segments.size()) {}

  void run() {
    for (auto [number, segment] : llvm::enumerate(plan.segments))
      for (unsigned op : segment.ops)
        home[op] = static_cast<unsigned>(number);
    for (unsigned number = 0; number < borders.size(); ++number)
      findInputs(number);
    Operation *terminator = block.getTerminator();
    for (Value value : terminator->getOperands())
      if (std::optional<unsigned> definer = graph.getDefiner(value))
        leaving.insert(value);
    for (unsigned number = 0; number < borders.size(); ++number)
      build(number);
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(outside.lookupOrDefault(operand.get()));
    eraseDeadConstants();
  }

private:
  struct Border {
    llvm::SetVector<Value> inputs;
    llvm::SetVector<Operation *> constants;
    SmallVector<Operation *> copies; ///< of the segment's clones
  };

  Operation *getOp(unsigned op) const { return graph.getOps()[op]; }

  /// What the segment's ops and copies read that it doesn't hold; notes which results leave the segment of their op.
  void findInputs(unsigned number) {
    const PlannedSegment &segment = plan.segments[number];
    auto visit = [&](OpOperand &operand) {
      Value value = operand.get();
      std::optional<unsigned> definer = graph.getDefiner(value);
      if (definer) {
        bool isCopied = std::binary_search(segment.clones.begin(), segment.clones.end(), *definer);
        if (home[*definer] == number || isCopied)
          return;
        leaving.insert(value);
      } else if (Operation *op = value.getDefiningOp(); op && isConstantLike(op)) {
        borders[number].constants.insert(op);
        return;
      }
      borders[number].inputs.insert(value);
    };
    for (unsigned op : segment.ops)
      forEachOperand(getOp(op), visit);
    // Copied now: what the original reads is replaced once its own segment is built.
    for (unsigned op : segment.clones) {
      Operation *copy = getOp(op)->clone();
      copy->removeAttr(InlayDialect::kVerdictAttr);
      copy->setAttr(InlayDialect::kCloneAttr, builder.getUnitAttr());
      borders[number].copies.push_back(copy);
      forEachOperand(copy, visit);
    }
  }

  SmallVector<Value> findOutputs(const PlannedSegment &segment) const {
    SmallVector<Value> outputs;
    for (unsigned op : segment.ops)
      for (Value result : getOp(op)->getResults())
        if (leaving.contains(result))
          outputs.push_back(result);
    return outputs;
  }

  void build(unsigned number) {
    const PlannedSegment &planned = plan.segments[number];
    Border &border = borders[number];
    SmallVector<Value> outputs = findOutputs(planned);
    SmallVector<Value> inputs =
        llvm::map_to_vector(border.inputs, [&](Value input) { return outside.lookupOrDefault(input); });
    builder.setInsertionPoint(block.getTerminator());
    unsigned first = planned.ops.front();
    if (!planned.clones.empty())
      first = std::min(first, planned.clones.front());
    auto segment = SegmentOp::create(builder, getOp(first)->getLoc(), TypeRange(ValueRange(outputs)), inputs,
                                     targets.getAttr(planned.target), planned.doNotMerge);
    Block &body = segment.getBody().emplaceBlock();
    IRMapping inside;
    for (Value input : border.inputs)
      inside.map(input, body.addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToStart(&body);
    for (Operation *constant : border.constants)
      builder.clone(*constant, inside);
    fill(planned, border, body, inside);
    builder.setInsertionPointToEnd(&body);
    YieldOp::create(builder, segment.getLoc(), ValueRange(outputs));
    outside.map(outputs, segment.getResults());
    border = {};
  }

  /// Moves the segment's ops and copies to the end of its body, in the program order of the ops and originals.
  void fill(const PlannedSegment &planned, Border &border, Block &body, IRMapping &inside) {
    auto mapOperands = [&](Operation *op) {
      forEachOperand(op, [&](OpOperand &operand) {
        if (Value mapped = inside.lookupOrNull(operand.get()))
          operand.set(mapped);
      });
    };
    size_t copied = 0;
    auto addCopiesBefore = [&](unsigned op) {
      for (; copied < planned.clones.size() && planned.clones[copied] < op; ++copied) {
        mapOperands(border.copies[copied]);
        body.push_back(border.copies[copied]);
        inside.map(getOp(planned.clones[copied])->getResults(), border.copies[copied]->getResults());
      }
    };
    for (unsigned op : planned.ops) {
      addCopiesBefore(op);
      mapOperands(getOp(op));
      getOp(op)->moveBefore(&body, body.end());
    }
    addCopiesBefore(graph.size());
  }

  void eraseDeadConstants() {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isConstantLike(&op) && op.use_empty())
        op.erase();
  }

  const DependencyGraph &graph;
  const SegmentPlan &plan;
  const TargetList &targets;
  Block &block;
  OpBuilder builder;
  std::vector<unsigned> home;
  std::vector<Border> borders;
  llvm::DenseSet<Value> leaving; ///< results that are read outside of the segment of their op
  IRMapping outside;             ///< from these to the results of segments
};
} // namespace

void inlay::buildSegments(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets) {
  BlockSegmenter(graph, plan, targets).run();
}
