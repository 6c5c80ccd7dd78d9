// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies a replacement to a match: creates ops, keeps attributes and locations, and replaces results.
// ReplacementCompiler.cpp makes it from PDL.

#include "Replacement.h"
#include "Rewrite/Graph/InferTypes.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Rewrite/Signature.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

/// Adds the discardable attributes of `op` to `attributes`.
static void addDiscardableAttributes(Operation *op, SmallVectorImpl<NamedAttribute> &attributes) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != InlayDialect::kSignatureAttr) // The record of `op` in its calls is created anew.
      attributes.push_back(attribute);
}

FailureOr<SmallVector<NamedAttribute, 2>> Replacement::getCarried(const MatchProgram &program, const Bindings &bindings,
                                                                  std::string *whyNot) const {
  SmallVector<NamedAttribute, 2> carried;
  if (dropsAttributes)
    return carried;
  auto no = [&](const Twine &why) {
    if (whyNot && whyNot->empty())
      *whyNot = why.str();
    return failure();
  };
  for (unsigned slot : program.ops) {
    Operation *op = bindings.op(slot);
    if (op->getRawDictionaryAttrs().empty())
      continue;
    SmallVector<NamedAttribute, 2> attributes;
    addDiscardableAttributes(op, attributes);
    if (!attributes.empty() && op->hasTrait<OpTrait::ConstantLike>())
      continue;
    for (NamedAttribute attribute : attributes) {
      if (llvm::is_contained(mentioned, std::pair(slot, attribute.getName())))
        continue;
      auto *same = llvm::find_if(carried, [&](auto other) { return other.getName() == attribute.getName(); });
      if (same == carried.end())
        carried.push_back(attribute);
      else if (same->getValue() != attribute.getValue())
        return no("matched ops have different values of attribute '" + attribute.getName().getValue() +
                  "', but their replacement can have only one; mark the pattern 'drop_attributes' to allow this");
    }
  }
  if (!carried.empty() && !hasTaker)
    return no("attribute '" + carried.front().getName().getValue() +
              "' would be lost, because no new op replaces the root; mark the pattern 'drop_attributes' to allow this");
  return carried;
}

namespace {
/// One application of a replacement and the ops that it created so far.
class Application {
public:
  Application(const MatchProgram &program, Bindings &bindings, GraphRewriter &rewriter)
      : program(program), bindings(bindings), rewriter(rewriter) {}

  /// Returns the fused locations of the matched ops. The root comes first, so the new ops have its name.
  Location getLoc() {
    if (loc)
      return *loc;
    SmallVector<Location, 4> locs;
    for (unsigned slot : program.ops)
      if (Location other = bindings.op(slot)->getLoc(); !llvm::is_contained(locs, other))
        locs.push_back(other);
    loc = locs.size() == 1 ? locs.front() : fuse(locs);
    return *loc;
  }

  SmallVector<Value> values(ArrayRef<unsigned> slots) {
    SmallVector<Value> result;
    for (unsigned slot : slots)
      if (program.slots[slot].kind == SlotKind::Values)
        llvm::append_range(result, bindings.values(slot));
      else
        result.push_back(bindings.value(slot));
    return result;
  }

  LogicalResult create(const Action &action, ArrayRef<NamedAttribute> carried, unsigned root) {
    if (action.replaces != static_cast<int>(root))
      carried = {};
    std::string problem;
    LogicalResult made = rewriter.withReason(problem, [&] {
      bool isCopy = action.model && carried.empty() && action.regionsFrom < 0 && !isOfCall();
      return isCopy ? createCopy(action) : createAnew(action, carried);
    });
    if (failed(made))
      rewriter.refuse("can't make '" + action.name->getStringRef() + "': " + problem);
    return made;
  }

  LogicalResult result(const Action &action) {
    Operation *op = bindings.op(action.b);
    if (action.c >= op->getNumResults()) {
      rewriter.refuse("expected '" + op->getName().getStringRef() + "' to have more than " + Twine(action.c) +
                      " results");
      return failure();
    }
    bindings[action.a] = Value(op->getResult(action.c)).getAsOpaquePointer();
    return success();
  }

