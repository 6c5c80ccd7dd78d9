// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the segments of a block: makes the schedule graph, calls the strategy or the cost plan, breaks groups that
// cannot run together, and places clones. SegmentBuilder.cpp changes the IR. The algorithms are in Scheduling.

#include "SegmentPlan.h"
#include "ColocationGroups.h"
#include "CostPlan.h"
#include "Partition/Analysis/NameRules.h"
#include "Partition/Decide/ArgumentUnpacking.h"
#include "Partition/Decide/NonTensors.h"
#include "inlay/Scheduling/MinSizeSchedule.h"

using namespace mlir;
using namespace inlay;

namespace {
class Planner {
public:
  Planner(const DependencyGraph &graph, TargetList &targets, Decisions &decisions, const ColocationGroups &groups,
          ArrayRef<unsigned> order, const PartitionInfo &info, const ModuleCosts *costs)
      : graph(graph), targets(targets), decisions(decisions), groups(groups), rules(groups.getCloneRules()),
        order(order), info(info), costs(costs), entry(targets, graph.getAliases()) {
    schedule.fewestBytes = info.fewestBytes;
  }

  FailureOr<SegmentPlan> run() {
    makeGraph();
    if (costs)
      costPlan.emplace(graph, groups, order, schedule, targets, *costs, info.minBlockSize);
    std::vector<ScheduleNode> demoted;
    Schedule result = makeSchedule(demoted);
    while (!isByCost() && demoteSmall(result))
      result = makeSchedule(demoted);
    if (std::string problem = checkSchedule(schedule, result); !problem.empty())
      return graph.getBlock().getParentOp()->emitError("the partition is invalid (please report this bug): ")
             << problem;
    SegmentPlan plan;
    plan.segments.reserve(result.segments.size());
    for (ScheduledSegment &segment : result.segments) {
      PlannedSegment planned{segment.target, segment.isIsolated, {}, {}};
      for (NodeId node : segment.nodes)
        for (unsigned op : groups.getMembers(order[node])) {
          decide(op, node, segment.target, demoted);
          planned.ops.push_back(op);
        }
      plan.segments.push_back(std::move(planned));
    }
    plan.lowerBound = result.lowerBound;
    if (costPlan)
      plan.times = costPlan->estimate(result);
    plan.bytesCarried = result.bytesCarried;
    plan.bytesCarriedBefore = result.bytesCarriedBefore;
    for (NodeId node : result.witness)
      plan.witness.push_back(groups.getMembers(order[node]).back());
    placeClones(plan);
    for (PlannedSegment &segment : plan.segments) {
      llvm::sort(segment.ops);
      llvm::sort(segment.clones);
    }
    return plan;
  }

private:
  bool isByCost() const { return info.strategy == Strategy::Cost; }
  /// Returns the minimum block size as an op count of nodes, which has 32 bits. Graphs have fewer ops than the limit.
  int64_t minSize() const { return std::min<int64_t>(info.minBlockSize, UINT32_MAX); }

  /// Returns a schedule. `demoted` is set to the nodes as they were scheduled, with the new targets of demoted nodes.
  Schedule makeSchedule(std::vector<ScheduleNode> &demoted) {
    std::vector<ScheduleNode> asked = schedule.nodes;
    if (isByCost())
      costPlan->place(schedule);
    Schedule result = isByCost() ? scheduleWithMinSize(schedule, Strategy::Levels, 1)
                                 : scheduleWithMinSize(schedule, info.strategy, minSize());
    demoted = std::exchange(schedule.nodes, std::move(asked));
    return result;
  }

  Operation *getOp(unsigned op) const { return graph.getOps()[op]; }

