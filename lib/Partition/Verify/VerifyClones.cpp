// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that each clone in a segment computes what its original computes. VerifyEffects.cpp checks the order of
// effects.

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

static bool isClone(Operation *op) { return op->getDiscardableAttr(InlayDialect::kCloneAttr) != nullptr; }

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
    for (Operation *clone : clones)
      if (failed(checkClone(clone)) || failed(checkChanges(clone)))
        return failure();
    return success();
  }

private:
  LogicalResult note(Operation *op) {
    if (isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>() || isa<SegmentOp>(op) || unpacksArgument(op))
      return success();
    if (isClone(op))
      clones.push_back(op);
    else
      ++size;
    StringAttr label = getLabelAttr(op);
    if (changesItsFirstOperand(op))
      if (Operation *maker = op->getOperand(0).getDefiningOp(); maker && getOrder(op))
        changes[getLabelAttr(maker)].push_back(*getOrder(op));
    if (isClone(op) || label.empty())
      return success();
    auto [it, isNew] = originals.try_emplace(label, op);
    if (isNew)
      return success();
    InFlightDiagnostic diag = op->emitOpError("expected each op of the function once, but got '")
                              << label.getValue() << "' twice";
    diag.attachNote(it->second->getLoc()) << "other occurrence here";
    return diag;
  }

  LogicalResult checkSize() {
    auto expected = function->getAttrOfType<IntegerAttr>(InlayDialect::kSizeAttr);
    if (!expected || expected.getInt() == size)
      return success();
    return function.emitError("expected the ") << expected.getInt() << " ops that the function had, but got " << size;
  }

  /// Returns the origin of a value that a segment reads: an argument, or a result of an op that is not a clone.
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
      Operation *original = isClone(result.getOwner()) ? originals.lookup(getLabelAttr(result.getOwner())) : nullptr;
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

  /// Checks that the clone repacks the argument that was unpacked: all of its elements in the same order.
  LogicalResult checkRepacked(Operation *clone) {
    Operation *parts = clone->getNumOperands() ? trace(clone->getOperand(0)).getDefiningOp() : nullptr;
    bool isWhole = parts && unpacksArgument(parts) && getCollectionUse(clone) == CollectionUse::Makes &&
                   clone->getResult(0).getType() == parts->getOperand(0).getType() &&
                   llvm::equal(clone->getOperands(), parts->getResults(),
                               [&](Value operand, Value part) { return trace(operand) == part; });
    if (isWhole)
      return success();
    return clone->emitOpError("expected all elements of the argument in their order");
  }

  LogicalResult checkClone(Operation *clone) {
    if (clone->hasAttr(kUnpackedAttr))
      return checkRepacked(clone);
    StringAttr label = getLabelAttr(clone);
    Operation *original = originals.lookup(label);
    if (!original)
      return clone->emitOpError("expected a clone of an op of the function, but none is named '")
             << label.getValue() << "'";
    StringRef different;
    if (clone->getName() != original->getName() || clone->getNumRegions() != 0)
      different = "name";
    else if (clone->getPropertiesAsAttribute() != original->getPropertiesAsAttribute() ||
             dropMarks(clone) != dropMarks(original))
      different = "attributes";
    else if (!llvm::equal(clone->getResultTypes(), original->getResultTypes()))
      different = "results";
    else if (!llvm::equal(clone->getOperands(), original->getOperands(),
                          [&](Value a, Value b) { return isSame(a, b); }))
      different = "operands";
    if (different.empty())
      return success();
    InFlightDiagnostic diag = clone->emitOpError("expected a clone with the ") << different << " of its original";
    diag.attachNote(original->getLoc()) << "original here";
    return diag;
  }

  /// Checks that the readers of a clone of a changed list read it after the same changes as in the original program.
  LogicalResult checkChanges(Operation *clone) {
    auto it = changes.find(getLabelAttr(clone));
    if (it == changes.end() || clone->getNumResults() != 1 || changesItsFirstOperand(clone))
      return success();
    std::vector<std::pair<int64_t, Operation *>> users;
    for (Operation *user : clone->getResult(0).getUsers())
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
        diag.attachNote(clone->getLoc()) << "clone of the list here";
        return diag;
      }
      seen += changesItsFirstOperand(user);
    }
    return success();
  }

  FunctionOpInterface function;
  llvm::DenseMap<StringAttr, Operation *> originals;
  llvm::DenseMap<StringAttr, std::vector<int64_t>> changes; ///< Changes of each list, by the label of its maker.
  SmallVector<Operation *> clones;
  int64_t size = 0;
};
} // namespace

LogicalResult inlay::verifyClones(FunctionOpInterface function) { return CloneChecker(function).run(); }
