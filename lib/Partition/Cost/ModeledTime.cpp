// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up the modeled time of a partitioned function by segment. OpWork.cpp counts work, ModuleCosts.cpp selects the
// costs, and Form/CostPlan.cpp uses the model to place ops.

#include "ModeledTime.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Partition/OpWork.h"

using namespace mlir;
using namespace inlay;

namespace {
class TimeModeler {
public:
  TimeModeler(const ModuleCosts &costs, const TargetList &targets) : costs(costs), targets(targets) {}

  /// Returns the seconds of the segments of the block.
  double model(Block &block) {
    double total = 0;
    for (SegmentOp segment : block.getOps<SegmentOp>()) {
      SegmentTime time = model(segment);
      total += time.total();
      result.segments[segment] = time;
    }
    return total;
  }

  ModeledTimes result;

private:
  std::optional<unsigned> findTarget(SegmentOp segment) const {
    for (unsigned target = 0; target < targets.size(); ++target)
      if (targets.getAttr(target) == segment.getTarget())
        return target;
    return std::nullopt;
  }

  SegmentTime model(SegmentOp segment) {
    SegmentTime time;
    std::optional<unsigned> target = findTarget(segment);
    if (!target)
      return time;
    time.launch = costs.of(*target).launchSeconds;
    for (Operation &op : segment.getBody().front().without_terminator())
      time.compute += holdsSegments(&op) ? modelRegions(&op) : costs.estimate(&op, *target);
    for (Value input : segment.getInputs())
      if (!costs.of(*target).in.isFree() && isElsewhere(input, *target) && transferred.insert({input, *target}).second)
        time.transferIn += costs.of(*target).in.estimate(estimateBytes(input.getType()));
    for (Value output : segment.getOutputs())
      if (isReadElsewhere(output, *target))
        time.transferOut += costs.of(*target).out.estimate(estimateBytes(output.getType()));
    return time;
  }

  static bool holdsSegments(Operation *op) {
    return isControlFlow(op) && llvm::any_of(op->getRegions(), [](Region &region) {
             return !region.empty() && !region.front().getOps<SegmentOp>().empty();
           });
  }

  double modelRegions(Operation *op) {
    double sum = 0, longest = 0;
    for (Region &region : op->getRegions()) {
      double seconds = region.empty() ? 0 : model(region.front());
      sum += seconds;
      longest = std::max(longest, seconds);
    }
    return combineRegions(op, sum, longest);
  }

  bool isElsewhere(Value value, unsigned target) const {
    if (Operation *maker = value.getDefiningOp(); maker && isConstantLike(maker))
      return false;
    auto segment = value.getDefiningOp<SegmentOp>();
    return !segment || findTarget(segment) != target;
  }

  bool isReadElsewhere(Value value, unsigned target) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto segment = dyn_cast<SegmentOp>(user);
      return !segment || findTarget(segment) != target;
    });
  }

  const ModuleCosts &costs;
  const TargetList &targets;
  llvm::DenseSet<std::pair<Value, unsigned>> transferred;
};
} // namespace

ModeledTimes inlay::modelTimes(FunctionOpInterface function, const ModuleCosts &costs, const TargetList &targets) {
  TimeModeler modeler(costs, targets);
  modeler.result.total = modeler.model(function.front());
  return std::move(modeler.result);
}
