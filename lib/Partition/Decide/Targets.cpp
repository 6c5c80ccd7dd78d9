// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks targets about ops, once per distinct op, and names unknown targets in errors. Verdicts.cpp keeps the answers
// from pass to pass. TargetAssigner.cpp decides.

#include "Targets.h"
#include "Partition/Analysis/NameRules.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/PartitionOptions.h"
#include "inlay/Support/Suggest.h"

using namespace mlir;
using namespace inlay;

FailureOr<TargetList> TargetList::get(ModuleOp module, const PartitionInfo &info, Verdicts *verdicts) {
  TargetList list;
  list.shared = verdicts;
  MLIRContext *context = module.getContext();
  Attribute attribute = module->getAttr(InlayDialect::kTargetsAttr);
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  if (attribute && (!array || array.empty()))
    return module.emitError("expected 'inlay.targets' to be a non-empty array of targets, but got ") << attribute;
  SmallVector<Attribute> defaults = context->getOrLoadDialect<InlayDialect>()->getDefaultTargets();
  if (!array && defaults.empty())
    return module.emitError("expected 'inlay.targets', since none of the default targets is linked in");
  for (Attribute target : array ? array.getValue() : ArrayRef<Attribute>(defaults)) {
    auto interface = dyn_cast<TargetAttrInterface>(target);
    if (!interface)
      return module.emitError("target ") << target << " is not linked in, so the ops that it can run are unknown";
    list.targets.push_back(interface);
  }
  if (list.size() > kMaxTargets)
    return module.emitError("expected at most ") << kMaxTargets << " targets, but got " << list.size();
  for (unsigned target = 0; target < list.size(); ++target)
    if (list.targets[target].isAccelerator())
      list.accelerators |= TargetSet(1) << target;
  if (list.size() > 1 && llvm::popcount(list.accelerators) == static_cast<int>(list.size()))
    list.accelerators &= ~(TargetSet(1) << (list.size() - 1));
  if (failed(list.readAllowList(module, info)))
    return failure();
  return list;
}

LogicalResult TargetList::readAllowList(ModuleOp module, const PartitionInfo &info) {
  StringRef option = getOptionName(info, &info.allowOps);
  allowed = AllowList(option);
  std::vector<std::string> ops;
  for (StringRef entry : info.allowOps) {
    auto [op, name] = entry.split('@');
    std::optional<unsigned> target = find(name);
    if (entry.contains('@') && (!target || !isAccelerator(*target)))
      return module.emitError("expected '") << entry << "' in " << option << " to name an accelerator, but got '"
                                            << name << "'" << (target ? "" : suggestName(name));
    ops.push_back(op.str());
    allowed.add(op, name);
  }
  return checkOpNames(module, ops, option);
}

std::optional<unsigned> TargetList::find(StringRef name) const {
  for (unsigned target = 0; target < size(); ++target)
    if (getName(target) == name)
      return target;
  return std::nullopt;
}

std::string TargetList::suggestName(StringRef name) const {
  std::vector<std::string> names;
  for (unsigned target = 0; target < size(); ++target)
    names.push_back(getName(target).str());
  return suggest(name, names);
}

static auto getAskedAttributes(Operation *op) {
  return llvm::make_filter_range(op->getDiscardableAttrs(), isAskedAbout);
}

static size_t hashOp(Operation *op) {
  if (op->getNumRegions() > 0)
    return llvm::hash_value(op); // Equal to no other op.
  llvm::hash_code hash = llvm::hash_combine(op->getName(), op->hashProperties());
  for (NamedAttribute attribute : getAskedAttributes(op))
    hash = llvm::hash_combine(hash, attribute);
  for (Type type : op->getOperandTypes())
    hash = llvm::hash_combine(hash, type);
  for (Type type : op->getResultTypes())
    hash = llvm::hash_combine(hash, type);
  return hash;
}

static bool isAlike(Operation *a, Operation *b) {
  return a->getName() == b->getName() && llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
         llvm::equal(getAskedAttributes(a), getAskedAttributes(b)) &&
         (!a->getPropertiesStorageSize() ||
          a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage()));
}

TargetList::Entry &TargetList::lookup(Operation *op) {
  std::vector<std::unique_ptr<Entry>> &bucket = entries[hashOp(op)];
  for (std::unique_ptr<Entry> &entry : bucket)
    if (op == entry->op || (op->getNumRegions() == 0 && isAlike(op, entry->op)))
      return *entry;
  bucket.push_back(std::make_unique<Entry>());
  bucket.back()->op = op;
  bucket.back()->verdicts.resize(size());
  return *bucket.back();
}

bool inlay::isMissingCode(ReasonCode code) {
  return code == ReasonCode::NoConverter || code == ReasonCode::UnsupportedType ||
         code == ReasonCode::UnsupportedShape || code == ReasonCode::UnsupportedAttribute;
}

Verdict TargetList::askTarget(unsigned target, Operation *op) const {
  if (isAccelerator(target) && !allowed.empty())
    if (Verdict verdict = allowed.check(getName(target), op); !verdict.isSupported())
      return verdict;
  return shared && op->getNumRegions() == 0 ? shared->ask(targets[target], op) : targets[target].canRun(op);
}

const Verdict &TargetList::ask(unsigned target, Operation *op) {
  if (auto refused = dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(InlayDialect::kRefusedAttr)))
    if (auto text = refused.getAs<StringAttr>(getName(target)))
      return refusals.try_emplace(text.getAsOpaquePointer(), Verdict{ReasonCode::NoConverter, text.str()})
          .first->second;
  std::optional<Verdict> &verdict = lookup(op).verdicts[target];
  if (!verdict)
    verdict = askTarget(target, op);
  static const Verdict kSupported;
  bool isAssumed =
      target == 0 && !assumed.empty() && isMissingCode(verdict->code) && assumed.contains(getReportedName(op));
  return isAssumed ? kSupported : *verdict;
}

void TargetList::assume(ArrayRef<std::string> kinds) {
  assumed.clear();
  assumed.insert(kinds.begin(), kinds.end());
}

TargetSet TargetList::findRunners(Operation *op) {
  TargetSet runners = 0;
  for (unsigned target = 0; target < size(); ++target)
    if (canRun(target, op))
      runners |= TargetSet(1) << target;
  return runners;
}

std::optional<unsigned> TargetList::findFallback(Operation *op) {
  if (isControlFlow(op))
    return isAccelerator(getControlFlowTarget()) ? std::nullopt : std::optional(getControlFlowTarget());
  for (unsigned target = 0; target < size(); ++target)
    if (!isAccelerator(target) && canRun(target, op))
      return target;
  return std::nullopt;
}

unsigned TargetList::getControlFlowTarget() const {
  for (unsigned target = 0; target < size(); ++target)
    if (!isAccelerator(target))
      return target;
  return size() - 1;
}
