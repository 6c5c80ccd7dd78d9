// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SegmentPlan.h"
#include "ColocationGroups.h"
#include "CostPlan.h"
#include "Partition/Decide/ArgumentUnpacking.h"
#include "Partition/Decide/NameRules.h"
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
      return graph.getBlock().getParentOp()->emitError("the partition is not sound (please report this): ") << problem;
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
  /// As a weight, which no graph reaches by its ops alone where more is asked for.
  int64_t minSize() const { return std::min<int64_t>(info.minBlockSize, UINT32_MAX); }

  /// Gives the nodes as they were scheduled: those that are demoted have a new target.
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

  /// Colours an op may take beside that of its decision; asked of the targets only where the answer matters.
  TargetSet findAllowed(unsigned op, bool mayMove) {
    const Decision &decision = decisions[op];
    TargetSet ownTarget = TargetSet(1) << decision.target;
    // What the user keeps off one accelerator may still leave another.
    if (!mayMove || (decision.isForced() && !targets.isAccelerator(decision.target)))
      return ownTarget;
    if (graph.getFacts(op).isControlFlow)
      return ownTarget | TargetSet(1) << targets.getControlFlowTarget();
    TargetSet allowed = targets.findRunners(getOp(op));
    // What reads a copy takes it along; a list or tuple from elsewhere must be able to enter.
    for (const auto &operand : graph.getOperands(op))
      if (std::optional<unsigned> source = graph.getSource(op, operand); source && rules.isCloned(*source))
        allowed &= rules.runners[*source];
      else if (!source && !mayCrossBorder(operand.value.getType()))
        allowed &= entry.findEnterableTargets(operand.value) | ~targets.getAccelerators();
    return allowed | ownTarget;
  }

  /// True if a list or tuple that the op reads is to be placed with it: a segment of a single op has no room for that.
  bool readsFloating(unsigned op) const {
    return llvm::any_of(graph.getOperands(op), [&](const auto &operand) {
      std::optional<unsigned> source = graph.getSource(op, operand);
      return source && groups.floats(*source) && !graph.mayCross(operand);
    });
  }

  bool isFree(unsigned op) const {
    return graph.getFacts(op).isNeutral && !graph.getFacts(op).isPinned && decisions[op].code == ReasonCode::Supported;
  }

  /// Adds to each node what others read of its ops' results.
  void addBytes(ArrayRef<NodeId> nodeOf) {
    constexpr int64_t kMax = int64_t(1) << 36; // so that sums over long graphs stay in range
    std::vector<bool> counted(graph.getNumResults());
    llvm::DenseMap<Type, uint64_t> bytes;
    auto count = [&](Type type) {
      auto [it, isNew] = bytes.try_emplace(type);
      if (isNew)
        it->second = static_cast<uint64_t>(std::min(countBytes(type).value_or(0), kMax));
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

  /// An exempt op makes any segment that it is in large enough.
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
      node.neutral = llvm::all_of(members, [&](unsigned op) { return isFree(op); });
      // A cost model compares all placements, and moves no op to a target before the one that it was given.
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
      node.pinned |= node.isolatedOnHost && members.size() > 1; // on the host it would have to be alone
      node.neutral &= !node.isolated;
      node.opCount = getOpCount(members);
      nodeOf[number] = schedule.add(node);
      for (unsigned before : groups.getPredecessors(number))
        schedule.addEdge(nodeOf[before], nodeOf[number]);
    }
    addBytes(nodeOf);
    schedule.seal();
  }

  /// Demotes what is too small because a node that is a segment of its own parts it from the rest. True if anything is.
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

  /// Brings the decision in line with the segment's target.
  void decide(unsigned op, NodeId node, unsigned target, ArrayRef<ScheduleNode> demoted) {
    Decision &decision = decisions[op];
    if (decision.target == target)
      return;
    std::string name = targets.getName(decision.target).str();
    if (isByCost())
      decision = {target, ReasonCode::Cost, costPlan->explain(node), ""};
    else if (demoted[node].neutral)
      decision = {target, ReasonCode::Cost,
                  "joins its neighbours: a segment of its own on '" + name + "' would cost more", ""};
    else
      decision = {target, ReasonCode::MinBlockSize,
                  "fewer than " + std::to_string(info.minBlockSize) + " ops would run together on '" + name + "'", ""};
  }

  /// Where the original of what floats goes, of the segments that need it: the first on the target of its decision,
  /// else the first; never one that must hold a single op.
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
      decisions[op] = {segment.target, ReasonCode::NonTensor, "its result is needed on no accelerator", ""};
    else
      decisions[op] = {segment.target, ReasonCode::Cost, "runs where its result is used", ""};
  }

  /// Whether an op in `segment` can read the original in `home`.
  bool readsOriginal(unsigned op, unsigned home, unsigned segment, const SegmentPlan &plan) const {
    auto isAccelerated = [&](unsigned number) { return targets.isAccelerator(plan.segments[number].target); };
    if (segment == home || rules.policies[op] == ClonePolicy::Everywhere)
      return segment == home;
    return segment > home && !isAccelerated(segment) && !isAccelerated(home);
  }

  /// Puts the original of each op that floats into the segment of a user, and copies where users can't read it.
  void placeClones(SegmentPlan &plan) {
    constexpr unsigned kNone = ~0u;
    std::vector<unsigned> home(graph.size(), kNone);
    std::vector<SmallVector<unsigned, 1>> copies(graph.size());
    for (auto [number, segment] : llvm::enumerate(plan.segments))
      for (unsigned op : segment.ops)
        home[op] = static_cast<unsigned>(number);
    for (unsigned op = graph.size(); op-- > 0;) {
      if (!rules.isCloned(op))
        continue;
      SmallVector<unsigned> needed; // segments with a user, or with a copy of one
      for (unsigned user : rules.users[op]) {
        needed.push_back(home[user]);
        llvm::append_range(needed, copies[user]);
      }
      llvm::sort(needed);
      needed.erase(llvm::unique(needed), needed.end());
      if (home[op] == kNone)
        settle(op, home[op] = findHome(op, plan, needed), plan);
      for (unsigned segment : needed) {
        if (readsOriginal(op, home[op], segment, plan))
          continue;
        plan.segments[segment].clones.push_back(op);
        copies[op].push_back(segment);
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

/// ColocationGroups of ops that pass each other what can't cross, one of which is to be a segment of its own.
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

/// Members of a group on a cycle, or with one that must be alone, can't run together: they go to where values may pass
/// freely.
static LogicalResult breakGroups(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                 const ColocationGroups &groups, ArrayRef<unsigned> broken) {
  for (unsigned number : broken) {
    ArrayRef<unsigned> members = groups.getMembers(number);
    for (unsigned op : members) {
      std::optional<unsigned> target = targets.findFallback(graph.getOps()[op]);
      if (!target || graph.getFacts(op).isPinned)
        return graph.getOps()[op]->emitError("no target can run the op: what it shares with others can't leave '")
               << targets.getName(decisions[op].target) << "', and an op between them runs elsewhere";
      unsigned other = op == members.front() ? members.back() : members.front();
      decisions[op] = {*target, ReasonCode::NonTensor, "can't share a segment with what it passes a non-tensor value",
                       getLabel(graph.getOps()[other]).str()};
    }
  }
  return success();
}

FailureOr<SegmentPlan> inlay::planSegments(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                           const PartitionInfo &info, const ModuleCosts *costs) {
  while (true) {
    ColocationGroups groups(graph, targets, decisions);
    SmallVector<unsigned> found = findIsolatedGroups(graph, groups); // or the order of groups, or those on cycles
    if (found.empty() && groups.order(found))
      return Planner(graph, targets, decisions, groups, found, info, costs).run();
    if (failed(breakGroups(graph, targets, decisions, groups, found)) ||
        failed(keepNonTensorsTogether(graph, targets, decisions)))
      return failure();
  }
}
