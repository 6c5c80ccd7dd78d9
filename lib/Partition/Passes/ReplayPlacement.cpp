// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms the segments of a placement file. The file is not trusted: it is checked against the graph before any op is
// moved.

#include "Partition/Analysis/EffectOrder.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/CloneRules.h"
#include "Partition/Decide/TargetAssigner.h"
#include "Partition/Form/Fingerprint.h"
#include "Partition/Form/SegmentBuilder.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/Labels.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/PlacementFile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <set>

namespace inlay {
#define GEN_PASS_DEF_REPLAYPLACEMENTPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Emits an error with the first difference between the graph and that of the placement. Differences of ops come first.
static LogicalResult checkGraph(FunctionOpInterface function, const PlacedFunction &placed) {
  GraphFingerprint graph = makeFingerprint(function);
  if (graph.whole == placed.fingerprint)
    return success();
  InFlightDiagnostic diag = function.emitError("the placement is for another graph: ");
  std::set<StringRef> listed;
  for (const PlacedOp &op : placed.ops) {
    listed.insert(op.label);
    auto name = graph.names.find(op.label);
    if (name == graph.names.end())
      return diag << "it has op '" << op.label << "' (" << op.name << "), which this graph lacks";
    if (name->second != op.name)
      return diag << "op '" << op.label << "' is " << op.name << " in it, but " << name->second << " in this graph";
    if (graph.ops.lookup(op.label) != op.fingerprint)
      return diag << "op '" << op.label << "' (" << op.name << ") has other attributes, types or operands in it";
  }
  std::set<StringRef> labels;
  for (const auto &entry : graph.names)
    if (!listed.count(entry.getKey()))
      labels.insert(entry.getKey());
  if (!labels.empty())
    return diag << "it lacks op '" << *labels.begin() << "' (" << graph.names.lookup(*labels.begin()) << ")";
  return diag << "the type or the results of the function differ";
}

namespace {
constexpr unsigned kNoSegment = ~0u;

class Replayer {
public:
  Replayer(FunctionOpInterface function, const PlacedFunction &placed, TargetList &targets)
      : placed(placed), targets(targets), aliases(function) {
    recordProgram(function, aliases);
    for (const PlacedOp &op : placed.ops)
      reasons[op.label] = &op;
    for (const SegmentedBlock &segment : placed.segments)
      segments[{segment.parent, segment.region}].push_back(&segment);
  }

  LogicalResult replay(Block &block, StringRef parent, unsigned region) {
    DependencyGraph graph(block, aliases);
    SegmentPlan plan;
    Decisions decisions(graph.size());
    if (failed(makePlan(graph, parent, region, plan, decisions)) || failed(check(graph, plan, decisions)))
      return failure();
    for (auto [op, decision] : llvm::zip(graph.getOps(), decisions)) {
      writeDecision(op, decision, targets);
      if (!isControlFlow(op) || targets.isAccelerator(decision.target))
        continue;
      for (Region &inner : op->getRegions())
        if (!inner.empty() && failed(replay(inner.front(), getLabel(op), inner.getRegionNumber())))
          return failure();
    }
    buildSegments(graph, plan, targets);
    return success();
  }

private:
  LogicalResult makePlan(const DependencyGraph &graph, StringRef parent, unsigned region, SegmentPlan &plan,
                         Decisions &decisions) {
    llvm::StringMap<unsigned> numbers;
    for (auto [number, op] : llvm::enumerate(graph.getOps()))
      numbers[getLabel(op)] = static_cast<unsigned>(number);
    Operation *owner = graph.getBlock().getParentOp();
    home.assign(graph.size(), kNoSegment);
    for (const SegmentedBlock *segment : segments[{parent.str(), region}]) {
      std::optional<unsigned> target = targets.find(segment->target);
      if (!target)
        return owner->emitError("the placement names a target that the module doesn't have: '")
               << segment->target << "'" << targets.suggestName(segment->target);
      PlannedSegment planned{*target, segment->doNotMerge, {}, {}};
      for (auto [labels, list] : {std::pair(&segment->ops, &planned.ops), {&segment->clones, &planned.clones}})
        for (const std::string &label : *labels) {
          auto number = numbers.find(label);
          if (number == numbers.end())
            return owner->emitError("the placement puts op '")
                   << label << "' in a segment beside ops that are not in its block";
          list->push_back(number->second);
        }
      for (unsigned op : planned.ops) {
        home[op] = static_cast<unsigned>(plan.segments.size());
        decisions[op] = makeDecision(getLabel(graph.getOps()[op]), *target);
      }
      llvm::sort(planned.ops);
      llvm::sort(planned.clones);
      plan.segments.push_back(std::move(planned));
    }
    for (auto [number, op] : llvm::enumerate(graph.getOps()))
      if (home[number] == kNoSegment)
        return op->emitError("the placement has no segment for op '") << getLabel(op) << "' in its block";
    return success();
  }

