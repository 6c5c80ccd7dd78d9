// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a match program on an op. MatchCompiler.cpp makes the program from PDL, and Driver/Explain.cpp explains a
// failed match.

#include "MatchProgram.h"
#include "Rewrite/Graph/UserIndex.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Support/ToText.h"

using namespace mlir;
using namespace inlay;

void Bindings::reset(const MatchProgram &program) {
  pointers.assign(program.constants.begin(), program.constants.end());
  for (unsigned slot : program.constantLists)
    types(slot) =
        llvm::to_vector(cast<ArrayAttr>(Attribute::getFromOpaquePointer(pointers[slot])).getAsValueRange<TypeAttr>());
}

void MatchProgram::finish() {
  for (auto [number, slot] : llvm::enumerate(slots)) {
    constants.push_back(slot.constant);
    if (slot.kind == SlotKind::Types && slot.constant)
      constantLists.push_back(number);
  }
  findEarlierOps();
  joinSteps();
}

/// Collects for each User step the ops bound before it. Different ops of a pattern must match different ops of the
/// graph.
void MatchProgram::findEarlierOps() {
  SmallVector<unsigned, 4> bound = {ops.front()};
  for (Step &step : steps) {
    if (step.kind == Step::User) {
      step.d = earlierOps.size();
      earlierOps.push_back(bound);
    }
    bool binds = (step.kind == Step::Definition || step.kind == Step::Definitions) && step.bind;
    if (binds || step.kind == Step::User)
      bound.push_back(step.b);
  }
}

void MatchProgram::joinSteps() {
  llvm::SmallDenseMap<unsigned, size_t> shapes; // By op.
  SmallVector<int> numbers;                     // Index of each step in `joined`.
  for (const Step &step : steps) {
    numbers.push_back(step.kind == Step::Order ? static_cast<int>(joined.size()) : -1);
    bool isCount = step.kind == Step::OperandCount || step.kind == Step::ResultCount;
    if (step.kind == Step::Name || step.kind == Step::NoRegions || (isCount && !step.open)) {
      auto [it, isNew] = shapes.try_emplace(step.a, joined.size());
      if (isNew) {
        joined.push_back(step);
        joined.back().kind = Step::Shape;
        joined.back().open = true;
        joined.back().b = joined.back().c = Step::kAny;
      }
      Step &shape = joined[it->second];
      if (step.kind == Step::Name)
        shape.name = step.name;
      else if (step.kind == Step::NoRegions)
        shape.open = false;
      else
        (step.kind == Step::OperandCount ? shape.b : shape.c) = step.b;
    } else if (step.kind != Step::AsWritten) {
      joined.push_back(step);
      if (step.order >= 0)
        joined.back().order = numbers[step.order];
    }
  }
}

//===-- Text for explanations -----------------------------------------------------------------------------------===//

static std::string quote(OperationName name) { return ("'" + name.getStringRef() + "'").str(); }

static std::string describe(Value value) {
  if (Operation *op = value ? value.getDefiningOp() : nullptr)
    return ("a result of '" + op->getName().getStringRef() + "'").str();
  return "a block argument";
}

/// Returns the operands or result types that a list step covers.
template <typename Element, typename Range>
static SmallVector<Element> slice(Range range, const Step &step) {
  SmallVector<Element> result;
  for (size_t i = step.c; i + step.d < range.size(); ++i)
    result.push_back(range[i]);
  return result;
}

namespace {
/// Runs the checks of one step. Each check returns true if the step holds. With `kExplains`, a failing check also
/// stores the reason.
template <bool kExplains>
class Checker {
public:
  Checker(const MatchProgram &program, Bindings &bindings, const MatchContext &context, ArrayRef<uint8_t> orders,
          std::string *whyNot)
      : program(program), bindings(bindings), context(context), orders(orders), whyNot(whyNot) {}

