// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the cost model of each target, and stores it in and reads it from `inlay.cost_model`. CostModelJson.cpp
// reads the keys of a file. Defaults are in Support/TargetCosts.cpp.

#include "ModuleCosts.h"
#include "CostModelJson.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Partition/OpWork.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;
namespace json = llvm::json;

//===-- The module's attribute ----------------------------------------------------------------------------------===//

static json::Value readAttribute(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getType().isInteger(64))
    return number.getInt();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return json::fixUTF8(text.getValue());
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : dictionary)
      object[json::fixUTF8(entry.getName().getValue())] = readAttribute(entry.getValue());
    return object;
  }
  return nullptr; // The reader emits an error for null.
}

static Attribute toAttribute(const json::Value &value, MLIRContext *context) {
  Builder builder(context);
  if (std::optional<double> number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (std::optional<StringRef> text = value.getAsString())
    return builder.getStringAttr(*text);
  NamedAttrList entries;
  if (const json::Object *object = value.getAsObject())
    for (const auto &[key, entry] : *object)
      entries.set(StringRef(key), toAttribute(entry, context));
  return entries.getDictionary(context);
}

//===-- ModuleCosts ---------------------------------------------------------------------------------------------===//

ModuleCosts ModuleCosts::getDefault(const TargetList &targets) {
  ModuleCosts result;
  for (unsigned target = 0; target < targets.size(); ++target) {
    result.targets.push_back(cast<TargetAttrInterface>(targets.getAttr(target)));
    result.costs.push_back(result.targets.back().getCosts());
  }
  return result;
}

FailureOr<ModuleCosts> ModuleCosts::select(const CostModel &model, StringRef place, ModuleOp module,
                                           const TargetList &targets) {
  ModuleCosts result = getDefault(targets);
  for (unsigned target = 0; target < targets.size(); ++target) {
    const TargetCosts *costs = model.find(result.targets[target].getCostKey());
    if (!costs)
      costs = model.find(targets.getName(target));
    if (!costs) {
      std::string known = llvm::join(llvm::make_first_range(model.targets), ", ");
      return module.emitError("'") << place << "': targets: expected '" << targets.getName(target)
                                   << "', which the module runs on, but got only " << known;
    }
    result.costs[target] = *costs;
  }
  return result;
}

FailureOr<std::optional<ModuleCosts>> ModuleCosts::get(ModuleOp module, const TargetList &targets) {
  Attribute attribute = module->getAttr(InlayDialect::kCostModelAttr);
  if (!attribute)
    return std::optional<ModuleCosts>();
  llvm::Expected<CostModel> model = readCostModelJson(readAttribute(attribute), InlayDialect::kCostModelAttr);
  if (!model)
    return module.emitError(llvm::toString(model.takeError()));
  FailureOr<ModuleCosts> costs = select(*model, InlayDialect::kCostModelAttr, module, targets);
  if (failed(costs))
    return failure();
  return std::optional(std::move(*costs));
}

FailureOr<ModuleCosts> ModuleCosts::read(StringRef file, ModuleOp module, const TargetList &targets) {
  if (file == "default")
    return getDefault(targets);
  llvm::Expected<CostModel> model = readCostModel(file);
  if (!model)
    return module.emitError(llvm::toString(model.takeError()));
  return select(*model, file, module, targets);
}

void ModuleCosts::attach(ModuleOp module, const TargetList &list) const {
  CostModel model;
  for (unsigned target = 0; target < list.size(); ++target)
    model.targets.emplace_back(list.getName(target).str(), costs[target]);
  NamedAttrList keys(cast<DictionaryAttr>(toAttribute(json::Value(toJson(model)), module.getContext())));
  keys.set("version", Builder(module.getContext()).getI64IntegerAttr(1)); // An integer, unlike other numbers.
  module->setAttr(InlayDialect::kCostModelAttr, keys.getDictionary(module.getContext()));
}

double ModuleCosts::estimate(Operation *op, unsigned target) const {
  if (!isControlFlow(op)) {
    if (std::optional<double> known = TargetAttrInterface(targets[target]).estimateSeconds(op, costs[target]))
      return *known;
    return costs[target].estimate(estimateWork(op));
  }
  double sum = 0, longest = 0;
  for (Region &region : op->getRegions()) {
    double seconds = 0;
    if (!region.empty())
      for (Operation &inner : region.front().without_terminator())
        seconds += estimate(&inner, target);
    sum += seconds;
    longest = std::max(longest, seconds);
  }
  return combineRegions(op, sum, longest);
}
