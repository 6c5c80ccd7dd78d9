// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a report from a partitioned module. The writers ReportJson.cpp, ReportTable.cpp, ReportText.cpp and
// ReportHtml.cpp format it.

#include "Partition/Analysis/OpKinds.h"
#include "Partition/Cost/ModeledTime.h"
#include "Partition/Decide/ArgumentUnpacking.h"
#include "Partition/Decide/Targets.h"
#include "ReportNames.h"
#include "ReportWeights.h"
#include "WhatIfAttributes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Segments.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Partition/Report.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

static std::optional<int64_t> sumBytes(ArrayRef<BorderValue> values) {
  int64_t sum = 0;
  for (const BorderValue &value : values)
    if (!value.bytes || llvm::AddOverflow(sum, *value.bytes, sum))
      return std::nullopt;
  return sum;
}

static std::optional<int64_t> readFigure(DictionaryAttr figures, StringRef key) {
  auto number = figures ? figures.getAs<IntegerAttr>(key) : nullptr;
  return number && number.getType().isInteger(64) ? std::optional(number.getInt()) : std::nullopt;
}

namespace {
class Reader {
public:
  explicit Reader(FunctionOpInterface function) {
    report.function = function.getName().str();
    if (auto witness = function->getAttrOfType<ArrayAttr>(InlayDialect::kWitnessAttr))
      for (Attribute label : witness)
        if (auto text = dyn_cast<StringAttr>(label))
          report.witness.push_back(text.str());
    auto figures = function->getAttrOfType<DictionaryAttr>(InlayDialect::kPartitionAttr);
    report.lowerBound = readFigure(figures, kLowerBoundFigure);
    report.bytesCarried = readFigure(figures, kBytesCarriedFigure);
    report.bytesCarriedBefore = readFigure(figures, kBytesCarriedBeforeFigure);
    if (auto placements = figures ? figures.getAs<DictionaryAttr>(kPlacementsFigure) : nullptr)
      for (NamedAttribute entry : placements)
        if (auto seconds = dyn_cast<FloatAttr>(entry.getValue()))
          report.placements.emplace_back(entry.getName().str(), seconds.getValueAsDouble());
    if (figures) {
      report.whatIf = readWhatIf(figures.get(kWhatIfFigure));
      report.sweep = readSweep(figures.get(kSweepFigure));
    }
    symbols = getSymbols(function);
    for (SymbolAttr symbol : symbols)
      report.symbols.push_back({symbol.getName().str(), symbol.getMin(),
                                symbol.isBounded() ? std::optional(symbol.getMax()) : std::nullopt});
    report.weights = countWeights(function);
    nameOps(function);
    model(function);
    for (auto [number, segment] : llvm::enumerate(listSegments(function.front())))
      read(segment, static_cast<unsigned>(number));
  }

