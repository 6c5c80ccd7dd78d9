// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies ops into a new function with their operands as arguments. Rewrite/Check/CutOut.cpp cuts out matches of a
// pattern.

#include "inlay/Support/Extract.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace inlay;

static bool isConstant(Value value) {
  Operation *definer = value.getDefiningOp();
  return definer && definer->hasTrait<OpTrait::ConstantLike>();
}

Extracted inlay::extractFunction(ArrayRef<Operation *> ops, Location loc, StringRef name) {
  llvm::SetVector<Value> read, made;
  llvm::SetVector<Operation *> inside(ops.begin(), ops.end()), constants;
  for (Operation *op : ops) {
    read.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value result : op->getResults())
      if (result.use_empty() || llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(op->getBlock()->findAncestorOpInBlock(*user));
          }))
        made.insert(result);
  }
  for (Value value : read)
    if (isConstant(value))
      constants.insert(value.getDefiningOp());
  read.remove_if([&](Value value) { return isConstant(value) || inside.contains(value.getDefiningOp()); });
  OpBuilder builder(loc.getContext());
  Extracted extracted{{}, llvm::to_vector(read), llvm::to_vector(made)};
  auto type = builder.getFunctionType(TypeRange(extracted.arguments), TypeRange(extracted.results));
  extracted.function = func::FuncOp::create(loc, name, type);
  extracted.function.setPrivate();
  Block *body = extracted.function.addEntryBlock();
  IRMapping mapping;
  mapping.map(extracted.arguments, body->getArguments());
  builder.setInsertionPointToEnd(body);
  for (Operation *op : constants)
    builder.clone(*op, mapping);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  auto results = llvm::map_to_vector(extracted.results, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, loc, results);
  return extracted;
}