  LLVM_ATTRIBUTE_ALWAYS_INLINE bool check(const Step &step) {
    switch (step.kind) {
    case Step::Name:
      return checkName(step);
    case Step::OperandCount:
      return checkCount(step, bindings.op(step.a)->getNumOperands(), "operands");
    case Step::ResultCount:
      return checkCount(step, bindings.op(step.a)->getNumResults(), "results");
    case Step::Attribute:
      return checkAttribute(step);
    case Step::NoAttributes:
      return checkNoAttributes(step);
    case Step::AttributeType: {
      auto typed = dyn_cast<TypedAttr>(bindings.attribute(step.a));
      return checkType(step, typed ? typed.getType() : Type());
    }
    case Step::ResultType:
      return checkResultType(step);
    case Step::ResultTypes:
      return checkTypes(step, slice<Type>(bindings.op(step.a)->getResultTypes(), step));
    case Step::ValueType:
      return checkType(step, bindings.value(step.a).getType());
    case Step::ValueTypes:
      return checkTypes(step, llvm::to_vector(TypeRange(ValueRange(bindings.values(step.a)))));
    case Step::Operand:
      return checkOperand(step);
    case Step::Operands:
      return checkValues(step, slice<Value>(bindings.op(step.a)->getOperands(), step));
    case Step::Definition:
      return checkDefinition(step);
    case Step::Definitions:
      return checkDefinitions(step);
    case Step::Result: {
      Operation *op = bindings.op(step.a);
      return step.c < op->getNumResults() ? checkValue(step, op->getResult(step.c))
                                          : kExplains && no("it has too few results");
    }
    case Step::Results:
      return checkValues(step, llvm::to_vector<4>(llvm::map_range(bindings.op(step.a)->getResults(),
                                                                  [](OpResult result) { return Value(result); })));
    case Step::Uses:
      return checkUses(step);
    case Step::NoRegions:
      return bindings.op(step.a)->getNumRegions() == 0 ||
             (kExplains &&
              no("expected an op without regions, but " + quote(bindings.op(step.a)->getName()) + " has some"));
    case Step::Native:
      return succeeded(callNative(program.natives[step.c], program.slots, bindings, context.args, nullptr, whyNot));
    case Step::Equal:
      return bindings[step.a] == bindings[step.b] || (kExplains && no("expected equal values, but they differ"));
    case Step::Shape:
      return checkShape(step);
    case Step::AsWritten:
    case Step::Order:
    case Step::User:
      return true;
    }
    return false;
  }

private:
  /// Test `kExplains` before calling this, because building the text takes longer than most checks.
  bool no(const Twine &why) {
    if (whyNot->empty())
      *whyNot = why.str();
    return false;
  }

  bool checkName(const Step &step) {
    OperationName found = bindings.op(step.a)->getName();
    return found.getAsOpaquePointer() == step.name ||
           (kExplains &&
            no("expected " + quote(OperationName::getFromOpaquePointer(step.name)) + ", but found " + quote(found)));
  }

  bool checkCount(const Step &step, unsigned found, StringRef what) {
    return (step.open ? found >= step.b : found == step.b) ||
           (kExplains && no("expected " + Twine(step.open ? "at least " : "") + Twine(step.b) + " " + what +
                            ", but found " + Twine(found)));
  }

  bool checkShape(const Step &step) {
    Operation *op = bindings.op(step.a);
    return (!step.name || op->getName().getAsOpaquePointer() == step.name) &&
           (step.b == Step::kAny || op->getNumOperands() == step.b) &&
           (step.c == Step::kAny || op->getNumResults() == step.c) && (step.open || op->getNumRegions() == 0);
  }

  bool checkAttribute(const Step &step) {
    Attribute found = bindings.op(step.a)->getAttr(step.text);
    if (!found)
      return kExplains && no("expected attribute '" + step.text.getValue() + "', but there is none");
    if (step.bind) {
      bindings[step.b] = found.getAsOpaquePointer();
      return true;
    }
    return found.getAsOpaquePointer() == bindings[step.b] ||
           (kExplains && no("expected attribute '" + step.text.getValue() + "' to be " +
                            toText(bindings.attribute(step.b)) + ", but found " + toText(found)));
  }

  bool checkNoAttributes(const Step &step) {
    Operation *op = bindings.op(step.a);
    // Most ops have no attributes at all, and testing for that is faster than listing them.
    return (op->getPropertiesStorageSize() == 0 && op->getRawDictionaryAttrs().empty()) || checkAttributes(step, op);
  }

