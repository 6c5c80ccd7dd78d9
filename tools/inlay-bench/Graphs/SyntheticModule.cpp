// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a synthetic graph as IR with targets that run its ops. SyntheticGraph.cpp makes the graph.

#include "SyntheticModule.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;
using namespace inlay::bench;

/// Returns two targets: an accelerator that runs the named ops, and a host that runs all ops.
static Attribute makeTargets(Builder &builder, ArrayRef<StringAttr> accelerated) {
  MLIRContext *context = builder.getContext();
  return builder.getArrayAttr({DeclaredAttr::get(context, kAcceleratorName, accelerated),
                               DeclaredAttr::get(context, "cpu", {builder.getStringAttr("*")})});
}

static Attribute declareKinds(Builder &builder) {
  SmallVector<StringAttr> supported;
  for (const OpKind &kind : getOpKinds())
    if (kind.role != Role::Host)
      supported.push_back(builder.getStringAttr(kind.name));
  return makeTargets(builder, supported);
}

int64_t bench::declareTargets(ModuleOp module) {
  Builder builder(module.getContext());
  llvm::SmallSetVector<StringAttr, 16> supported;
  int64_t ops = 0;
  for (auto function : module.getOps<func::FuncOp>())
    function.getFunctionBody().walk([&](Operation *op) {
      if (op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>())
        return;
      ++ops;
      auto isKept = [&](const OpKind &kind) { return kind.role == Role::Host && matchesName(op, kind.name); };
      if (llvm::none_of(getOpKinds(), isKept))
        supported.insert(builder.getStringAttr(getReportedName(op)));
    });
  module->setAttr(InlayDialect::kTargetsAttr, makeTargets(builder, supported.getArrayRef()));
  return ops;
}

OwningOpRef<ModuleOp> bench::makeModule(MLIRContext &context, const SyntheticGraph &graph) {
  OpBuilder builder(&context);
  Location unknown = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  (*module)->setAttr(InlayDialect::kTargetsAttr, declareKinds(builder));
  Type type = RankedTensorType::get({4, 4}, builder.getF32Type());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, unknown, "main", builder.getFunctionType({type}, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  SmallVector<StringAttr> names;
  for (const OpKind &kind : getOpKinds())
    names.push_back(builder.getStringAttr(kind.name));
  std::vector<Value> values;
  values.reserve(graph.size());
  for (uint32_t node = 0; node < graph.size(); ++node) {
    SmallVector<Value, 3> operands;
    for (uint32_t before : graph.getOperands(node))
      operands.push_back(values[before]);
    if (operands.empty())
      operands.push_back(block->getArgument(0));
    Location location = NameLoc::get(builder.getStringAttr("node_" + Twine(node)));
    auto op = OpaqueOp::create(builder, location, TypeRange(type), operands, names[graph.kinds[node]], nullptr, nullptr,
                               nullptr, /*in_order=*/false, nullptr);
    values.push_back(op.getResult(0));
  }
  SmallVector<Value> results;
  llvm::copy_if(values, std::back_inserter(results), [](Value value) { return value.use_empty(); });
  func::ReturnOp::create(builder, unknown, results);
  function.setFunctionType(builder.getFunctionType({type}, TypeRange(ValueRange(results))));
  return module;
}
