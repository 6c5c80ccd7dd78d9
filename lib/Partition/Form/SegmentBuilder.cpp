// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operand is visited twice and set at most once. Values are mapped where they are read. Uses are never searched,
// since a value may have as many uses as there are ops.

#include "SegmentBuilder.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/ArgumentUnpacking.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

/// Calls `visit` on each operand of the op and its nested ops that is not defined in the op's regions.
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
        home(graph.size()), clones(plan.segments.size()), leaving(graph.getNumResults()),
        outside(graph.getNumResults()) {}

  void run() {
    for (auto [number, segment] : llvm::enumerate(plan.segments))
      for (unsigned op : segment.ops)
        home[op] = static_cast<unsigned>(number);
    for (unsigned number = 0; number < plan.segments.size(); ++number)
      prepare(number);
    Operation *terminator = block.getTerminator();
    forEachOperand(terminator, [&](OpOperand &operand) {
      if (std::optional<unsigned> definer = graph.getDefiner(operand.get()))
        leaving[graph.getResult(*definer, operand.get())] = true;
    });
    for (unsigned number = 0; number < plan.segments.size(); ++number)
      build(number);
    forEachOperand(terminator, [&](OpOperand &operand) {
      operand.set(getOutside({operand.get(), graph.getDefiner(operand.get())}));
    });
    eraseDeadConstants();
  }