  LLVM_ATTRIBUTE_NOINLINE bool checkAttributes(const Step &step, Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (StringRef name = attribute.getName();
          !name.contains('.') && !name.ends_with("SegmentSizes") &&
          !llvm::is_contained(program.attributeNames[step.c], attribute.getName()))
        return kExplains && no("expected no attribute '" + attribute.getName().getValue() + "', but found " +
                               toText(attribute.getValue()));
    return true;
  }

  bool checkType(const Step &step, Type found) {
    if (step.bind) {
      bindings[step.b] = found.getAsOpaquePointer();
      return found || (kExplains && no("expected an attribute with a type"));
    }
    return found.getAsOpaquePointer() == bindings[step.b] ||
           (kExplains && no("expected type " + toText(bindings.type(step.b)) + ", but found " + toText(found)));
  }

  bool checkResultType(const Step &step) {
    Operation *op = bindings.op(step.a);
    if (step.c >= op->getNumResults())
      return kExplains && no("it has too few results");
    return checkType(step, op->getResult(step.open ? op->getNumResults() - 1 - step.c : step.c).getType());
  }

  bool checkTypes(const Step &step, SmallVector<Type> found) {
    if (step.bind) {
      bindings.setList(step.b);
      bindings.types(step.b) = std::move(found);
      return true;
    }
    return found == bindings.types(step.b) ||
           (kExplains && no("expected the same types as elsewhere in the pattern, but found others"));
  }

  bool checkValue(const Step &step, Value found) {
    if (step.bind) {
      bindings[step.b] = found.getAsOpaquePointer();
      return true;
    }
    return found.getAsOpaquePointer() == bindings[step.b] ||
           (kExplains && no("expected the same value as elsewhere in the pattern, but found " + describe(found)));
  }

  bool checkValues(const Step &step, SmallVector<Value> found) {
    if (step.bind) {
      bindings.setList(step.b);
      bindings.values(step.b) = std::move(found);
      return true;
    }
    return found == bindings.values(step.b) ||
           (kExplains && no("expected the same values as elsewhere in the pattern"));
  }

  bool checkOperand(const Step &step) {
    Operation *op = bindings.op(step.a);
    unsigned number = step.order >= 0 && orders[step.order] ? 1 - step.c : step.c;
    if (number >= op->getNumOperands())
      return kExplains && no("it has too few operands");
    return checkValue(step, op->getOperand(step.open ? op->getNumOperands() - 1 - number : number));
  }

  bool checkDefinition(const Step &step) {
    auto result = dyn_cast_or_null<OpResult>(bindings.value(step.a));
    if (!result) {
      auto wanted = cast<pdl::OperationOp>(step.source);
      return kExplains &&
             no("expected a result of '" + wanted.getOpName().value_or("any op") + "', but found a block argument");
    }
    Operation *op = result.getOwner();
    if (step.bind)
      bindings[step.b] = op;
    else if (bindings.op(step.b) != op)
      return kExplains &&
             no("expected a result of the same op as elsewhere in the pattern, but found " + describe(result));
    if (result.getResultNumber() != step.c)
      return kExplains && no("expected result #" + Twine(step.c) + ", but found #" + Twine(result.getResultNumber()));
    return !step.bind || isInReach(op);
  }

  bool checkDefinitions(const Step &step) {
    ArrayRef<Value> values = bindings.values(step.a);
    Operation *op = values.empty() ? nullptr : values.front().getDefiningOp();
    if (!op || op->getNumResults() != values.size() ||
        !llvm::equal(values, op->getResults(), [](Value a, OpResult b) { return a == Value(b); }))
      return kExplains && no("expected all results of one op");
    if (!step.bind)
      return bindings.op(step.b) == op ||
             (kExplains && no("expected results of the same op as elsewhere in the pattern"));
    bindings[step.b] = op;
    return isInReach(op);
  }

