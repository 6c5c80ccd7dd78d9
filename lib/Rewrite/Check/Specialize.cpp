// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces unknown sizes of an instance by a number and infers the result types again, so that the instance can run.

#include "PatternInstance.h"
#include "Rewrite/Graph/InferTypes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace inlay;

static Type makeStatic(Type type, int64_t unknownSize) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = unknownSize;
  return tensor.clone(shape);
}

OwningOpRef<ModuleOp> inlay::specialize(func::FuncOp function, int64_t unknownSize, std::string &why) {
  OpBuilder builder(function.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto made =
      func::FuncOp::create(builder, builder.getUnknownLoc(), function.getName(), builder.getFunctionType({}, {}));
  Block *block = made.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IRMapping mapping;
  for (BlockArgument argument : function.getArguments())
    mapping.map(argument, block->addArgument(makeStatic(argument.getType(), unknownSize), builder.getUnknownLoc()));
  for (Operation &op : function.getBody().front()) {
    Operation *copy = builder.clone(op, mapping);
    if (op.getNumResults() == 0 || op.getOperandTypes() == copy->getOperandTypes())
      continue;
    OperationState state(builder.getUnknownLoc(), op.getName(), copy->getOperands(), {},
                         copy->getAttrDictionary().getValue());
    if (failed(inferTypes(state, std::nullopt)) || state.types.size() != copy->getNumResults()) {
      why = ("the result types of '" + op.getName().getStringRef() + "' can't be inferred with unknown sizes set to " +
             Twine(unknownSize))
                .str();
      return {};
    }
    for (auto [result, type] : llvm::zip(copy->getResults(), state.types))
      result.setType(type);
  }
  made.setFunctionType(builder.getFunctionType(block->getArgumentTypes(), block->getTerminator()->getOperandTypes()));
  return module;
}
