// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External models of `PartitionOpInterface` for upstream ops: ops that only move data, and ops that cost nothing.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/OpInterface.h"
#include "inlay/Partition/Partitioning.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace inlay;

namespace {
template <typename Op>
struct Layout : PartitionOpInterface::ExternalModel<Layout<Op>, Op> {
  bool isNeutral(Operation *) const { return true; }
};

/// Memory that is not written yet, so each segment may have a copy.
struct Empty : PartitionOpInterface::ExternalModel<Empty, tensor::EmptyOp> {
  bool isConstant(Operation *op) const { return op->getNumOperands() == 0; }
  bool isNeutral(Operation *) const { return true; }
};
} // namespace

/// Attaches the model to all of `Ops` when their dialect is loaded.
template <typename Dialect, typename... Ops>
static void addLayoutOps(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, Dialect *) { (Ops::template attachInterface<Layout<Ops>>(*context), ...); });
}

void inlay::registerPartitionDialects(DialectRegistry &registry) {
  registry.insert<InlayDialect>();
  registry.addExtension(
      +[](MLIRContext *context, tensor::TensorDialect *) { tensor::EmptyOp::attachInterface<Empty>(*context); });
  addLayoutOps<tensor::TensorDialect, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ReshapeOp>(registry);
  addLayoutOps<tosa::TosaDialect, tosa::IdentityOp, tosa::ReshapeOp, tosa::TransposeOp>(registry);
  addLayoutOps<linalg::LinalgDialect, linalg::BroadcastOp, linalg::TransposeOp>(registry);
  addLayoutOps<memref::MemRefDialect, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
               memref::ReinterpretCastOp, memref::ReshapeOp, memref::SubViewOp, memref::TransposeOp, memref::ViewOp>(
      registry);
}
