// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a pdl.rewrite to the actions of a replacement.

#include "Replacement.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

namespace inlay {
class ReplacementCompiler {
public:
  ReplacementCompiler(pdl::PatternOp pattern, const NativeFunctions &functions, DenseMap<Value, unsigned> &slotOf,
                      MatchProgram &program)
      : pattern(pattern), functions(functions), slotOf(slotOf), program(program) {}

  FailureOr<Replacement> run() {
    pdl::RewriteOp rewrite = pattern.getRewriter();
    result.root = program.ops.front();
    result.dropsAttributes = pattern->hasAttr("drop_attributes");
    for (auto op : pattern.getBody()->getOps<pdl::OperationOp>())
      for (Attribute name : op.getAttributeValueNames())
        result.mentioned.push_back({slot(op.getOp()), cast<StringAttr>(name)});
    if (rewrite.getName()) {
      SmallVector<Value> arguments;
      if (rewrite.getRoot())
        arguments.push_back(rewrite.getRoot());
      llvm::append_range(arguments, rewrite.getExternalArgs());
      addNative(rewrite, *rewrite.getName(), arguments, {});
      return std::move(result);
    }
    if (rewrite.getBodyRegion().empty())
      return rewrite.emitError("expected a rewrite with a body or a function's name, but got neither");
    for (Operation &op : rewrite.getBodyRegion().front())
      if (failed(add(op)))
        return failure();
    unsigned taken = 0;
    for (const Action &action : result.actions) {
      taken += action.kind == Action::Replace || action.kind == Action::Erase;
      result.hasTaker |= action.kind == Action::Create && action.replaces == static_cast<int>(result.root);
    }
    result.takesSeveral = taken > 1;
    result.isInPlace = taken == 1 && isInPlace(rewrite);
    return std::move(result);
  }

private:
  bool isInPlace(pdl::RewriteOp rewrite) const {
    Block *body = &rewrite.getBodyRegion().front();
    auto isResultOf = [](Operation *op, auto holds) {
      if (auto result = dyn_cast_or_null<pdl::ResultOp>(op))
        return holds(result.getParent());
      auto results = dyn_cast_or_null<pdl::ResultsOp>(op);
      return results && holds(results.getParent());
    };
    auto isRoot = [&](Value op) { return slot(op) == result.root; };
    auto isMade = [&](Value op) { return op.getDefiningOp()->getBlock() == body; };
    for (Operation &op : *body) {
      if (isa<pdl::ApplyNativeRewriteOp, pdl::EraseOp>(op))
        return false;
      auto replace = dyn_cast<pdl::ReplaceOp>(op);
      if (!replace) {
        if (llvm::any_of(op.getOperands(), [&](Value value) { return isResultOf(value.getDefiningOp(), isRoot); }))
          return false;
        continue;
      }
      Value by = replace.getReplOperation();
      bool good = by ? isMade(by) : llvm::all_of(replace.getReplValues(), [&](Value value) {
        return isResultOf(value.getDefiningOp(), isMade);
      });
      if (!good || !isRoot(replace.getOpValue()))
        return false;
    }
    return true;
  }

  static SlotKind kindOf(Type type) {
    if (auto range = dyn_cast<pdl::RangeType>(type))
      return isa<pdl::ValueType>(range.getElementType()) ? SlotKind::Values : SlotKind::Types;
    return llvm::TypeSwitch<Type, SlotKind>(type)
        .Case<pdl::OperationType>([](auto) { return SlotKind::Operation; })
        .Case<pdl::ValueType>([](auto) { return SlotKind::Value; })
        .Case<pdl::AttributeType>([](auto) { return SlotKind::Attribute; })
        .Default([](auto) { return SlotKind::Type; });
  }

  unsigned slot(Value value) const { return slotOf.find(value)->second; }

  unsigned addSlot(Value value, const void *constant = nullptr) {
    slotOf[value] = program.slots.size();
    program.slots.push_back({kindOf(value.getType()), "", constant, value.getDefiningOp()});
    return slotOf[value];
  }

  SmallVector<unsigned, 4> slotsOf(ValueRange values) const {
    return llvm::map_to_vector<4>(values, [&](Value value) { return slot(value); });
  }

  Action &add(Action::Kind kind, Operation *source) {
    result.actions.emplace_back();
    result.actions.back().kind = kind;
    result.actions.back().source = source;
    return result.actions.back();
  }

