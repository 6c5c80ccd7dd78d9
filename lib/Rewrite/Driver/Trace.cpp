// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records rewrites as JSON, for the option of the pass that writes a trace. Runtime/Core/Trace records the events of
// calls.

#include "Trace.h"

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Rewrite/PDLPattern.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace inlay;

static std::string describe(Value value) {
  if (!value)
    return "?";
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "%arg" + std::to_string(argument.getArgNumber());
  auto result = cast<OpResult>(value);
  StringRef label = getLocationName(result.getOwner()->getLoc());
  std::string name = (label.empty() ? result.getOwner()->getName().getStringRef() : label).str();
  if (result.getOwner()->getNumResults() > 1)
    name += "#" + std::to_string(result.getResultNumber());
  return name;
}

std::string inlay::describeOp(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (StringRef label = getLocationName(op->getLoc()); !label.empty())
    stream << label << " = ";
  stream << op->getName() << "(";
  llvm::interleaveComma(op->getOperands(), stream, [&](Value operand) { stream << describe(operand); });
  stream << ")";
  if (DictionaryAttr attributes = op->getAttrDictionary(); !attributes.empty()) {
    std::string written;
    llvm::raw_string_ostream(written) << attributes;
    stream << " " << (written.size() > 200 ? written.substr(0, 200) + "...}" : written);
  }
  if (op->getNumResults() != 0) {
    stream << " : ";
    llvm::interleaveComma(op->getResultTypes(), stream);
  }
  return text;
}

std::string inlay::describeLoc(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" + Twine(place.getColumn())).str();
  return getLocationName(loc).str();
}

Firing::Firing(const GraphPattern &pattern, Operation *op, const MatchContext &context)
    : root(describeOp(op)), location(describeLoc(op->getLoc())) {
  Match match(op);
  if (const PDLPattern *pdl = pattern.asPDL())
    patternLocation = describeLoc(pdl->getLoc());
  if (failed(pattern.match(op, match, context)) || match.ops.empty())
    match.ops = {op};
  for (Operation *matched : match.ops)
    before.push_back(describeOp(matched));
}

llvm::json::Object Firing::finish(StringRef label, uint64_t number, const Journal &journal, Journal::Mark mark) {
  llvm::json::Array after;
  for (const Journal::Entry &entry : journal.since(mark))
    if (entry.isMade() && !journal.isErased(entry.getOp()))
      after.push_back(describeOp(entry.getOp()));
  llvm::json::Object object{{"number", static_cast<int64_t>(number)},
                            {"label", label.str()},
                            {"root", root},
                            {"location", location},
                            {"before", std::move(before)},
                            {"after", std::move(after)}};
  if (!patternLocation.empty())
    object["pattern_location"] = patternLocation;
  return object;
}