  /// Returns the targets that an op may take. Other targets than that of its decision are only asked if the answer
  /// matters.
  TargetSet findAllowed(unsigned op, bool mayMove) {
    const Decision &decision = decisions[op];
    TargetSet ownTarget = TargetSet(1) << decision.target;
    // An op that the user forced off one accelerator may still leave another one.
    if (!mayMove || (decision.isForced() && !targets.isAccelerator(decision.target)))
      return ownTarget;
    if (graph.getFacts(op).isControlFlow)
      return ownTarget | TargetSet(1) << targets.getControlFlowTarget();
    TargetSet allowed = targets.findRunners(getOp(op));
    // A target must be able to run the clones that the op reads. A list or tuple from elsewhere must be able to enter.
    for (const auto &operand : graph.getOperands(op))
      if (std::optional<unsigned> source = graph.getSource(op, operand); source && rules.isCloned(*source))
        allowed &= rules.runners[*source];
      else if (!source && !mayCrossBorder(operand.value.getType()))
        allowed &= entry.findEnterableTargets(operand.value) | ~targets.getAccelerators();
    return allowed | ownTarget;
  }

  /// Returns true if the op reads a list or tuple that is to be placed with it. The segment of an isolated op cannot
  /// hold it.
  bool readsFloating(unsigned op) const {
    return llvm::any_of(graph.getOperands(op), [&](const auto &operand) {
      std::optional<unsigned> source = graph.getSource(op, operand);
      return source && groups.floats(*source) && !graph.mayCross(operand);
    });
  }

  bool isNeutral(unsigned op) const {
    return graph.getFacts(op).isNeutral && !graph.getFacts(op).isPinned && decisions[op].code == ReasonCode::Supported;
  }

  /// Adds to each node the bytes of its results that other nodes read.
  void addBytes(ArrayRef<NodeId> nodeOf) {
    constexpr int64_t kMaxBytes = int64_t(1) << 36; // Sums over long graphs stay in range.
    std::vector<bool> counted(graph.getNumResults());
    llvm::DenseMap<Type, uint64_t> bytes;
    auto count = [&](Type type) {
      auto [it, isNew] = bytes.try_emplace(type);
      if (isNew)
        it->second = static_cast<uint64_t>(std::min(countBytes(type).value_or(0), kMaxBytes));
      return it->second;
    };
    for (unsigned op = 0; op < graph.size(); ++op)
      for (const auto &[value, definer] : graph.getOperands(op)) {
        if (!definer || groups.floats(*definer) || rules.policies[*definer] == ClonePolicy::Everywhere)
          continue;
        bool isSameGroup = !groups.floats(op) && groups.getGroup(op) == groups.getGroup(*definer);
        unsigned result = graph.getResult(*definer, value);
        if (isSameGroup || counted[result])
          continue;
        counted[result] = true;
        schedule.nodes[nodeOf[groups.getGroup(*definer)]].bytes += count(value.getType());
      }
  }

  /// Returns the op count of a node. An exempt op makes every segment that contains it large enough.
  uint32_t getOpCount(ArrayRef<unsigned> members) const {
    bool exempt = !info.exemptOps.empty() &&
                  llvm::any_of(members, [&](unsigned op) { return matchesAnyName(getOp(op), info.exemptOps); });
    return static_cast<uint32_t>(std::max<int64_t>(members.size(), exempt ? minSize() : 1));
  }

  void makeGraph() {
    std::vector<bool> readsOnlyConstants = findConstantOnly(graph);
    schedule.accelerators = targets.getAccelerators();
    std::vector<NodeId> nodeOf(groups.size());
    schedule.reserve(groups.size(), groups.getEdgeCount());
    for (unsigned number : order) {
      ScheduleNode node;
      ArrayRef<unsigned> members = groups.getMembers(number);
      node.target = static_cast<TargetIndex>(decisions[members.front()].target);
      node.neutral = llvm::all_of(members, [&](unsigned op) { return isNeutral(op); });
      // A cost model compares all placements, but moves no op to an earlier target than that of its decision.
      bool mayMove = node.neutral || costs || (info.minBlockSize > 1 && schedule.isAccelerator(node.target));
      TargetSet later = node.neutral ? ~TargetSet(0) : ~TargetSet(0) << node.target;
      node.allowed = later;
      node.sinkable = true;
      for (unsigned op : members) {
        const PartitionOpInfo &facts = graph.getFacts(op);
        node.allowed &= findAllowed(op, mayMove);
        node.sinkable &= readsOnlyConstants[op];
        node.isolatedOnHost |= facts.isControlFlow;
        node.isolated |= facts.isIsolated;
        node.pinned |= facts.isPinned || (node.isolatedOnHost && readsFloating(op));
      }
      node.pinned |= node.isolatedOnHost && members.size() > 1; // On the host it would have to be isolated.
      node.neutral &= !node.isolated;
      node.opCount = getOpCount(members);
      nodeOf[number] = schedule.add(node);
      for (unsigned before : groups.getPredecessors(number))
        schedule.addEdge(nodeOf[before], nodeOf[number]);
    }
    addBytes(nodeOf);
    schedule.seal();
  }

