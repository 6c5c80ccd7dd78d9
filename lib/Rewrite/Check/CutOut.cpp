// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the matched ops of a real graph into a function, with the constants that they need. DrawInstance.cpp draws
// such functions from a pattern instead.

#include "PatternInstance.h"
#include "TensorData.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace inlay;

static constexpr size_t kMaxConstants = 1000;

/// Returns all ops that compute `value`, producers first, if `value` depends on constants only. Otherwise returns an
/// empty list.
static SmallVector<Operation *> getConstantSlice(Value value) {
  llvm::SmallSetVector<Operation *, 8> ops;
  SmallVector<Value> queue{value};
  while (!queue.empty()) {
    Operation *op = queue.pop_back_val().getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isPure(op) || ops.size() > kMaxConstants)
      return {};
    if (!op->hasTrait<OpTrait::ConstantLike>() && op->getNumOperands() == 0)
      return {};
    if (ops.insert(op))
      llvm::append_range(queue, op->getOperands());
  }
  SmallVector<Operation *> sorted = ops.takeVector();
  bool oneBlock = llvm::all_of(sorted, [&](Operation *op) { return op->getBlock() == sorted.front()->getBlock(); });
  if (!oneBlock)
    return {};
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

namespace {
class Cutter {
public:
  Cutter(ArrayRef<Operation *> matched, Random &random)
      : matched(matched), random(random), builder(matched.front()->getContext()) {}

  PatternInstance run(Operation *root) {
    PatternInstance instance;
    instance.module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(instance.module->getBody());
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "match", builder.getFunctionType({}, {}));
    block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    for (Operation *op : matched)
      if (!copyMatched(op)) {
        instance.module = {};
        instance.whyNot = std::move(why);
        return instance;
      }
    SmallVector<Value> results;
    for (Operation *op : matched)
      for (Value result : op->getResults())
        if (op == root || llvm::any_of(result.getUsers(), [&](Operation *user) { return !isMatched(user); }))
          results.push_back(mapping.lookup(result));
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    function.setFunctionType(builder.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
    instance.root = mapping.lookup(root);
    instance.argumentNames.resize(block->getNumArguments());
    return instance;
  }

private:
  bool isMatched(Operation *op) const { return llvm::is_contained(matched, op); }

  bool copyMatched(Operation *op) {
    if (op->getNumRegions() != 0) {
      why = ("'" + op->getName().getStringRef() + "' has regions").str();
      return false;
    }
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand) && !provide(operand))
        return false;
    return copy(op);
  }

  /// Clones the constants that `value` is computed from, or adds an argument for it.
  bool provide(Value value) {
    if (SmallVector<Operation *> slice = getConstantSlice(value); !slice.empty())
      return llvm::all_of(slice, [&](Operation *op) { return mapping.contains(op) || copy(op); });
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !isComparable(type.getElementType())) {
      llvm::raw_string_ostream(why) << "can't draw a value of type " << value.getType();
      return false;
    }
    mapping.map(value, block->addArgument(type, builder.getUnknownLoc()));
    return true;
  }

  bool copy(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op); constant && !isa<DenseElementsAttr>(constant.getValue()))
      return copyWeights(constant);
    mapping.map(op, builder.clone(*op, mapping));
    return true;
  }

  /// The data of weights may be stored elsewhere, so a constant of the same type with drawn data replaces them.
  bool copyWeights(ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isComparable(type.getElementType())) {
      llvm::raw_string_ostream(why) << "can't draw a constant of type " << type;
      return false;
    }
    HostTensor tensor = makeTensor(type);
    fill(tensor, Fill::Plain, random);
    auto made = ConstantOp::create(builder, builder.getUnknownLoc(), toAttribute(tensor));
    mapping.map(op.getOperation(), made.getOperation());
    mapping.map(op.getResult(), made.getResult());
    return true;
  }

  ArrayRef<Operation *> matched;
  Random &random;
  OpBuilder builder;
  Block *block = nullptr;
  IRMapping mapping;
  std::string why;
};
} // namespace

PatternInstance inlay::cutOut(const GraphPattern &pattern, const Match &match, DictionaryAttr args, Random &random) {
  auto ops = llvm::to_vector(match.ops);
  if (ops.empty())
    ops.push_back(match.root);
  llvm::SmallPtrSet<Operation *, 8> seen;
  llvm::erase_if(ops, [&](Operation *op) { return !seen.insert(op).second; });
  Block *block = match.root->getBlock();
  llvm::erase_if(ops, [&](Operation *op) { return op->getBlock() != block; }); // Drops constants outside the segment.
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ScopedDiagnosticHandler quiet(match.root->getContext(), [](Diagnostic &) { return success(); });
  PatternInstance instance = Cutter(ops, random).run(match.root);
  Match again;
  std::string why;
  if (instance.module && failed(pattern.match(instance.root, again, {args, false, &why, nullptr}))) {
    instance.module = {};
    instance.whyNot = "the pattern doesn't match a copy of the matched ops: " + why;
  }
  return instance;
}
