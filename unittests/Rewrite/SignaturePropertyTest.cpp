// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests recorded calls in random graphs under random rules that preserve the meaning of every value. An input that a
// call reports afterwards must be in the graph, must be used by an op of the call, and must mean what was recorded.

#include "RewriteFixture.h"
#include "inlay/Rewrite/Signature.h"

#include <random>

using namespace mlir;
using namespace inlay;

namespace {
/// The meaning of a value as a sum of terms. `t.id` is its operand, `t.add` the sum of its operands in any order, and
/// `t.twice` the sum of its operand with itself. Trailing digits of names are ignored.
class Meaning {
public:
  using Terms = std::vector<size_t>;

  const Terms &of(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    Terms terms = find(value);
    llvm::sort(terms);
    return known[value] = std::move(terms);
  }

private:
  Terms find(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return {cast<BlockArgument>(value).getArgNumber()};
    StringRef name = op->getName().getStringRef().rtrim("0123456789");
    Terms terms = of(op->getOperand(0));
    if (name == "t.id")
      return terms;
    if (name != "t.add" && name != "t.twice")
      return {llvm::hash_combine(name, llvm::hash_combine_range(terms.begin(), terms.end()))};
    const Terms more = of(op->getOperand(name == "t.add" ? 1 : 0));
    terms.insert(terms.end(), more.begin(), more.end());
    return terms;
  }

  std::map<Value, Terms, bool (*)(Value, Value)> known{
      [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }};
};

const char *const kRules[] = {
    R"(pdl.pattern @count : benefit(1) {
      %x = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.f"(%x : !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %new = pdl.operation "t.f1"(%x : !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
    R"(pdl.pattern @identity : benefit(1) {
      %x = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.id"(%x : !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op { pdl.replace %op with (%x : !pdl.value) }
    })",
    R"(pdl.pattern @twice : benefit(1) {
      %x = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.add"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %new = pdl.operation "t.twice"(%x : !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
    R"(pdl.pattern @split : benefit(1) {
      %x = pdl.operand
      %y = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.add"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %id = pdl.operation "t.id1"(%y : !pdl.value) -> (%t : !pdl.type)
        %r = pdl.result 0 of %id
        %new = pdl.operation "t.add1"(%x, %r : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
    R"(pdl.pattern @swap : benefit(1) {
      %x = pdl.operand
      %y = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.add"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %new = pdl.operation "t.add3"(%y, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
    R"(pdl.pattern @associate : benefit(1) {
      %x = pdl.operand
      %y = pdl.operand
      %z = pdl.operand
      %t = pdl.type
      %in = pdl.operation "t.add"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type) {shared}
      %r = pdl.result 0 of %in
      %op = pdl.operation "t.add"(%r, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %a = pdl.operation "t.add2"(%y, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        %ar = pdl.result 0 of %a
        %new = pdl.operation "t.add2"(%x, %ar : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
    R"(pdl.pattern @back : benefit(1) {
      %x = pdl.operand
      %t = pdl.type
      %in = pdl.operation "t.f1"(%x : !pdl.value) -> (%t : !pdl.type) {shared}
      %r = pdl.result 0 of %in
      %op = pdl.operation "t.f1"(%r : !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %a = pdl.operation "t.f2"(%x : !pdl.value) -> (%t : !pdl.type)
        %ar = pdl.result 0 of %a
        %new = pdl.operation "t.f2"(%ar : !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })",
};

class SignaturePropertyTest : public RewriteFixture, public testing::WithParamInterface<unsigned> {
protected:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random); }

  Value create(StringRef name, ValueRange operands) {
    OperationState state(UnknownLoc::get(&context), name);
    state.addOperands(operands);
    state.addTypes(operands.front().getType());
    return builder.create(state)->getResult(0);
  }

  /// Records a call of some ops over the available values. Calls nest.
  void makeCall(SmallVectorImpl<Value> &values, unsigned depth) {
    SignatureRecorder call(builder, *module, "call");
    SmallVector<Value> inputs{values[pick(values.size())], values[pick(values.size())]};
    call.argument("first", call.tensor(inputs[0]));
    call.argument("list", builder.getArrayAttr({call.tensor(inputs[1]), builder.getUnitAttr()}));
    SmallVector<Value> inner = inputs;
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i) {
      if (depth < 2 && pick(6) == 0)
        makeCall(inner, depth + 1);
      Value x = inner[pick(inner.size())], y = inner[pick(inner.size())];
      const unsigned kind = pick(4);
      inner.push_back(kind < 2 ? create("t.add", {x, y}) : create(kind == 2 ? "t.id" : "t.f", x));
    }
    call.outputs(builder.getArrayAttr({call.tensor(inner.back())}));
    values.push_back(inner.back());
  }

  std::mt19937 random{GetParam()};
  OwningOpRef<ModuleOp> module;
  OpBuilder builder{&context};
};

/// Returns the meaning of each input that is still read, by call and argument.
std::map<std::string, Meaning::Terms> readInputs(ModuleOp module, Meaning meaning = {}) {
  std::map<std::string, Meaning::Terms> result;
  SignatureTable table(module);
  for (StringRef key : table.getKeys()) {
    Signature call = *table.get(key);
    CallInputs inputs = call.cloneInputs();
    for (auto [number, value] : llvm::enumerate(inputs.tensors)) {
      if (!value)
        continue;
      result[(key + "/" + Twine(number)).str()] = meaning.of(value);
      bool read = llvm::any_of(call.getOps(), [&, value = value](Operation *op) {
        return llvm::is_contained(op->getOperands(), value) && op->getBlock();
      });
      EXPECT_TRUE(read) << key.str() << " says that it reads what none of its ops does";
      EXPECT_EQ(value.getParentBlock(), &(*module.getOps<func::FuncOp>().begin()).front());
    }
    if (Value first = call.getInput("first"))
      result[key.str() + "/first"] = meaning.of(first);
  }
  return result;
}

TEST_P(SignaturePropertyTest, NoInputIsStaleAfterRewriting) {
  module = parseBody("");
  auto function = *module->getOps<func::FuncOp>().begin();
  Block &block = function.front();
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> values(block.getArguments());
  for (unsigned i = 0; i < 12; ++i)
    makeCall(values, 0);
  for (Value value : ArrayRef(values).drop_front(2)) {
    OperationState state(UnknownLoc::get(&context), "t.use");
    state.addOperands(value);
    builder.create(state);
  }
  std::map<std::string, Meaning::Terms> before = readInputs(*module);
  EXPECT_GT(before.size(), 20u);
  RewritePatternManager manager;
  std::vector<const char *> rules(std::begin(kRules), std::end(kRules));
  std::shuffle(rules.begin(), rules.end(), random);
  rules.resize(1 + pick(rules.size()));
  for (const char *rule : rules)
    add(manager, rule);
  RewriteOptions options;
  options.driver = pick(2) ? RewriteDriver::Fixpoint : RewriteDriver::Sweep;
  options.limit = pick(3) ? -1 : pick(20);
  ASSERT_TRUE(succeeded(manager.rewrite(*module, options)));
  ASSERT_TRUE(succeeded(verify(*module)));
  for (const auto &[input, means] : readInputs(*module)) {
    auto it = before.find(input);
    if (it != before.end())
      EXPECT_EQ(means, it->second) << input;
    else
      ADD_FAILURE() << input << " was not recorded";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SignaturePropertyTest, testing::Range(0u, 200u));
} // namespace