  /// Demotes segments that are too small because isolated nodes separate them from others. Returns true if any node was
  /// demoted.
  bool demoteSmall(const Schedule &result) {
    if (llvm::none_of(schedule.nodes, [](const ScheduleNode &node) { return node.isolated; }))
      return false;
    bool changed = false;
    for (const ScheduledSegment &segment : result.segments) {
      int64_t opCount = 0;
      for (NodeId node : segment.nodes)
        opCount += schedule.nodes[node].opCount;
      if (!schedule.isAccelerator(segment.target) || opCount >= minSize())
        continue;
      for (NodeId node : segment.nodes) {
        TargetIndex lower = schedule.demoted(node, segment.target);
        if (lower == segment.target)
          continue;
        schedule.nodes[node].target = lower;
        schedule.nodes[node].neutral = false;
        changed = true;
      }
    }
    return changed;
  }

  /// Updates the decision if the segment has another target.
  void decide(unsigned op, NodeId node, unsigned target, ArrayRef<ScheduleNode> demoted) {
    Decision &decision = decisions[op];
    if (decision.target == target)
      return;
    std::string name = targets.getName(decision.target).str();
    if (isByCost())
      decision = {target, ReasonCode::Cost, costPlan->explain(node), ""};
    else if (demoted[node].neutral)
      decision = {target, ReasonCode::Cost,
                  "joins its neighbors, since a separate segment on '" + name + "' would cost more", ""};
    else
      decision = {target, ReasonCode::MinBlockSize,
                  "fewer than " + std::to_string(info.minBlockSize) + " ops would run together on '" + name + "'", ""};
  }

  /// Returns the segment for the original of a floating op, among the segments that need it: the first one on the
  /// target of its decision, else the first one. Segments of isolated ops are only a last resort.
  unsigned findHome(unsigned op, const SegmentPlan &plan, ArrayRef<unsigned> needed) const {
    std::optional<unsigned> home;
    for (unsigned segment : needed) {
      if (plan.segments[segment].doNotMerge)
        continue;
      if (plan.segments[segment].target == decisions[op].target)
        return segment;
      home = home.value_or(segment);
    }
    return home.value_or(needed.front());
  }

  void settle(unsigned op, unsigned home, SegmentPlan &plan) {
    PlannedSegment &segment = plan.segments[home];
    segment.ops.push_back(op);
    if (decisions[op].target == segment.target)
      return;
    if (targets.isAccelerator(segment.target))
      decisions[op] = {segment.target, ReasonCode::Supported, "", ""};
    else if (graph.getFacts(op).makesNonTensor)
      decisions[op] = {segment.target, ReasonCode::NonTensor, "its result is needed outside of accelerators", ""};
    else
      decisions[op] = {segment.target, ReasonCode::Cost, "runs where its result is used", ""};
  }

  /// Returns true if an op in `segment` can read the original in `home`.
  bool readsOriginal(unsigned op, unsigned home, unsigned segment, const SegmentPlan &plan) const {
    auto isAccelerated = [&](unsigned number) { return targets.isAccelerator(plan.segments[number].target); };
    if (segment == home || rules.policies[op] == ClonePolicy::Everywhere)
      return segment == home;
    return segment > home && !isAccelerated(segment) && !isAccelerated(home);
  }