  /// A match stays in the block of its root, so that no op moves into a loop or a segment. Constants may be anywhere.
  bool isInReach(Operation *op) {
    Operation *root = bindings.op(program.ops.front());
    if (op->getBlock() == root->getBlock() || op->hasTrait<OpTrait::ConstantLike>())
      return true;
    if (!context.acrossSegments)
      return kExplains && no("expected an op in the block of the root, but it is in another");
    // A match may also reach from an open segment into the block around it.
    for (Operation *around = root->getParentOp(); around && isa<SegmentOp>(around); around = around->getParentOp())
      if (around->getBlock() == op->getBlock())
        return true;
    return kExplains && no("expected an op in the block of the root or around its segment, but it is elsewhere");
  }

  bool checkUses(const Step &step) {
    Operation *op = bindings.op(step.a);
    ArrayRef<unsigned> counts = program.useCounts[step.c];
    for (unsigned number = 0; number < op->getNumResults(); ++number) {
      OpResult result = op->getResult(number);
      unsigned wanted = number < counts.size() ? counts[number] : 0;
      auto use = result.use_begin();
      for (unsigned i = 0; i < wanted && use != result.use_end(); ++i)
        ++use;
      // Constants may have any users. This is tested last because looking up a trait is slower than the loop above.
      if (use != result.use_end())
        return op->hasTrait<OpTrait::ConstantLike>() ||
               (kExplains &&
                no("expected " + quote(op->getName()) + " to be used by matched ops only, but it has another user, " +
                   quote((*result.user_begin())->getName()) + "; mark it 'shared' in the pattern to allow this"));
    }
    return true;
  }

  const MatchProgram &program;
  Bindings &bindings;
  const MatchContext &context;
  ArrayRef<uint8_t> orders;
  std::string *whyNot;
};

/// A choice that may have further alternatives: the step, and the next user to try.
struct Choice {
  Choice(unsigned number, const Step &step, Bindings &bindings, const MatchContext &context) : step(number) {
    if (step.kind != Step::User)
      return;
    Value value = bindings.value(step.a);
    if (context.users)
      users = context.users->get(value, step.name);
    if (users)
      next = users->first;
    else
      use = value.use_begin();
  }

  /// Binds the next user in `block` that matches the op of `step`. Returns false if there is none left.
  bool takeNextUser(const MatchProgram &program, const Step &step, Bindings &bindings, Block *block) {
    Value value = bindings.value(step.a);
    auto isTaken = [&](Operation *user) {
      return llvm::any_of(program.earlierOps[step.d], [&](unsigned op) { return bindings.op(op) == user; });
    };
    auto fits = [&](Operation *user, unsigned operand) {
      if ((operand != step.c && !step.open) || user->getBlock() != block ||
          user->getName().getAsOpaquePointer() != step.name || operand >= user->getNumOperands() ||
          user->getOperand(operand) != value || isTaken(user))
        return false;
      bindings[step.b] = user;
      return true;
    };
    if (users) {
      while (next < users->uses.size())
        if (auto [user, operand] = users->uses[next++]; fits(user, operand))
          return true;
      return false;
    }
    while (use != value.use_end()) {
      OpOperand &current = *use++;
      if (fits(current.getOwner(), current.getOperandNumber()))
        return true;
    }
    return false;
  }

  unsigned step;
  UserIndex::Users *users = nullptr;
  size_t next = 0;
  Value::use_iterator use;
};
} // namespace

bool MatchProgram::check(const Step &step, Bindings &bindings, const MatchContext &context, ArrayRef<uint8_t> orders,
                         std::string *whyNot) const {
  if (whyNot)
    return Checker<true>(*this, bindings, context, orders, whyNot).check(step);
  return Checker<false>(*this, bindings, context, orders, nullptr).check(step);
}

static bool giveUp(const MatchContext &context) {
  if (context.gaveUp)
    *context.gaveUp = true;
  if (context.whyNot && context.whyNot->empty())
    *context.whyNot = "there are too many ways to match";
  return false;
}

