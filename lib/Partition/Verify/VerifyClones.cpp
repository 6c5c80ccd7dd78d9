// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VerifyParts.h"

#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace inlay;

static bool isFunctionArgument(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    auto segment = dyn_cast<SegmentOp>(owner);
    if (!segment)
      return isa<FunctionOpInterface>(owner);
    value = segment.getInputs()[argument.getArgNumber()];
  }
  return false;
}

bool inlay::unpacksArgument(Operation *op) {
  return op->hasAttr(kUnpackedAttr) && op->getNumOperands() == 1 && isFunctionArgument(op->getOperand(0)) &&
         getCollectionUse(op) == CollectionUse::Reads;
}

static bool isCopy(Operation *op) { return op->getDiscardableAttr(InlayDialect::kCloneAttr) != nullptr; }

static DictionaryAttr dropMarks(Operation *op) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  attributes.erase(InlayDialect::kCloneAttr);
  attributes.erase(InlayDialect::kVerdictAttr);
  return attributes.getDictionary(op->getContext());
}

static std::optional<int64_t> getOrder(Operation *op) {
  auto order = op->getAttrOfType<IntegerAttr>(InlayDialect::kOrderAttr);
  return order ? std::optional(order.getInt()) : std::nullopt;
}

static bool changesItsFirstOperand(Operation *op) { return getCollectionUse(op) == CollectionUse::Changes; }

namespace {
class CloneChecker {
public:
  explicit CloneChecker(FunctionOpInterface function) : function(function) {}

