// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a pdl.pattern to the steps of a match. The steps follow the pattern from its root: first the checks of an op
// itself, then its operands from left to right, each with the op that defines it.

#include "MatchProgram.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace inlay;

namespace {
class Compiler {
public:
  Compiler(pdl::PatternOp pattern, const NativeFunctions &functions, DenseMap<Value, unsigned> &slotOf)
      : pattern(pattern), functions(functions), slotOf(slotOf) {}

  FailureOr<MatchProgram> run() {
    for (Operation &op : *pattern.getBody())
      if (failed(addSlots(op)))
        return failure();
    collectReplaced();
    FailureOr<pdl::OperationOp> root = findRoot();
    if (failed(root))
      return failure();
    bound.resize(program.slots.size());
    for (unsigned slot = 0; slot < program.slots.size(); ++slot)
      bound[slot] = program.slots[slot].constant != nullptr;
    bind(root->getOp());
    if (failed(visit(*root, 0)) || failed(reachTheRest()))
      return failure();
    if (addReadyNatives(); !natives.empty())
      return natives.front().emitError("expected arguments that the match binds, but one is never bound");
    return std::move(program);
  }

private:
  //===-- Slots -------------------------------------------------------------------------------------------------===//

  static std::optional<SlotKind> kindOf(Type type) {
    if (auto range = dyn_cast<pdl::RangeType>(type))
      return isa<pdl::ValueType>(range.getElementType()) ? SlotKind::Values : SlotKind::Types;
    if (isa<pdl::OperationType>(type))
      return SlotKind::Operation;
    if (isa<pdl::ValueType>(type))
      return SlotKind::Value;
    return isa<pdl::AttributeType>(type) ? SlotKind::Attribute : SlotKind::Type;
  }

  LogicalResult addSlots(Operation &op) {
    for (Value value : op.getResults()) {
      Slot slot{*kindOf(value.getType()), "", nullptr, &op};
      if (auto name = op.getAttrOfType<StringAttr>("capture"))
        slot.name = name.str();
      if (!slot.name.empty() && !names.insert(slot.name).second)
        return op.emitError("expected each name to be captured once, but '") << slot.name << "' is captured twice";
      if (auto attribute = dyn_cast<pdl::AttributeOp>(op))
        slot.constant = attribute.getValueAttr().getAsOpaquePointer();
      if (auto type = dyn_cast<pdl::TypeOp>(op); type && type.getConstantType())
        slot.constant = type.getConstantType()->getAsOpaquePointer();
      if (auto types = dyn_cast<pdl::TypesOp>(op); types && types.getConstantTypesAttr())
        slot.constant = types.getConstantTypesAttr().getAsOpaquePointer();
      slotOf[value] = program.slots.size();
      program.slots.push_back(std::move(slot));
    }
    if (auto native = dyn_cast<pdl::ApplyNativeConstraintOp>(op))
      natives.push_back(native);
    return success();
  }

  unsigned slot(Value value) const { return slotOf.find(value)->second; }
  bool isBound(Value value) const { return bound.test(slot(value)); }

  /// Binds `value`. Returns true if it was not bound before.
  bool bind(Value value) {
    bool first = !bound.test(slot(value));
    bound.set(slot(value));
    return first;
  }

  Step &add(Step::Kind kind, Operation *source, unsigned a, unsigned b = 0, unsigned c = 0) {
    program.steps.emplace_back();
    Step &step = program.steps.back();
    step.kind = kind;
    step.source = source;
    step.a = a;
    step.b = b;
    step.c = c;
    return step;
  }

  //===-- Ops ---------------------------------------------------------------------------------------------------===//

  /// Collects the ops that the rewrite replaces or erases. They may have users outside the match.
  void collectReplaced() {
    pdl::RewriteOp rewrite = pattern.getRewriter();
    for (Operation &op : rewrite.getBodyRegion().getOps()) {
      if (auto replace = dyn_cast<pdl::ReplaceOp>(op))
        replaced.insert(replace.getOpValue().getDefiningOp());
      if (auto erase = dyn_cast<pdl::EraseOp>(op))
        replaced.insert(erase.getOpValue().getDefiningOp());
      if (auto native = dyn_cast<pdl::ApplyNativeRewriteOp>(op); native && native.getName() == "take_regions")
        for (Value argument : native.getArgs())
          takesRegions.insert(argument.getDefiningOp());
    }
  }

