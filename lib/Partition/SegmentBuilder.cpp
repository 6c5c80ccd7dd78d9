// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/SegmentBuilder.h"
#include "inlay/Partition/OpKinds.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

namespace {
class BlockSegmenter {
public:
  BlockSegmenter(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets)
      : graph(graph), plan(plan), targets(targets), block(graph.getBlock()), builder(block.getParentOp()) {}

  void run() {
    contents.resize(plan.segments.size());
    for (auto [number, segment] : llvm::enumerate(plan.segments))
      for (unsigned op : segment.ops) {
        home[graph.getOps()[op]] = static_cast<unsigned>(number);
        contents[number].push_back(graph.getOps()[op]);
      }
    for (unsigned number = 0; number < contents.size(); ++number)
      addClones(number);
    for (unsigned number = 0; number < contents.size(); ++number)
      build(number);
    eraseDeadConstants();
  }

private:
  /// The segment of the op of this block that is or holds `user`; nothing for the terminator.
  std::optional<unsigned> getSegment(Operation *user) const {
    auto it = home.find(block.findAncestorOpInBlock(*user));
    return it == home.end() ? std::nullopt : std::optional(it->second);
  }

  /// Copies ops of other segments in before their users; each copy keeps its original's place in program order.
  void addClones(unsigned number) {
    const PlannedSegment &segment = plan.segments[number];
    if (segment.clones.empty())
      return;
    std::vector<std::pair<unsigned, Operation *>> ordered;
    for (unsigned op : segment.ops)
      ordered.emplace_back(op, graph.getOps()[op]);
    // Users first: what a copy reads is then replaced like what the segment's own ops read.
    for (unsigned op : llvm::reverse(segment.clones)) {
      Operation *original = graph.getOps()[op];
      builder.setInsertionPoint(original);
      Operation *clone = builder.clone(*original);
      clone->removeAttr(InlayDialect::kVerdictAttr);
      clone->setAttr(InlayDialect::kCloneAttr, builder.getUnitAttr());
      home[clone] = number;
      ordered.emplace_back(op, clone);
      for (auto [result, copy] : llvm::zip(original->getResults(), clone->getResults()))
        result.replaceUsesWithIf(copy, [&](OpOperand &use) { return getSegment(use.getOwner()) == number; });
    }
    llvm::sort(ordered);
    contents[number].clear();
    for (auto [op, operation] : ordered)
      contents[number].push_back(operation);
  }

  /// Calls `visit` on each operand of the segment's ops, nested ones included.
  template <typename Visit>
  void forEachOperand(unsigned number, Visit visit) {
    for (Operation *op : contents[number])
      op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
        for (OpOperand &operand : nested->getOpOperands())
          visit(operand);
      });
  }

  /// True if the value is defined outside of the segment's ops.
  bool comesFromOutside(Value value, unsigned number) const {
    if (Operation *definer = value.getDefiningOp(); definer && definer->getBlock() == &block)
      return getSegment(definer) != number;
    // In or around one of the block's ops.
    Operation *owner = value.getParentBlock()->getParentOp();
    if (Operation *ancestor = owner ? block.findAncestorOpInBlock(*owner) : nullptr)
      return getSegment(ancestor) != number;
    return true;
  }

  SmallVector<Value> findOutputs(unsigned number) const {
    SmallVector<Value> outputs;
    for (Operation *op : contents[number])
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return getSegment(user) != number; }))
          outputs.push_back(result);
    return outputs;
  }

  void build(unsigned number) {
    const PlannedSegment &planned = plan.segments[number];
    SmallVector<Value> outputs = findOutputs(number);
    llvm::SetVector<Value> inputs;
    llvm::SetVector<Operation *> constants;
    forEachOperand(number, [&](OpOperand &operand) {
      Operation *definer = operand.get().getDefiningOp();
      if (!comesFromOutside(operand.get(), number))
        return;
      if (definer && isConstantLike(definer))
        constants.insert(definer);
      else
        inputs.insert(operand.get());
    });
    builder.setInsertionPoint(block.getTerminator());
    auto segment = SegmentOp::create(builder, contents[number].front()->getLoc(), TypeRange(ValueRange(outputs)),
                                     inputs.getArrayRef(), targets.getAttr(planned.target), planned.doNotMerge);
    Block &body = segment.getBody().emplaceBlock();
    IRMapping inside;
    for (Value input : inputs)
      inside.map(input, body.addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToStart(&body);
    for (Operation *constant : constants)
      builder.clone(*constant, inside);
    forEachOperand(number, [&](OpOperand &operand) {
      if (Value mapped = inside.lookupOrNull(operand.get()))
        operand.set(mapped);
    });
    moveInto(segment, number, outputs);
  }

  void moveInto(SegmentOp segment, unsigned number, ArrayRef<Value> outputs) {
    Block &body = segment.getBody().front();
    // While the ops are still in the block, uses elsewhere are told from uses in the segment.
    for (auto [value, result] : llvm::zip(outputs, segment.getResults())) {
      Value output = value;
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return getSegment(use.getOwner()) != number; });
    }
    for (Operation *op : contents[number])
      op->moveBefore(&body, body.end());
    builder.setInsertionPointToEnd(&body);
    YieldOp::create(builder, segment.getLoc(), ValueRange(outputs));
    home[segment] = number;
  }

  void eraseDeadConstants() {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isConstantLike(&op) && op.use_empty())
        op.erase();
    for (Operation &op : block)
      if (auto segment = dyn_cast<SegmentOp>(op))
        for (Operation &inner : llvm::make_early_inc_range(segment.getBody().front()))
          if (isConstantLike(&inner) && inner.use_empty())
            inner.erase();
  }

  const DependencyGraph &graph;
  const SegmentPlan &plan;
  const TargetList &targets;
  Block &block;
  OpBuilder builder;
  llvm::DenseMap<Operation *, unsigned> home;
  std::vector<SmallVector<Operation *>> contents;
};
} // namespace

void inlay::buildSegments(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets) {
  BlockSegmenter(graph, plan, targets).run();
}