  void list(const Action &action) {
    bindings.setList(action.a);
    if (program.slots[action.a].kind == SlotKind::Values) {
      bindings.values(action.a) = values(action.operands);
      return;
    }
    SmallVector<Type> types;
    addTypes(action.operands, types);
    bindings.types(action.a) = types;
  }

private:
  /// Fuses different locations like Builder::getFusedLoc.
  Location fuse(ArrayRef<Location> locs) {
    // If no location is fused or unknown, nothing has to be flattened or dropped, and no set is needed.
    if (llvm::none_of(locs, llvm::IsaPred<FusedLoc, UnknownLoc>))
      return FusedLoc::get(rewriter.getContext(), locs, Attribute());
    return rewriter.getFusedLoc(locs);
  }

  /// Returns true if a matched op is part of a recorded call.
  bool isOfCall() {
    if (!ofCall)
      ofCall = llvm::any_of(program.ops, [&](unsigned slot) {
        Operation *op = bindings.op(slot);
        return !op->getRawDictionaryAttrs().empty() && op->hasAttr(InlayDialect::kSignatureAttr);
      });
    return *ofCall;
  }

  /// Adds the op to be created to the calls that the matched ops are part of.
  void addToCalls(const Action &action, OperationState &state) {
    if (!isOfCall() || state.attributes.get(InlayDialect::kSignatureAttr))
      return;
    SmallVector<Operation *> matched =
        llvm::map_to_vector(program.ops, [&](unsigned slot) { return bindings.op(slot); });
    Operation *replaced = action.replaces >= 0 ? bindings.op(action.replaces) : nullptr;
    if (ArrayAttr records = mergeSignatures(matched, state.operands, replaced, state.types.size()))
      state.addAttribute(InlayDialect::kSignatureAttr, records);
  }

  void insert(const Action &action, Operation *op) {
    rewriter.insert(op);
    bindings[action.a] = op;
  }

  LogicalResult createCopy(const Action &action) {
    SmallVector<Value> operands = values(action.operands);
    SmallVector<Type> types;
    TypeRange given = types;
    if (!action.types.empty()) {
      addTypes(action.types, types);
      given = types;
    } else if (action.replaces >= 0) {
      given = bindings.op(action.replaces)->getResultTypes();
    } else {
      return createAnew(action, {});
    }
    Operation *model = action.model.get();
    Operation *op = Operation::create(getLoc(), *action.name, given, operands, model->getRawDictionaryAttrs(),
                                      model->getPropertiesStorage(), BlockRange(), 0);
    insert(action, op);
    bool hasAttributes = !op->getRawDictionaryAttrs().empty();
    bool isKnown = op->isRegistered() || op->getDialect() || !rewriter.getContext()->allowsUnregisteredDialects();
    if (!isKnown && !hasAttributes && !llvm::is_contained(operands, Value()))
      return success(); // Nothing else can be wrong with such an op.
    // For a registered op without attributes, only its own invariants need to be verified.
    if (!op->isRegistered() || hasAttributes)
      return verify(op);
    return success(succeeded(action.name->verifyInvariants(op)) && succeeded(action.name->verifyRegionInvariants(op)));
  }

  LogicalResult createAnew(const Action &action, ArrayRef<NamedAttribute> carried) {
    OperationState state(getLoc(), *action.name);
    state.operands = values(action.operands);
    for (auto [name, slot] : action.attributes)
      state.addAttribute(name, bindings.attribute(slot));
    for (NamedAttribute attribute : carried)
      if (!state.attributes.get(attribute.getName()))
        state.attributes.push_back(attribute);
    addTypes(action.types, state.types);
    if (action.regionsFrom >= 0)
      for (unsigned i = 0; i < bindings.op(action.regionsFrom)->getNumRegions(); ++i)
        state.addRegion();
    // Types that the pattern leaves out are those of the replaced op. If the op replaces none, its definition infers
    // them.
    if (state.types.empty() && action.replaces >= 0)
      state.addTypes(bindings.op(action.replaces)->getResultTypes());
    else if (state.types.empty() && failed(inferTypes(state, state.location)))
      return failure();
    addToCalls(action, state);
    insert(action, Operation::create(state));
    // An op that takes regions can only be verified once it has them.
    return action.regionsFrom >= 0 ? success() : verify(bindings.op(action.a));
  }