  /// Returns the given root, else the op from which most others are reached through operands.
  FailureOr<pdl::OperationOp> findRoot() {
    auto ops = llvm::to_vector(pattern.getBody()->getOps<pdl::OperationOp>());
    if (ops.empty())
      return pattern.emitError("expected a pattern with at least one pdl.operation to match, but got none");
    if (Value root = pattern.getRewriter().getRoot())
      return cast<pdl::OperationOp>(root.getDefiningOp());
    pdl::OperationOp best;
    size_t bestCount = 0;
    for (pdl::OperationOp op : ops)
      if (size_t reached = countReached(op); replaced.contains(op) && reached > bestCount) {
        best = op;
        bestCount = reached;
      }
    return best ? best : ops.back();
  }

  static size_t countReached(pdl::OperationOp root) {
    llvm::SetVector<Operation *> reached;
    reached.insert(root);
    for (size_t i = 0; i < reached.size(); ++i)
      for (Value operand : cast<pdl::OperationOp>(reached[i]).getOperandValues())
        if (Operation *result = operand.getDefiningOp(); isa<pdl::ResultOp, pdl::ResultsOp>(result))
          reached.insert(result->getOperand(0).getDefiningOp());
    return reached.size();
  }

  LogicalResult visit(pdl::OperationOp op, unsigned depth) {
    unsigned a = slot(op.getOp());
    program.ops.push_back(a);
    program.depth = std::max(program.depth, depth);
    if (op.getOpName())
      add(Step::Name, op, a).name = OperationName(*op.getOpName(), op.getContext()).getAsOpaquePointer();
    if (!takesRegions.contains(op))
      add(Step::NoRegions, op, a);
    addAttributes(op, a);
    if (failed(addTypes(op, a)))
      return failure();
    addUses(op, a);
    addResults(op, a);
    addReadyNatives();
    return addOperands(op, a, depth);
  }

  void addAttributes(pdl::OperationOp op, unsigned a) {
    for (auto [name, value] : llvm::zip(op.getAttributeValueNames(), op.getAttributeValues())) {
      Step &step = add(Step::Attribute, value.getDefiningOp(), a, slot(value));
      step.text = cast<StringAttr>(name);
      step.bind = bind(value);
      if (auto attribute = value.getDefiningOp<pdl::AttributeOp>(); attribute && attribute.getValueType()) {
        Value type = attribute.getValueType();
        unsigned b = slot(type);
        bool first = bind(type);
        add(Step::AttributeType, attribute, slot(value), b).bind = first;
      }
    }
    if (op->hasAttr("exact")) {
      add(Step::NoAttributes, op, a, 0, program.attributeNames.size());
      program.attributeNames.emplace_back();
      for (Attribute name : op.getAttributeValueNames())
        program.attributeNames.back().push_back(cast<StringAttr>(name));
    }
  }

  /// Returns the position of the only list among `values`, or their number if there is none. Fails if there are two.
  FailureOr<unsigned> findList(pdl::OperationOp op, ValueRange values, StringRef what) {
    unsigned list = values.size();
    for (auto [number, value] : llvm::enumerate(values)) {
      if (!isa<pdl::RangeType>(value.getType()))
        continue;
      if (list != values.size())
        return op.emitError("expected at most one list among the ") << what << " of an op, but got two";
      list = number;
    }
    return list;
  }

  LogicalResult addTypes(pdl::OperationOp op, unsigned a) {
    ValueRange types = op.getTypeValues();
    FailureOr<unsigned> list = findList(op, types, "result types");
    if (failed(list))
      return failure();
    if (types.empty())
      return success();
    bool open = *list != types.size();
    add(Step::ResultCount, op, a, types.size() - open).open = open;
    for (auto [number, type] : llvm::enumerate(types)) {
      unsigned after = types.size() - 1 - number;
      bool isList = number == *list, fromEnd = number > *list;
      Step &step = add(isList ? Step::ResultTypes : Step::ResultType, type.getDefiningOp(), a, slot(type),
                       fromEnd ? after : number);
      step.open = fromEnd;
      step.d = after;
      step.bind = bind(type);
    }
    return success();
  }