  Decision makeDecision(StringRef label, unsigned target) const {
    const PlacedOp *op = reasons.lookup(label);
    ReasonCode code = op ? symbolizeReasonCode(op->code).value_or(ReasonCode::Supported) : ReasonCode::Supported;
    return {target, code, op ? op->text : "", op ? op->causedBy : ""};
  }

  LogicalResult check(const DependencyGraph &graph, const SegmentPlan &plan, const Decisions &decisions) {
    CloneRules rules(graph, targets, decisions);
    for (auto [number, segment] : llvm::enumerate(plan.segments)) {
      for (unsigned op : segment.ops)
        if (failed(checkTarget(graph.getOps()[op], segment.target)))
          return failure();
      for (unsigned op : segment.clones) {
        if (!rules.isCloned(op))
          return graph.getOps()[op]->emitError("the placement clones op '")
                 << getLabel(graph.getOps()[op]) << "', which can't be cloned";
        if (failed(checkTarget(graph.getOps()[op], segment.target)))
          return failure();
      }
      for (ArrayRef<unsigned> ops : {ArrayRef(segment.ops), ArrayRef(segment.clones)})
        for (unsigned op : ops)
          for (unsigned before : graph.getPredecessors(op))
            if (home[before] > number && !llvm::binary_search(segment.clones, before))
              return reportOrder(graph, op, before);
    }
    // An op that reads the list itself, and not a clone, reads it before the next change.
    for (const DependencyGraph::ChangedList &list : graph.getChangedLists())
      for (auto [reader, change] : list.readersBefore)
        if (home[change] < home[reader] && !llvm::binary_search(plan.segments[home[reader]].clones, list.maker))
          return reportOrder(graph, change, reader);
    return success();
  }

  static LogicalResult reportOrder(const DependencyGraph &graph, unsigned op, unsigned before) {
    return graph.getOps()[op]->emitError("the placement runs op '")
           << getLabel(graph.getOps()[op]) << "' before op '" << getLabel(graph.getOps()[before])
           << "', which it depends on";
  }

  LogicalResult checkTarget(Operation *op, unsigned target) {
    StringRef name = targets.getName(target);
    auto pin = op->getAttrOfType<StringAttr>(InlayDialect::kTargetAttr);
    if (pin && pin.getValue() != name)
      return op->emitError("op is pinned to '") << pin.getValue() << "', but the placement puts it on '" << name << "'";
    if (isControlFlow(op) && !targets.isAccelerator(target))
      return success();
    if (const Verdict &verdict = targets.ask(target, op); !verdict.isSupported())
      return op->emitError("the placement puts the op on '") << name << "', which can't run it: " << verdict.text;
    return success();
  }

  const PlacedFunction &placed;
  TargetList &targets;
  Aliases aliases;
  llvm::StringMap<const PlacedOp *> reasons;
  std::map<std::pair<std::string, unsigned>, std::vector<const SegmentedBlock *>> segments;
  std::vector<unsigned> home; ///< Segment of each op of the block that is replayed.
};

struct ReplayPlacementPass : inlay::impl::ReplayPlacementPassBase<ReplayPlacementPass> {
  using ReplayPlacementPassBase::ReplayPlacementPassBase;

  void runOnOperation() override {
    if (!besides.empty()) {
      getOperation().emitError("'")
          << *besides.begin() << "' can't be combined with a placement, which already decides where every op runs";
      return signalPassFailure();
    }
    FailureOr<PlacementFile> placement = read();
    FailureOr<TargetList> targets = TargetList::get(getOperation(), {}, &getAnalysis<Verdicts>());
    if (failed(placement) || failed(targets) || failed(replay(*placement, *targets)))
      signalPassFailure();
  }

private:
  FailureOr<PlacementFile> read() {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer)
      return getOperation().emitError("can't read the placement '")
             << file.getValue() << "': " << buffer.getError().message();
    llvm::Expected<PlacementFile> placement = readPlacement((*buffer)->getBuffer());
    if (!placement)
      return getOperation().emitError("malformed placement '")
             << file.getValue() << "': " << toString(placement.takeError());
    return std::move(*placement);
  }

  LogicalResult replay(const PlacementFile &placement, TargetList &targets) {
    llvm::StringMap<const PlacedFunction *> byName;
    for (const PlacedFunction &function : placement)
      byName[function.function] = &function;
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      if (failed(checkPartitionable(function)))
        return failure();
      labelOps(function);
      const PlacedFunction *placed = byName.lookup(function.getName());
      if (!placed)
        return function.emitError("the placement '") << file.getValue() << "' has no function of this name";
      byName.erase(function.getName());
      if (failed(checkGraph(function, *placed)) ||
          failed(Replayer(function, *placed, targets).replay(function.front(), "", 0)))
        return failure();
    }
    if (!byName.empty())
      return getOperation().emitError("the placement '")
             << file.getValue() << "' is for a function '" << byName.begin()->getKey() << "', which the module lacks";
    return success();
  }
};
} // namespace
