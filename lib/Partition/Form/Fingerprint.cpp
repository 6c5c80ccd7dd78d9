// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes the ops, attributes and uses of a function. Only placement files use the fingerprint: Container/Hash.cpp of
// the runtime hashes files.

#include "Fingerprint.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/ArgumentUnpacking.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <map>

using namespace mlir;
using namespace inlay;

static std::string hash(StringRef text) { return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text)).str(); }

namespace {
class Describer {
public:
  /// Returns a text for the maker of a value, seen through the borders of segments.
  std::string describe(Value value) {
    while (true) {
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        Operation *owner = argument.getOwner()->getParentOp();
        auto segment = dyn_cast<SegmentOp>(owner);
        if (!segment)
          return (isa<FunctionOpInterface>(owner) ? "" : getLabel(owner).str()) + "@" +
                 std::to_string(argument.getOwner()->getParent()->getRegionNumber()) + "." +
                 std::to_string(argument.getArgNumber());
        value = segment.getInputs()[argument.getArgNumber()];
        continue;
      }
      auto result = cast<OpResult>(value);
      auto segment = dyn_cast<SegmentOp>(result.getOwner());
      if (isRepacking(result.getOwner()) || isUnpacking(result.getOwner())) {
        value = result.getOwner()->getOperand(0);
        continue;
      }
      if (!segment) {
        Operation *maker = result.getOwner();
        StringRef name = isConstantLike(maker) ? print(value.getType()) : getLabel(maker);
        return (name + ":" + Twine(result.getResultNumber())).str();
      }
      value = segment.getBody().front().getTerminator()->getOperand(result.getResultNumber());
    }
  }

  std::string describe(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << op->getName() << '(';
    for (Value operand : op->getOperands())
      os << describe(operand) << ' ' << print(operand.getType()) << ',';
    os << ')';
    for (Type type : op->getResultTypes())
      os << print(type) << ',';
    if (op->getPropertiesStorageSize())
      os << print(op->getPropertiesAsAttribute());
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!attribute.getName().getValue().starts_with("inlay."))
        os << attribute.getName().getValue() << '=' << print(attribute.getValue()) << ',';
    return text;
  }

  template <typename T>
  StringRef print(T printable) {
    std::string &text = printed[printable.getAsOpaquePointer()];
    if (text.empty())
      llvm::raw_string_ostream(text) << printable;
    return text;
  }

private:
  llvm::DenseMap<const void *, std::string> printed;
};
} // namespace

GraphFingerprint inlay::makeFingerprint(FunctionOpInterface function) {
  GraphFingerprint result;
  Describer describer;
  std::map<std::string, std::string> sorted; // By label, since the order of ops does not count.
  function.getFunctionBody().walk([&](Operation *op) {
    bool isReturn = op->hasTrait<OpTrait::IsTerminator>() && !isa<YieldOp>(op);
    if (isConstantLike(op) || isa<SegmentOp, YieldOp>(op) || op->hasAttr(InlayDialect::kCloneAttr) || isUnpacking(op))
      return;
    if (isReturn) {
      Operation *owner = op->getParentOp();
      std::string key = isa<FunctionOpInterface>(owner) ? "" : getLabel(owner).str();
      sorted[key + "@" + std::to_string(op->getParentRegion()->getRegionNumber())] = hash(describer.describe(op));
      return;
    }
    std::string label = getLabel(op).str();
    result.ops[label] = sorted[label + ":"] = hash(describer.describe(op));
    result.names[label] = getReportedName(op).str();
  });
  std::string all = describer.print(function.getFunctionType()).str();
  for (const auto &[key, fingerprint] : sorted)
    all += key + fingerprint;
  result.whole = hash(all);
  return result;
}
