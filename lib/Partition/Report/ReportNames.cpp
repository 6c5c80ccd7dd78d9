// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives values unique names and prints ops as one line of text. Analysis/Labels.cpp gives ops their labels.

#include "ReportNames.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace inlay;

Value inlay::lookThroughSegments(Value value) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto segment = dyn_cast<SegmentOp>(argument.getOwner()->getParentOp());
      if (!segment)
        return value;
      value = segment.getInputs()[argument.getArgNumber()];
    } else if (auto segment = dyn_cast<SegmentOp>(value.getDefiningOp())) {
      value = segment.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    } else {
      return value;
    }
  }
}

StringRef inlay::getNumberOfLabel(StringRef label, StringRef prefix) {
  StringRef number = label;
  bool isMadeUp = number.consume_front(prefix) && number.consume_front("#") && !number.empty() &&
                  llvm::all_of(number, llvm::isDigit);
  return isMadeUp ? number : "";
}

//===-- Names ---------------------------------------------------------------------------------------------------===//

/// Returns the name of the first result of an op, without `%`.
static std::string makeName(Operation *op) {
  StringRef label = getLabel(op), kind = getReportedName(op);
  StringRef number = getNumberOfLabel(label, kind);
  std::string name = label.str();
  if (label.empty() || !number.empty()) {
    StringRef tail = kind.substr(kind.rfind(':') + 1);
    tail = tail.substr(tail.rfind('.') == StringRef::npos ? 0 : tail.rfind('.') + 1);
    name = (tail + (number.empty() ? "" : "_") + number).str();
  }
  constexpr size_t kMaxLength = 80;
  name.resize(std::min(name.size(), kMaxLength));
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '.' && c != '-' && c != '$')
      c = '_';
  return name.empty() ? "v" : name;
}

ReportNames::ReportNames(FunctionOpInterface function) {
  nameArguments(function.front(), "arg");
  SmallVector<Operation *> clones;
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(InlayDialect::kCloneAttr))
      clones.push_back(op);
    else if (!isa<SegmentOp>(op))
      nameResults(op);
  });
  for (Operation *clone : clones) {
    auto original = originals.find(getLabel(clone));
    if (original == originals.end())
      nameResults(clone);
    else
      ops[clone] = original->second;
  }
}

void ReportNames::nameResults(Operation *op) {
  if (op->getNumResults() == 0 && op->getNumRegions() == 0)
    return;
  std::string name;
  if (isConstantLike(op)) {
    std::string &shared = constants[{op->getLoc().getAsOpaquePointer(), op->getAttrDictionary().getAsOpaquePointer()}];
    if (shared.empty())
      shared = makeUnique(makeName(op));
    name = shared;
  } else {
    name = makeUnique(makeName(op));
    if (StringRef label = getLabel(op); !label.empty())
      originals.try_emplace(label, name);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      nameArguments(block, name + ".arg");
  ops[op] = std::move(name);
}

void ReportNames::nameArguments(Block &block, StringRef prefix) {
  bool isFunction = isa<FunctionOpInterface>(block.getParentOp());
  for (BlockArgument argument : block.getArguments()) {
    StringRef given = isFunction ? getLocationName(argument.getLoc()) : "";
    bool isPlain = !given.empty() && llvm::all_of(given, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    arguments[argument] = makeUnique(isPlain ? given.str() : (prefix + Twine(argument.getArgNumber())).str());
  }
}

std::string ReportNames::makeUnique(std::string name) {
  if (taken.insert(name).second)
    return name;
  unsigned &count = repeated[name];
  while (true) {
    std::string numbered = name + "_" + std::to_string(++count);
    if (taken.insert(numbered).second)
      return numbered;
  }
}

//===-- Text ----------------------------------------------------------------------------------------------------===//

void ReportNames::print(llvm::raw_ostream &os, Value value) const {
  value = lookThroughSegments(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    os << "%" << arguments.lookup(argument);
    return;
  }
  os << "%" << ops.lookup(value.getDefiningOp());
  if (unsigned number = cast<OpResult>(value).getResultNumber())
    os << "#" << number;
}

void ReportNames::print(llvm::raw_ostream &os, ValueRange values, bool types) const {
  llvm::interleaveComma(values, os, [&](Value value) {
    print(os, value);
    if (types)
      os << " : " << value.getType();
  });
}

/// Returns a short text for the attribute: weights by name, long lists by their first elements.
static std::string shorten(Attribute attribute) {
  constexpr size_t kMaxLength = 48;
  constexpr int64_t kMaxDenseElements = 4;
  constexpr int64_t kMaxListed = 16;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return "@" + resource.getRawHandle().getKey().str();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute);
      dense && dense.getNumElements() > kMaxDenseElements && !dense.isSplat())
    return "dense<...>";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto elements = dyn_cast<ElementsAttr>(attribute); elements && !isa<DenseElementsAttr>(attribute))
    return "...";
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && !number.getType().isInteger(1))
    number.getValue().print(os, !number.getType().isUnsignedInteger());
  else if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    os << "[";
    llvm::interleaveComma(array.asArrayRef().take_front(kMaxListed), os);
    os << (array.size() > kMaxListed ? ", ...]" : "]");
  } else
    attribute.print(os, /*elideType=*/true);
  if (text.size() > kMaxLength) {
    text.resize(kMaxLength - 3);
    text += "...";
  }
  return text;
}

/// Prints the attributes of an op, without its name.
static void printAttributes(llvm::raw_ostream &os, Operation *op) {
  bool isFirst = true;
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName();
    bool isNamed = isa<OpaqueOp, PluginOp>(op) && (name == "name" || name == "call");
    if (isNamed || name.starts_with("inlay.") || name == "operandSegmentSizes" || name == "resultSegmentSizes")
      continue;
    os << (isFirst ? "[" : ", ") << name;
    if (!isa<UnitAttr>(attribute.getValue()))
      os << "=" << shorten(attribute.getValue());
    isFirst = false;
  }
  if (!isFirst)
    os << "]";
}

void ReportNames::print(llvm::raw_ostream &os, Operation *op) const {
  if (op->getNumResults() > 0) {
    print(os, op->getResults(), /*types=*/true);
    os << " = ";
  }
  os << getReportedName(op);
  printAttributes(os, op);
  os << "(";
  print(os, op->getOperands(), /*types=*/false);
  os << ")";
}
