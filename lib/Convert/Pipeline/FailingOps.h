// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of a segment its target can't convert, although it said that it can run them.

#ifndef INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H
#define INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

struct FailingOp {
  mlir::Operation *op;
  std::string error; ///< the first that the target reported
};

/// The ops without which `target` converts `segment`: each that fails by itself; else, if ops fail only together, the
/// last op of the shortest run from the segment's start that fails. None if a copy of the segment converts. Parts are
/// converted in modules like `module`; `segment` is not changed, and nobody hears of errors.
llvm::SmallVector<FailingOp> findFailingOps(mlir::func::FuncOp segment, TargetAttrInterface target,
                                            mlir::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H