/// Runs `steps` of `program`. Explanations use the steps in their original form, before they are joined.
template <bool kExplains>
static bool runSteps(const MatchProgram &program, ArrayRef<Step> steps, Bindings &bindings,
                     const MatchContext &context) {
  Operation *root = bindings.op(program.ops.front());
  SmallVector<uint8_t, 64> orders(steps.size(), 0);
  SmallVector<Choice, 4> choices;
  Checker<kExplains> checker(program, bindings, context, orders, context.whyNot);
  unsigned ways = 0;
  for (const Step *step = steps.begin(); step != steps.end();) {
    if (step->isChoice()) {
      choices.emplace_back(step - steps.begin(), *step, bindings, context);
      orders[step - steps.begin()] = 0;
    }
    // A User step takes its first user by backtracking to itself.
    if (LLVM_LIKELY(step->kind != Step::User && checker.check(*step))) {
      ++step;
      continue;
    }
    while (!choices.empty()) {
      Choice &choice = choices.back();
      const Step &chosen = steps[choice.step];
      bool more = chosen.kind == Step::Order ? orders[choice.step]++ == 0
                                             : choice.takeNextUser(program, chosen, bindings, root->getBlock());
      if (more)
        break;
      choices.pop_back();
    }
    if (choices.empty())
      return false;
    // A single choice takes linear time in the number of users, so only nested choices are counted.
    if (choices.size() > 1 && ++ways > MatchProgram::kMaxWays)
      return giveUp(context);
    step = steps.begin() + choices.back().step + 1;
  }
  return true;
}

bool MatchProgram::run(Operation *root, Bindings &bindings, const MatchContext &context) const {
  bindings.reset(*this);
  bindings[ops.front()] = root;
  return context.whyNot ? runSteps<true>(*this, steps, bindings, context)
                        : runSteps<false>(*this, joined, bindings, context);
}

//===-- Native calls --------------------------------------------------------------------------------------------===//

namespace {
struct Results : PDLResultList {
  explicit Results(unsigned count) : PDLResultList(count) {}
  ArrayRef<PDLValue> get() const { return results; }
};
} // namespace

static bool fits(const PDLValue &value, SlotKind kind) {
  static constexpr PDLValue::Kind kinds[] = {PDLValue::Kind::Operation,  PDLValue::Kind::Value,
                                             PDLValue::Kind::Attribute,  PDLValue::Kind::Type,
                                             PDLValue::Kind::ValueRange, PDLValue::Kind::TypeRange};
  return value && value.getKind() == kinds[static_cast<int>(kind)];
}

LogicalResult inlay::callNative(const NativeStep &native, ArrayRef<Slot> slots, Bindings &bindings, DictionaryAttr args,
                                GraphRewriter *rewriter, std::string *whyNot) {
  SmallVector<PDLValue, 4> operands;
  std::deque<ValueRange> valueRanges;
  std::deque<TypeRange> typeRanges;
  for (unsigned slot : native.operands) {
    switch (slots[slot].kind) {
    case SlotKind::Operation:
      operands.push_back(bindings.op(slot));
      break;
    case SlotKind::Value:
      operands.push_back(bindings.value(slot));
      break;
    case SlotKind::Attribute:
      operands.push_back(bindings.attribute(slot));
      break;
    case SlotKind::Type:
      operands.push_back(bindings.type(slot));
      break;
    case SlotKind::Values:
      operands.push_back(&valueRanges.emplace_back(bindings.values(slot)));
      break;
    case SlotKind::Types:
      operands.push_back(&typeRanges.emplace_back(bindings.types(slot)));
      break;
    }
  }
  Results results(native.results.size());
  NativeCall call{operands, args, rewriter, &results, whyNot};
  bool held = succeeded((*native.function)(call));
  if (held == native.negated)
    return call.fail("'" + Twine(native.name) + (held ? "' holds, but must not" : "' doesn't hold"));
  if (results.get().size() != native.results.size())
    return call.fail("expected '" + native.name + "' to return " + Twine(native.results.size()) + " results, but got " +
                     Twine(results.get().size()));
  for (auto [slot, value] : llvm::zip_equal(native.results, results.get())) {
    if (!fits(value, slots[slot].kind))
      return call.fail("expected '" + native.name + "' to return a result of another kind");
    if (slots[slot].kind == SlotKind::Values) {
      bindings.setList(slot);
      bindings.values(slot) = llvm::to_vector(value.cast<ValueRange>());
    } else if (slots[slot].kind == SlotKind::Types) {
      bindings.setList(slot);
      bindings.types(slot) = llvm::to_vector(value.cast<TypeRange>());
    } else {
      bindings[slot] = value.getAsOpaquePointer();
    }
  }
  return success();
}