private:
  using Operand = DependencyGraph::Operand;

  Operation *getOp(unsigned op) const { return graph.getOps()[op]; }

  /// Calls `visit` on the values, except constants, that the segment's ops and clones read and that the segment does
  /// not define.
  template <typename Visit>
  void forEachInput(unsigned number, Visit visit) const {
    const PlannedSegment &segment = plan.segments[number];
    auto visitOp = [&](unsigned op) {
      for (const Operand &operand : graph.getOperands(op)) {
        bool isInside =
            operand.definer && (home[*operand.definer] == number ||
                                std::binary_search(segment.clones.begin(), segment.clones.end(), *operand.definer));
        if (!isInside)
          visit(operand);
      }
    };
    llvm::for_each(segment.ops, visitOp);
    llvm::for_each(segment.clones, visitOp);
  }

  /// Records the results that leave the segments of their ops, and creates the clones. The operands of an original are
  /// replaced only when its segment is built.
  void prepare(unsigned number) {
    forEachInput(number, [&](const Operand &operand) {
      if (operand.definer)
        leaving[graph.getResult(*operand.definer, operand.value)] = true;
    });
    for (unsigned op : plan.segments[number].clones) {
      Operation *clone = getOp(op)->clone();
      clone->removeAttr(InlayDialect::kVerdictAttr);
      clone->setAttr(InlayDialect::kCloneAttr, builder.getUnitAttr());
      clones[number].push_back(clone);
    }
  }

  /// Returns the values that leave the segment, and their numbers.
  std::pair<SmallVector<Value>, SmallVector<unsigned>> findOutputs(const PlannedSegment &segment) const {
    SmallVector<Value> outputs;
    SmallVector<unsigned> numbers;
    for (unsigned op : segment.ops)
      for (auto [number, result] : llvm::enumerate(getOp(op)->getResults()))
        if (leaving[graph.getFirstResult(op) + number]) {
          outputs.push_back(result);
          numbers.push_back(graph.getFirstResult(op) + static_cast<unsigned>(number));
        }
    return {std::move(outputs), std::move(numbers)};
  }

  /// Returns the value that stands for the operand outside of the segment of its op.
  Value getOutside(const Operand &operand) const {
    Value result = operand.definer ? outside[graph.getResult(*operand.definer, operand.value)] : Value();
    return result ? result : operand.value;
  }

  void build(unsigned number) {
    const PlannedSegment &planned = plan.segments[number];
    auto [outputs, numbers] = findOutputs(planned);
    SmallVector<Value> inputs;
    llvm::SmallSetVector<Value, 8> read;
    forEachInput(number, [&](const Operand &operand) {
      if (!read.insert(operand.value))
        return;
      if (isUnpacked(operand.value, planned.target))
        llvm::append_range(inputs, unpackArgument(operand.value, block));
      else
        inputs.push_back(getOutside(operand));
    });
    builder.setInsertionPoint(block.getTerminator());
    unsigned first = planned.ops.front();
    if (!planned.clones.empty())
      first = std::min(first, planned.clones.front());
    auto segment = SegmentOp::create(builder, getOp(first)->getLoc(), TypeRange(ValueRange(outputs)), inputs,
                                     targets.getAttr(planned.target), planned.doNotMerge);
    Block &body = segment.getBody().emplaceBlock();
    inside.clear();
    builder.setInsertionPointToStart(&body);
    for (Value value : read)
      inside.map(value, isUnpacked(value, planned.target) ? repack(value, body)
                                                          : body.addArgument(value.getType(), value.getLoc()));
    copyConstants(number);
    fill(number, body);
    builder.setInsertionPointToEnd(&body);
    YieldOp::create(builder, segment.getLoc(), ValueRange(outputs));
    for (auto [output, result] : llvm::zip(numbers, segment.getResults()))
      outside[output] = result;
  }

  bool isUnpacked(Value value, unsigned target) const {
    return !mayCrossBorder(value.getType()) && targets.isAccelerator(target) && findUnpackedTypes(value);
  }

  /// Repacks the list or tuple from its elements, which enter the segment.
  Value repack(Value argument, Block &body) {
    SmallVector<Value> elements;
    for (Value element : unpackArgument(argument, block))
      elements.push_back(body.addArgument(element.getType(), element.getLoc()));
    return repackArgument(builder, argument, elements);
  }

  void copyConstants(unsigned number) {
    auto visitOp = [&](unsigned op, Operation *reader) {
      if (!graph.usesConstants(op))
        return;
      forEachOperand(reader, [&](OpOperand &operand) {
        Operation *definer = operand.get().getDefiningOp();
        if (definer && isConstantLike(definer) && !inside.contains(operand.get()))
          builder.clone(*definer, inside);
      });
    };
    for (unsigned op : plan.segments[number].ops)
      visitOp(op, getOp(op));
    for (auto [op, clone] : llvm::zip(plan.segments[number].clones, clones[number]))
      visitOp(op, clone);
  }

  /// Moves the segment's ops and clones to the end of its body, in the program order of the ops and originals.
  void fill(unsigned number, Block &body) {
    auto mapOperands = [&](Operation *op) {
      forEachOperand(op, [&](OpOperand &operand) {
        if (Value mapped = inside.lookupOrNull(operand.get()))
          operand.set(mapped);
      });
    };
    const PlannedSegment &planned = plan.segments[number];
    size_t next = 0;
    auto addClonesBefore = [&](unsigned op) {
      for (; next < planned.clones.size() && planned.clones[next] < op; ++next) {
        Operation *clone = clones[number][next];
        mapOperands(clone);
        body.push_back(clone);
        inside.map(getOp(planned.clones[next])->getResults(), clone->getResults());
      }
    };
    for (unsigned op : planned.ops) {
      addClonesBefore(op);
      mapOperands(getOp(op));
      getOp(op)->moveBefore(&body, body.end());
    }
    addClonesBefore(graph.size());
  }

  void eraseDeadConstants() {
    for (Operation *op : graph.getConstants())
      if (op->use_empty())
        op->erase();
  }

  const DependencyGraph &graph;
  const SegmentPlan &plan;
  const TargetList &targets;
  Block &block;
  OpBuilder builder;
  std::vector<unsigned> home;                      ///< The segment of each op.
  std::vector<SmallVector<Operation *, 0>> clones; ///< The clones of each segment.
  // By result number of the graph: true if the result is read outside of the segment of its op, and the result of the
  // segment that stands for it.
  std::vector<bool> leaving;
  std::vector<Value> outside;
  IRMapping inside; ///< Maps values to those that stand for them in the segment that is being built.
};
} // namespace

void inlay::buildSegments(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets) {
  BlockSegmenter(graph, plan, targets).run();
}