  Report report;

private:
  /// Stores the labels of ops. For IR that was never annotated, they are generated here.
  void nameOps(FunctionOpInterface function) {
    unsigned position = 0;
    function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      StringRef label = getLabel(op);
      labels[op] = label.empty() ? (getReportedName(op) + "#" + Twine(position)).str() : label.str();
      ++position;
    });
  }

  void model(FunctionOpInterface function) {
    auto module = function->getParentOfType<ModuleOp>();
    if (!module || !module->hasAttr(InlayDialect::kCostModelAttr) || !findTargets(function))
      return;
    FailureOr<std::optional<ModuleCosts>> costs = ModuleCosts::get(module, *targets);
    if (failed(costs))
      return;
    times = modelTimes(function, **costs, *targets);
    report.modeled = times->total;
  }

  /// Returns a text for the origin of a value, seen through the borders of segments.
  std::string describe(Value value) {
    value = lookThroughSegments(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      std::string name = "arg#" + std::to_string(argument.getArgNumber());
      return isa<FunctionOpInterface>(owner) ? name : labels[owner] + "." + name;
    }
    auto result = cast<OpResult>(value);
    std::string name = labels[result.getOwner()];
    return result.getResultNumber() ? name + ":" + std::to_string(result.getResultNumber()) : name;
  }

  std::vector<BorderValue> describeAll(ValueRange values) {
    std::vector<BorderValue> result;
    for (Value value : values) {
      std::string &type = types[value.getType()];
      if (type.empty())
        llvm::raw_string_ostream(type) << value.getType();
      result.push_back({type, describe(value), countBytes(value.getType()), findSegment(value), {}, ""});
      if (!result.back().bytes)
        describeDims(value, result.back());
    }
    return result;
  }

  /// Sets the dimensions and the bytes of a value as expressions of the symbols of the function.
  void describeDims(Value value, BorderValue &border) {
    value = lookThroughSegments(value);
    std::optional<SmallVector<AffineExpr>> dims = getDims(value);
    std::optional<int64_t> width = countBytes(getElementTypeOrSelf(value.getType()));
    if (!dims || !width)
      return;
    AffineExpr bytes = getAffineConstantExpr(*width, value.getContext());
    for (AffineExpr dim : *dims) {
      border.dims.push_back(spellExpr(dim, symbols));
      bytes = bytes * dim;
    }
    border.bytesByDims = spellExpr(bytes, symbols);
  }

  /// Returns the bytes of all values as an expression, or an empty string if they are a constant or unknown.
  static std::string sumByDims(ArrayRef<BorderValue> values) {
    std::string sum;
    int64_t known = 0;
    for (const BorderValue &value : values) {
      if (!value.bytes && value.bytesByDims.empty())
        return "";
      known += value.bytes.value_or(0);
      if (!value.bytes)
        sum += (sum.empty() ? "" : " + ") + value.bytesByDims;
    }
    return sum.empty() || !known ? sum : sum + " + " + std::to_string(known);
  }

  /// Returns the segment that has the value as a result, in this block or around it.
  std::optional<unsigned> findSegment(Value value) {
    while (auto argument = dyn_cast<BlockArgument>(value)) {
      auto segment = dyn_cast<SegmentOp>(argument.getOwner()->getParentOp());
      if (!segment)
        return std::nullopt;
      value = segment.getInputs()[argument.getArgNumber()];
    }
    auto it = numbers.find(value.getDefiningOp());
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  }

  void read(SegmentOp segment, unsigned number) {
    SegmentedBlock entry;
    entry.id = numbers[segment] = number;
    entry.target = segment.getTargetInterface().getTargetName();
    entry.isAccelerated = isAccelerated(segment);
    entry.doNotMerge = segment.getDoNotMerge();
    if (Operation *parent = segment->getParentOp(); !isa<FunctionOpInterface>(parent)) {
      entry.parent = labels[parent];
      entry.region = segment->getParentRegion()->getRegionNumber();
    }
    entry.inputs = describeAll(segment.getInputs());
    entry.outputs = describeAll(segment.getResults());
    entry.bytesIn = sumBytes(entry.inputs);
    entry.bytesOut = sumBytes(entry.outputs);
    entry.bytesInByDims = sumByDims(entry.inputs);
    entry.bytesOutByDims = sumByDims(entry.outputs);
    if (times)
      entry.modeled = times->segments.lookup(segment);
    for (Operation &op : segment.getBody().front().without_terminator()) {
      if (isRepacking(&op))
        continue;
      if (op.hasAttr(InlayDialect::kCloneAttr))
        entry.clones.push_back(labels[&op]);
      else if (!isConstantLike(&op))
        entry.ops.push_back(readOp(&op, entry));
    }
    report.segments.push_back(std::move(entry));
    report.segmentOps.push_back(segment);
  }

  std::string readOp(Operation *op, const SegmentedBlock &segment) {
    ReportedOp entry{labels[op], getReportedName(op).str(), segment.target, segment.id, "supported", "", ""};
    if (auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr)) {
      entry.code = verdict.getCode().str();
      entry.text = verdict.getText().str();
      entry.causedBy = verdict.getCausedBy() ? verdict.getCausedBy().getValue().str() : "";
    }
    report.ops.push_back(entry);
    return entry.label;
  }

  bool findTargets(Operation *op) {
    if (!targets)
      if (FailureOr<TargetList> list = TargetList::get(op->getParentOfType<ModuleOp>()); succeeded(list))
        targets = std::move(*list);
    return targets.has_value();
  }

  bool isAccelerated(SegmentOp segment) {
    if (findTargets(segment))
      for (unsigned target = 0; target < targets->size(); ++target)
        if (targets->getAttr(target) == segment.getTarget())
          return targets->isAccelerator(target);
    return false;
  }

  SmallVector<SymbolAttr> symbols;
  std::optional<TargetList> targets;
  std::optional<ModeledTimes> times;
  llvm::DenseMap<Operation *, std::string> labels;
  llvm::DenseMap<Type, std::string> types;       ///< The few types as texts.
  llvm::DenseMap<Operation *, unsigned> numbers; ///< Of segments.
};
} // namespace

Report inlay::makeReport(FunctionOpInterface function) { return Reader(function).report; }