  LogicalResult run() {
    WalkResult result = function->walk([&](Operation *op) {
      return op == function || succeeded(note(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted() || failed(checkSize()))
      return failure();
    for (auto &[label, list] : changes) {
      llvm::sort(list);
      list.erase(llvm::unique(list), list.end());
    }
    for (Operation *copy : copies)
      if (failed(checkCopy(copy)) || failed(checkChanges(copy)))
        return failure();
    return success();
  }

private:
  LogicalResult note(Operation *op) {
    if (isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>() || isa<SegmentOp>(op) || unpacksArgument(op))
      return success();
    if (isCopy(op))
      copies.push_back(op);
    else
      ++size;
    StringAttr label = getLabelAttr(op);
    if (changesItsFirstOperand(op))
      if (Operation *maker = op->getOperand(0).getDefiningOp(); maker && getOrder(op))
        changes[getLabelAttr(maker)].push_back(*getOrder(op));
    if (isCopy(op) || label.empty())
      return success();
    auto [it, isNew] = originals.try_emplace(label, op);
    if (isNew)
      return success();
    InFlightDiagnostic diag = op->emitOpError("expected each op of the function once, but got '")
                              << label.getValue() << "' twice";
    diag.attachNote(it->second->getLoc()) << "it is here too";
    return diag;
  }

  LogicalResult checkSize() {
    auto expected = function->getAttrOfType<IntegerAttr>(InlayDialect::kSizeAttr);
    if (!expected || expected.getInt() == size)
      return success();
    return function.emitError("expected the ") << expected.getInt() << " ops that the function had, but got " << size;
  }

  /// What a value is, wherever a segment reads it: an argument, or a result of an op that is no copy.
  Value trace(Value value) {
    while (true) {
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        auto segment = dyn_cast<SegmentOp>(argument.getOwner()->getParentOp());
        if (!segment)
          return value;
        value = segment.getInputs()[argument.getArgNumber()];
        continue;
      }
      auto result = cast<OpResult>(value);
      if (auto segment = dyn_cast<SegmentOp>(result.getOwner())) {
        value = segment.getBody().front().getTerminator()->getOperand(result.getResultNumber());
        continue;
      }
      Operation *original = isCopy(result.getOwner()) ? originals.lookup(getLabelAttr(result.getOwner())) : nullptr;
      return original && result.getResultNumber() < original->getNumResults()
                 ? original->getResult(result.getResultNumber())
                 : value;
    }
  }

  static Operation *getConstant(Value value) {
    Operation *op = value.getDefiningOp();
    return op && isConstantLike(op) ? op : nullptr;
  }

  bool isSame(Value a, Value b) {
    a = trace(a);
    b = trace(b);
    Operation *x = getConstant(a), *y = getConstant(b);
    return a == b ||
           (x && y && OperationEquivalence::isEquivalentTo(x, y, OperationEquivalence::Flags::IgnoreLocations));
  }

  /// What is put together is the argument that was taken apart: all it holds, in that order.
  LogicalResult checkRepacked(Operation *copy) {
    Operation *parts = copy->getNumOperands() ? trace(copy->getOperand(0)).getDefiningOp() : nullptr;
    bool isWhole = parts && unpacksArgument(parts) && getCollectionUse(copy) == CollectionUse::Makes &&
                   copy->getResult(0).getType() == parts->getOperand(0).getType() &&
                   llvm::equal(copy->getOperands(), parts->getResults(),
                               [&](Value operand, Value part) { return trace(operand) == part; });
    if (isWhole)
      return success();
    return copy->emitOpError("expected an argument to be made again of all that it holds, in its order");
  }

  LogicalResult checkCopy(Operation *copy) {
    if (copy->hasAttr(kUnpackedAttr))
      return checkRepacked(copy);
    StringAttr label = getLabelAttr(copy);
    Operation *original = originals.lookup(label);
    if (!original)
      return copy->emitOpError("expected a copy of an op of the function, but none is named '")
             << label.getValue() << "'";
    StringRef different;
    if (copy->getName() != original->getName() || copy->getNumRegions() != 0)
      different = "name";
    else if (copy->getPropertiesAsAttribute() != original->getPropertiesAsAttribute() ||
             dropMarks(copy) != dropMarks(original))
      different = "attributes";
    else if (!llvm::equal(copy->getResultTypes(), original->getResultTypes()))
      different = "results";
    else if (!llvm::equal(copy->getOperands(), original->getOperands(), [&](Value a, Value b) { return isSame(a, b); }))
      different = "operands";
    if (different.empty())
      return success();
    InFlightDiagnostic diag = copy->emitOpError("expected a copy with the ") << different << " of its original";
    diag.attachNote(original->getLoc()) << "original here";
    return diag;
  }

  /// Whoever reads a copy of a changed list reads it after the same changes as the original's readers.
  LogicalResult checkChanges(Operation *copy) {
    auto it = changes.find(getLabelAttr(copy));
    if (it == changes.end() || copy->getNumResults() != 1 || changesItsFirstOperand(copy))
      return success();
    std::vector<std::pair<int64_t, Operation *>> users;
    for (Operation *user : copy->getResult(0).getUsers())
      if (std::optional<int64_t> order = getOrder(user))
        users.emplace_back(*order, user);
    llvm::sort(users, llvm::less_first());
    users.erase(llvm::unique(users), users.end());
    int64_t seen = 0;
    for (auto [order, user] : users) {
      int64_t expected = llvm::lower_bound(it->second, order) - it->second.begin();
      if (seen != expected) {
        InFlightDiagnostic diag = user->emitOpError("expected to read the list after ")
                                  << expected << " changes, but got " << seen;
        diag.attachNote(copy->getLoc()) << "copy of the list here";
        return diag;
      }
      seen += changesItsFirstOperand(user);
    }
    return success();
  }

  FunctionOpInterface function;
  llvm::DenseMap<StringAttr, Operation *> originals;
  llvm::DenseMap<StringAttr, std::vector<int64_t>> changes; ///< of each list, by the label of what makes it
  SmallVector<Operation *> copies;
  int64_t size = 0;
};
} // namespace

LogicalResult inlay::verifyClones(FunctionOpInterface function) { return CloneChecker(function).run(); }