  /// Inner results must have no users outside the pattern, unless the op is marked `shared` or replaced.
  void addUses(pdl::OperationOp op, unsigned a) {
    if (a == program.ops.front() || replaced.contains(op) || op->hasAttr("shared"))
      return;
    SmallVector<unsigned, 2> counts;
    for (Operation *user : op.getOp().getUsers()) {
      auto countOperands = [&](Value value) {
        return llvm::count_if(value.getUses(), [](OpOperand &use) {
          return isa<pdl::OperationOp>(use.getOwner()) && isa<pdl::PatternOp>(use.getOwner()->getParentOp());
        });
      };
      if (isa<pdl::ResultsOp>(user))
        // The number of results is open. The list itself counts its users.
        return;
      if (auto result = dyn_cast<pdl::ResultOp>(user)) {
        counts.resize(std::max<size_t>(counts.size(), result.getIndex() + 1));
        counts[result.getIndex()] += countOperands(result.getVal());
      }
    }
    add(Step::Uses, op, a, 0, program.useCounts.size());
    program.useCounts.push_back(counts);
  }

  /// Binds results that only constraints and the rewrite read.
  void addResults(pdl::OperationOp op, unsigned a) {
    for (Operation *user : op.getOp().getUsers()) {
      if (user->getBlock() != pattern.getBody())
        continue;
      if (auto result = dyn_cast<pdl::ResultOp>(user)) {
        if (bind(result.getVal()))
          add(Step::Result, result, a, slot(result.getVal()), result.getIndex()).bind = true;
      } else if (auto results = dyn_cast<pdl::ResultsOp>(user); results && !results.getIndex()) {
        if (bind(results.getVal()))
          add(Step::Results, results, a, slot(results.getVal())).bind = true;
      }
    }
  }

  //===-- Operands ----------------------------------------------------------------------------------------------===//

  bool isCommutative(pdl::OperationOp op) const {
    ValueRange operands = op.getOperandValues();
    if (!op.getOpName() || op->hasAttr("ordered") || operands.size() != 2 || operands[0] == operands[1])
      return false;
    std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(*op.getOpName(), op.getContext());
    bool commutes = op->hasAttr("commutative") || (name && name->hasTrait<OpTrait::IsCommutative>());
    return commutes && llvm::none_of(operands.getTypes(), llvm::IsaPred<pdl::RangeType>);
  }

  static bool hasOneUseIn(Value value, Operation *user) {
    return llvm::count_if(value.getUses(),
                          [&](OpOperand &use) { return use.getOwner()->getBlock() == user->getBlock(); }) == 1;
  }

  LogicalResult addOperands(pdl::OperationOp op, unsigned a, unsigned depth) {
    ValueRange operands = op.getOperandValues();
    FailureOr<unsigned> list = findList(op, operands, "operands");
    if (failed(list))
      return failure();
    bool open = *list != operands.size();
    add(Step::OperandCount, op, a, operands.size() - open).open = open;
    int order = -1;
    bool symmetric = operands.size() == 2 && llvm::all_of(operands, [&](Value value) {
                       auto leaf = value.getDefiningOp<pdl::OperandOp>();
                       return leaf && !leaf.getValueType() && !isBound(value) && hasOneUseIn(value, op);
                     });
    if (operands.size() == 2 && !open && !symmetric) {
      order = program.steps.size();
      add(isCommutative(op) ? Step::Order : Step::AsWritten, op, a);
    }
    for (auto [number, value] : llvm::enumerate(operands)) {
      unsigned after = operands.size() - 1 - number;
      bool isList = number == *list, fromEnd = number > *list;
      Step &step = add(isList ? Step::Operands : Step::Operand, op, a, slot(value), fromEnd ? after : number);
      step.open = fromEnd;
      step.d = after;
      step.order = order;
      step.bind = bind(value);
      if (step.bind && failed(visitValue(value, depth)))
        return failure();
    }
    return success();
  }