  LogicalResult add(Operation &op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<pdl::OperationOp, pdl::ReplaceOp>([&](auto typed) { return add(typed); })
        .Case([&](pdl::AttributeOp attribute) {
          if (!attribute.getValueAttr())
            return LogicalResult(attribute.emitError("expected a value for an attribute that the rewrite creates"));
          addSlot(attribute.getAttr(), attribute.getValueAttr().getAsOpaquePointer());
          return success();
        })
        .Case([&](pdl::TypeOp type) {
          if (!type.getConstantType())
            return LogicalResult(type.emitError("expected a constant type, because nothing in a rewrite can bind one"));
          addSlot(type.getResult(), type.getConstantType()->getAsOpaquePointer());
          return success();
        })
        .Case([&](pdl::TypesOp types) {
          if (!types.getConstantTypesAttr())
            return LogicalResult(
                types.emitError("expected constant types, because nothing in a rewrite can bind them"));
          addSlot(types.getResult(), types.getConstantTypesAttr().getAsOpaquePointer());
          return success();
        })
        .Case([&](pdl::ResultOp value) {
          unsigned of = slot(value.getParent()), a = addSlot(value.getVal());
          Action &action = add(Action::Result, value);
          std::tie(action.a, action.b, action.c) = std::tuple(a, of, value.getIndex());
          return success();
        })
        .Case([&](pdl::ResultsOp values) {
          if (values.getIndex())
            return LogicalResult(values.emitError("expected all results of an op, but got one group of them"));
          unsigned of = slot(values.getParent()), a = addSlot(values.getVal());
          Action &action = add(Action::Results, values);
          std::tie(action.a, action.b) = std::pair(a, of);
          return success();
        })
        .Case([&](pdl::RangeOp range) {
          SmallVector<unsigned, 4> parts = slotsOf(range.getArguments());
          unsigned a = addSlot(range.getResult());
          Action &action = add(Action::List, range);
          action.a = a;
          action.operands = parts;
          return success();
        })
        .Case([&](pdl::EraseOp erase) {
          add(Action::Erase, erase).a = slot(erase.getOpValue());
          return success();
        })
        .Case([&](pdl::ApplyNativeRewriteOp native) {
          addNative(native, native.getName(), native.getArgs(), native.getResults());
          return success();
        })
        .Default([](Operation *other) { return other->emitError("expected an op of a rewrite"); });
  }

  void addNative(Operation *source, StringRef name, ValueRange arguments, ValueRange results) {
    NativeStep native;
    auto it = functions.getRewrites().find(name);
    native.function = it == functions.getRewrites().end() ? nullptr : &it->second;
    native.name = name.str();
    native.operands = slotsOf(arguments);
    for (Value value : results)
      native.results.push_back(addSlot(value));
    add(Action::Native, source).c = result.natives.size();
    result.natives.push_back(std::move(native));
  }

  LogicalResult add(pdl::OperationOp op) {
    if (!op.getOpName())
      return op.emitError("expected a name for an op that the rewrite creates");
    SmallVector<unsigned, 4> operands = slotsOf(op.getOperandValues()), types = slotsOf(op.getTypeValues());
    unsigned a = addSlot(op.getOp());
    Action &action = add(Action::Create, op);
    action.a = a;
    action.name = OperationName(*op.getOpName(), op.getContext());
    action.operands = operands;
    action.types = types;
    for (auto [name, value] : llvm::zip(op.getAttributeValueNames(), op.getAttributeValues()))
      action.attributes.push_back({cast<StringAttr>(name), slot(value)});
    addModel(action);
    for (Operation *user : op.getOp().getUsers())
      if (auto native = dyn_cast<pdl::ApplyNativeRewriteOp>(user);
          native && native.getName() == "take_regions" && native.getArgs().size() == 2)
        action.regionsFrom = slot(native.getArgs()[1]);
    action.replaces = findReplaced(op);
    bool infers = action.name->hasInterface<InferTypeOpInterface>();
    if (types.empty() && action.replaces < 0 && !infers && action.name->isRegistered() &&
        !action.name->hasTrait<OpTrait::ZeroResults>())
      return op.emitError("expected the result types of '")
             << *op.getOpName() << "', which can't be inferred and which replaces no op";
    return success();
  }

  void addModel(Action &action) {
    NamedAttrList attributes;
    for (auto [name, slot] : action.attributes) {
      const void *constant = program.slots[slot].constant;
      if (!constant)
        return;
      attributes.set(name, Attribute::getFromOpaquePointer(constant));
    }
    Operation *model = Operation::create(UnknownLoc::get(pattern.getContext()), *action.name, TypeRange(), ValueRange(),
                                         std::move(attributes), OpaqueProperties(nullptr), BlockRange(), 0u);
    action.model = {model, [](Operation *op) { op->destroy(); }};
  }

  /// Returns the slot of the op that `op` replaces result by result, or -1 if there is none.
  int findReplaced(pdl::OperationOp op) const {
    for (Operation *user : op.getOp().getUsers()) {
      if (auto replace = dyn_cast<pdl::ReplaceOp>(user); replace && replace.getReplOperation() == op.getOp())
        return slot(replace.getOpValue());
      if (!isa<pdl::ResultOp, pdl::ResultsOp>(user))
        continue;
      for (Operation *of : user->getResult(0).getUsers()) {
        auto replace = dyn_cast<pdl::ReplaceOp>(of);
        if (!replace)
          continue;
        auto makes = [&](auto indexed) {
          auto value = indexed.value().template getDefiningOp<pdl::ResultOp>();
          return value && value.getParent() == op.getOp() && value.getIndex() == indexed.index();
        };
        if (isa<pdl::ResultsOp>(user) || llvm::all_of(llvm::enumerate(replace.getReplValues()), makes))
          return slot(replace.getOpValue());
      }
    }
    return -1;
  }

  LogicalResult add(pdl::ReplaceOp replace) {
    Action &action = add(Action::Replace, replace);
    action.a = slot(replace.getOpValue());
    if (Value op = replace.getReplOperation()) {
      action.whole = true;
      action.b = slot(op);
    } else {
      action.operands = slotsOf(replace.getReplValues());
    }
    return success();
  }

  pdl::PatternOp pattern;
  const NativeFunctions &functions;
  DenseMap<Value, unsigned> &slotOf;
  MatchProgram &program;
  Replacement result;
};
} // namespace inlay

FailureOr<Replacement> Replacement::compile(pdl::PatternOp pattern, const NativeFunctions &functions,
                                            DenseMap<Value, unsigned> &slotOf, MatchProgram &program) {
  return ReplacementCompiler(pattern, functions, slotOf, program).run();
}
