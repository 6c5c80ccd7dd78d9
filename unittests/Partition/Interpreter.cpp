// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interpreter.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <memory>

using namespace mlir;
using namespace inlay;

namespace {
struct Cell;
using Ref = std::shared_ptr<Cell>;
using Refs = SmallVector<Ref, 4>;

/// A value: tensors, scalars and buffers have a content, lists and tuples have elements.
struct Cell {
  uint64_t content = 0;
  std::vector<Ref> elements;
  bool isList = false;
  bool isConstant = false; ///< Writes to it are lost, since each segment has a copy.
};

uint64_t mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
  a *= 0xff51afd7ed558ccdull;
  return a ^ a >> 33;
}

uint64_t hashText(StringRef text) {
  uint64_t hash = 1469598103934665603ull;
  for (char letter : text)
    hash = mix(hash, static_cast<unsigned char>(letter));
  return hash;
}

class Interpreter {
public:
  uint64_t run(FunctionOpInterface function) {
    Refs arguments;
    for (BlockArgument argument : function.getArguments()) {
      arguments.push_back(makeArgument(argument.getType(), argument.getArgNumber() + 1));
      if (isa<MemRefType>(argument.getType()))
        buffers.push_back(arguments.back());
    }
    Refs results = runBlock(function.front(), arguments);
    uint64_t hash = trace;
    for (const Ref &ref : llvm::concat<Ref>(results, arguments))
      hash = mix(hash, read(ref));
    return hash;
  }

private:
  static Ref make(uint64_t content) {
    auto cell = std::make_shared<Cell>();
    cell->content = content;
    return cell;
  }

  static Ref makeList(ArrayRef<Ref> elements) {
    Ref cell = make(1);
    cell->elements.assign(elements.begin(), elements.end());
    cell->isList = true;
    return cell;
  }

  static Ref makeArgument(Type type, uint64_t number) {
    if (!isa<ListType, TupleType>(type))
      return make(mix(7, number));
    return makeList({make(mix(8, number)), make(mix(9, number))});
  }

  static uint64_t read(const Ref &ref) {
    uint64_t hash = ref->content;
    for (const Ref &element : ref->elements)
      hash = mix(hash, read(element));
    return hash;
  }

  static void write(const Ref &ref, uint64_t hash) {
    if (!ref->isConstant)
      ref->content = mix(ref->content, hash);
    for (const Ref &element : ref->elements)
      write(element, hash);
  }

  Refs get(ValueRange values) {
    Refs refs;
    for (Value value : values)
      refs.push_back(environment.lookup(value));
    return refs;
  }

  void set(ValueRange values, ArrayRef<Ref> refs) {
    for (auto [value, ref] : llvm::zip(values, refs))
      environment[value] = ref;
  }

  /// Returns the values that the terminator yields.
  Refs runBlock(Block &block, ArrayRef<Ref> arguments) {
    set(block.getArguments(), arguments);
    for (Operation &op : block.without_terminator())
      set(op.getResults(), runOp(&op));
    return get(block.getTerminator()->getOperands());
  }

  Refs runLoop(Region &region, Refs carried, bool hasIndex) {
    for (uint64_t turn = 0; turn < 2; ++turn) {
      if (hasIndex)
        carried.insert(carried.begin(), make(turn));
      carried = runBlock(region.front(), carried);
    }
    return carried;
  }

  Refs runWhile(scf::WhileOp loop) {
    Refs carried = get(loop.getInits());
    for (unsigned turn = 0;; ++turn) {
      Refs yielded = runBlock(loop.getBefore().front(), carried);
      bool isDone = turn == 2 || read(yielded.front()) % 4 == 0;
      yielded.erase(yielded.begin());
      if (isDone)
        return yielded;
      carried = runBlock(loop.getAfter().front(), yielded);
    }
  }