  LogicalResult visitValue(Value value, unsigned depth) {
    Operation *source = value.getDefiningOp();
    Value type, of;
    unsigned index = 0;
    if (auto operand = dyn_cast<pdl::OperandOp>(source))
      type = operand.getValueType();
    else if (auto operands = dyn_cast<pdl::OperandsOp>(source))
      type = operands.getValueType();
    else if (auto result = dyn_cast<pdl::ResultOp>(source))
      std::tie(of, index) = std::pair(Value(result.getParent()), result.getIndex());
    else if (auto results = dyn_cast<pdl::ResultsOp>(source); results && !results.getIndex())
      of = results.getParent();
    else
      return source->emitError("expected an operand, a result or all results of an op as an operand");
    bool isList = isa<pdl::RangeType>(value.getType());
    if (type) {
      unsigned b = slot(type);
      bool first = bind(type);
      add(isList ? Step::ValueTypes : Step::ValueType, source, slot(value), b).bind = first;
    }
    if (of) {
      auto op = cast<pdl::OperationOp>(of.getDefiningOp());
      bool first = bind(of);
      add(isList ? Step::Definitions : Step::Definition, op, slot(value), slot(of), index).bind = first;
      if (first)
        return visit(op, depth + 1);
    }
    addReadyNatives();
    return success();
  }

  /// Finds the ops that no operand leads to among the users of bound values.
  LogicalResult reachTheRest() {
    auto rest = [&] {
      return llvm::make_filter_range(pattern.getBody()->getOps<pdl::OperationOp>(),
                                     [&](pdl::OperationOp op) { return !isBound(op.getOp()); });
    };
    while (!rest().empty()) {
      addReadyNatives();
      bool found = false;
      for (pdl::OperationOp op : llvm::to_vector(rest())) {
        auto operands = op.getOperandValues();
        auto it = llvm::find_if(operands,
                                [&](Value value) { return isBound(value) && !isa<pdl::RangeType>(value.getType()); });
        if (it == operands.end() || isBound(op.getOp()))
          continue;
        if (!op.getOpName())
          return op.emitError("expected a name for an op that is found as a user of a value, but got none");
        bind(op.getOp());
        program.looksAtUsers = found = true;
        Step &step = add(Step::User, op, slot(*it), slot(op.getOp()), std::distance(operands.begin(), it));
        step.name = OperationName(*op.getOpName(), op.getContext()).getAsOpaquePointer();
        step.open = isCommutative(op);
        if (failed(visit(op, 0)))
          return failure();
      }
      if (!found)
        return (*rest().begin())
            ->emitError("expected an op that a shared value connects to the root, but no value does");
    }
    return success();
  }

  //===-- Native constraints ------------------------------------------------------------------------------------===//

  void addReadyNatives() {
    for (size_t i = 0; i < natives.size();) {
      pdl::ApplyNativeConstraintOp op = natives[i];
      if (!llvm::all_of(op.getArgs(), [&](Value value) { return isBound(value); })) {
        ++i;
        continue;
      }
      natives.erase(natives.begin() + i);
      addNative(op);
      i = 0;
    }
  }

  void addNative(pdl::ApplyNativeConstraintOp op) {
    NativeStep native;
    auto it = functions.getConstraints().find(op.getName());
    native.function = it == functions.getConstraints().end() ? nullptr : &it->second;
    native.name = op.getName().str();
    native.negated = op.getIsNegated();
    for (Value value : op.getArgs())
      native.operands.push_back(slot(value));
    SmallVector<std::pair<unsigned, unsigned>> compared;
    for (Value value : op.getResults()) {
      unsigned result = slot(value);
      // The attribute or type is already bound by the match, so the result is compared with it.
      if (!bind(value)) {
        result = program.slots.size();
        program.slots.push_back({program.slots[slot(value)].kind, "", nullptr, op});
        compared.push_back({slot(value), result});
      }
      native.results.push_back(result);
    }
    bound.resize(program.slots.size(), true);
    add(Step::Native, op, 0, 0, program.natives.size());
    program.natives.push_back(std::move(native));
    for (auto [a, b] : compared)
      add(Step::Equal, op, a, b);
  }

  pdl::PatternOp pattern;
  const NativeFunctions &functions;
  DenseMap<Value, unsigned> &slotOf;
  MatchProgram program;
  llvm::BitVector bound;
  llvm::StringSet<> names;
  llvm::DenseSet<Operation *> replaced, takesRegions;
  SmallVector<pdl::ApplyNativeConstraintOp> natives;
};
} // namespace

FailureOr<MatchProgram> MatchProgram::compile(pdl::PatternOp pattern, const NativeFunctions &functions,
                                              DenseMap<Value, unsigned> &slotOf) {
  return Compiler(pattern, functions, slotOf).run();
}