  /// Puts the original of each floating op into the segment of a user, and clones into segments that cannot read it.
  void placeClones(SegmentPlan &plan) {
    constexpr unsigned kNoSegment = ~0u;
    std::vector<unsigned> home(graph.size(), kNoSegment);
    std::vector<SmallVector<unsigned, 1>> clones(graph.size());
    for (auto [number, segment] : llvm::enumerate(plan.segments))
      for (unsigned op : segment.ops)
        home[op] = static_cast<unsigned>(number);
    for (unsigned op = graph.size(); op-- > 0;) {
      if (!rules.isCloned(op))
        continue;
      SmallVector<unsigned> needed; // Segments with a user, or with a clone of one.
      for (unsigned user : rules.users[op]) {
        needed.push_back(home[user]);
        llvm::append_range(needed, clones[user]);
      }
      llvm::sort(needed);
      needed.erase(llvm::unique(needed), needed.end());
      if (home[op] == kNoSegment)
        settle(op, home[op] = findHome(op, plan, needed), plan);
      for (unsigned segment : needed) {
        if (readsOriginal(op, home[op], segment, plan))
          continue;
        plan.segments[segment].clones.push_back(op);
        clones[op].push_back(segment);
      }
    }
  }

  const DependencyGraph &graph;
  TargetList &targets;
  Decisions &decisions;
  const ColocationGroups &groups;
  const CloneRules &rules;
  ArrayRef<unsigned> order;
  const PartitionInfo &info;
  const ModuleCosts *costs;
  ArgumentTargets entry;
  ScheduleGraph schedule;
  std::optional<CostPlan> costPlan;
};
} // namespace

/// Returns the groups with several members one of which must be isolated.
static SmallVector<unsigned> findIsolatedGroups(const DependencyGraph &graph, const ColocationGroups &groups) {
  SmallVector<unsigned> result;
  for (unsigned number = 0; number < groups.size(); ++number) {
    ArrayRef<unsigned> members = groups.getMembers(number);
    auto isIsolated = [&](unsigned op) { return graph.getFacts(op).isIsolated; };
    if (members.size() > 1 && llvm::any_of(members, isIsolated))
      result.push_back(number);
  }
  return result;
}

/// Moves the members of groups that cannot run together to a target where values may pass freely: groups on a cycle,
/// and groups with a member that must be isolated.
static LogicalResult breakGroups(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                 const ColocationGroups &groups, ArrayRef<unsigned> broken) {
  for (unsigned number : broken) {
    ArrayRef<unsigned> members = groups.getMembers(number);
    for (unsigned op : members) {
      std::optional<unsigned> target = targets.findFallback(graph.getOps()[op]);
      if (!target || graph.getFacts(op).isPinned)
        return graph.getOps()[op]->emitError("no target can run the op: its values can't leave '")
               << targets.getName(decisions[op].target) << "', but an op between it and another user runs elsewhere";
      unsigned other = op == members.front() ? members.back() : members.front();
      decisions[op] = {*target, ReasonCode::NonTensor,
                       "can't share a segment with the op that it exchanges a non-tensor value with",
                       getLabel(graph.getOps()[other]).str()};
    }
  }
  return success();
}

FailureOr<SegmentPlan> inlay::planSegments(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                           const PartitionInfo &info, const ModuleCosts *costs) {
  while (true) {
    ColocationGroups groups(graph, targets, decisions);
    SmallVector<unsigned> isolated = findIsolatedGroups(graph, groups), order, onCycles;
    if (isolated.empty() && groups.order(order, onCycles))
      return Planner(graph, targets, decisions, groups, order, info, costs).run();
    if (failed(breakGroups(graph, targets, decisions, groups, isolated.empty() ? onCycles : isolated)) ||
        failed(keepNonTensorsTogether(graph, targets, decisions)))
      return failure();
  }
}
