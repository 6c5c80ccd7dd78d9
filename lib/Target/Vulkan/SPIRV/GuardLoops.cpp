// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a branch around each loop of a GPU kernel that may have no iteration. KernelToSPIRV.cpp calls it before the
// conversion.

#include "GuardLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace inlay;

static bool mayBeEmpty(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound());
  return !from || !to || *from >= *to;
}

static void guardLoop(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value runs =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto guard = scf::IfOp::create(builder, loc, loop.getResultTypes(), runs, /*withElseRegion=*/true);
  loop.replaceAllUsesWith(guard.getResults());
  OpBuilder inside = guard.getThenBodyBuilder(), otherwise = guard.getElseBodyBuilder();
  auto yield = scf::YieldOp::create(inside, loc, loop.getResults());
  loop->moveBefore(yield);
  scf::YieldOp::create(otherwise, loc, loop.getInitArgs());
}

void inlay::guardLoops(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    if (loop.getNumResults() && mayBeEmpty(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    guardLoop(loop);
}