  Refs runOp(Operation *op) {
    Refs operands = get(op->getOperands());
    if (auto segment = dyn_cast<SegmentOp>(op))
      return runBlock(segment.getBody().front(), operands);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Region &region = read(operands.front()) % 2 ? branch.getThenRegion() : branch.getElseRegion();
      return runBlock(region.front(), {});
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runLoop(loop.getRegion(), Refs(llvm::drop_begin(operands, 3)), /*hasIndex=*/true);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return runWhile(loop);
    uint64_t hash = hashOp(op, operands);
    bool isOurs = op->hasAttr(InlayDialect::kCloneAttr) || op->hasAttr(kUnpackedAttr);
    if (!isOurs && !op->hasTrait<OpTrait::ConstantLike>())
      trace += mix(hash, hashText(getLocationName(op->getLoc()))); // A sum, so that the order does not matter.
    if (auto opaque = dyn_cast<OpaqueOp>(op))
      return runCall(opaque, operands, hash);
    return runOther(op, operands, hash);
  }

  uint64_t hashOp(Operation *op, ArrayRef<Ref> operands) {
    auto opaque = dyn_cast<OpaqueOp>(op);
    uint64_t hash = hashText(opaque ? opaque.getName() : op->getName().getStringRef());
    if (op->hasTrait<OpTrait::ConstantLike>()) {
      std::string text;
      llvm::raw_string_ostream(text) << op->getAttrDictionary();
      hash = mix(hash, hashText(text));
    }
    for (const Ref &operand : operands)
      hash = mix(hash, read(operand));
    return hash;
  }

  Refs runCall(OpaqueOp op, ArrayRef<Ref> operands, uint64_t hash) {
    StringRef name = op.getName();
    if (name == "prim::ListConstruct" || name == "prim::TupleConstruct")
      return {makeList(operands)};
    if (name == "aten::append") {
      operands[0]->elements.push_back(operands[1]);
      return {};
    }
    Refs results;
    auto makeResult = [&](Type type, uint64_t number) {
      uint64_t content = mix(hash, number);
      bool isList = isa<ListType, TupleType>(type);
      return isList ? makeList({make(mix(content, 1)), make(mix(content, 2))}) : make(content);
    };
    bool takesApart = name == "prim::ListUnpack" || name == "prim::TupleUnpack" || name == "prim::TupleIndex" ||
                      name == "aten::__getitem__";
    for (auto [number, type] : llvm::enumerate(op->getResultTypes())) {
      ArrayRef<int64_t> aliases = op.getAliases().value_or(ArrayRef<int64_t>());
      if (takesApart && !operands[0]->elements.empty())
        results.push_back(operands[0]->elements[number % operands[0]->elements.size()]);
      else if (!aliases.empty() && isa<ListType>(type))
        results.push_back(makeList({operands[aliases[0]]}));
      else if (!aliases.empty())
        results.push_back(operands[aliases[0]]);
      else
        results.push_back(makeResult(type, number));
    }
    for (int64_t number : op.getWrites().value_or(ArrayRef<int64_t>()))
      write(operands[number], hash);
    return results;
  }

  Refs runOther(Operation *op, ArrayRef<Ref> operands, uint64_t hash) {
    if (isa<ListOp>(op))
      return {makeList(operands)};
    if (isa<memref::StoreOp>(op)) {
      operands[1]->content = operands[0]->content;
      return {};
    }
    if (isa<func::CallOp>(op)) // The function has no body, so it may read and write every buffer.
      for (const Ref &buffer : buffers) {
        hash = mix(hash, read(buffer));
        write(buffer, hash);
      }
    Refs results;
    for (unsigned number = 0; number < op->getNumResults(); ++number)
      results.push_back(make(mix(hash, number)));
    if (op->hasTrait<OpTrait::ConstantLike>())
      results.front()->isConstant = true;
    return results;
  }

  llvm::DenseMap<Value, Ref> environment;
  Refs buffers;
  uint64_t trace = 0;
};
} // namespace

uint64_t inlay::testing::interpret(FunctionOpInterface function) { return Interpreter().run(function); }