  void addTypes(ArrayRef<unsigned> slots, SmallVectorImpl<Type> &types) {
    for (unsigned slot : slots)
      if (program.slots[slot].kind == SlotKind::Types)
        llvm::append_range(types, bindings.types(slot));
      else
        types.push_back(bindings.type(slot));
  }

  const MatchProgram &program;
  Bindings &bindings;
  GraphRewriter &rewriter;
  std::optional<Location> loc;
  std::optional<bool> ofCall;
};
} // namespace

/// Sets the insertion point if several ops are replaced: at the first of them, but after all ops outside the match
/// whose results the match uses. Fails if a user of a replaced op comes before that point.
static LogicalResult setCommonInsertionPoint(const MatchProgram &program, const Bindings &bindings,
                                             GraphRewriter &rewriter) {
  Operation *root = bindings.op(program.ops.front()), *first = root, *last = nullptr;
  llvm::SmallSetVector<Operation *, 8> matched;
  for (unsigned slot : program.ops)
    if (Operation *op = bindings.op(slot); op->getBlock() == root->getBlock())
      matched.insert(op);
  for (Operation *op : matched) {
    if (op->isBeforeInBlock(first))
      first = op;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && producer->getBlock() == root->getBlock() && !matched.contains(producer))
        last = last && producer->isBeforeInBlock(last) ? last : producer;
  }
  Operation *before = last && first->isBeforeInBlock(last) ? last->getNextNode() : first;
  for (Operation *op : matched)
    for (Operation *user : op->getUsers())
      if (Operation *inBlock = root->getBlock()->findAncestorOpInBlock(*user);
          inBlock && !matched.contains(inBlock) && inBlock->isBeforeInBlock(before))
        return failure();
  rewriter.setInsertionPoint(before);
  return success();
}

static bool haveTypesOf(ValueRange values, Operation *op) {
  if (values.size() != op->getNumResults())
    return false;
  for (auto [number, value] : llvm::enumerate(values))
    if (value.getType() != op->getResult(number).getType())
      return false;
  return true;
}

LogicalResult Replacement::apply(const MatchProgram &program, Bindings &bindings, ArrayRef<NamedAttribute> carried,
                                 GraphRewriter &rewriter) const {
  rewriter.setInsertionPoint(bindings.op(root));
  if (takesSeveral && failed(setCommonInsertionPoint(program, bindings, rewriter)))
    return failure();
  Application application(program, bindings, rewriter);
  auto replace = [&](Operation *op, ValueRange values) {
    if (isInPlace && haveTypesOf(values, op))
      rewriter.replaceChecked(op, values);
    else
      rewriter.replaceOp(op, values);
  };
  for (const Action &action : actions) {
    switch (action.kind) {
    case Action::Create:
      if (failed(application.create(action, carried, root)))
        return failure();
      break;
    case Action::Result:
      if (failed(application.result(action)))
        return failure();
      break;
    case Action::Results:
      bindings.setList(action.a);
      bindings.values(action.a) = llvm::to_vector(ValueRange(bindings.op(action.b)->getResults()));
      break;
    case Action::List:
      application.list(action);
      break;
    case Action::Native: {
      std::string why;
      if (succeeded(callNative(natives[action.c], program.slots, bindings, rewriter.getArgs(), &rewriter, &why)))
        break;
      if (!why.empty())
        rewriter.refuse(why);
      return failure();
    }
    case Action::Replace:
      if (action.whole)
        replace(bindings.op(action.a), bindings.op(action.b)->getResults());
      else
        replace(bindings.op(action.a), application.values(action.operands));
      break;
    case Action::Erase:
      rewriter.eraseOp(bindings.op(action.a));
      break;
    }
    if (rewriter.hasError())
      return failure();
  }
  return success();
}
