// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the ops of a segment that its target cannot convert although it stated that it can run them.

#ifndef INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H
#define INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// An op that makes the conversion of its segment fail.
struct FailingOp {
  mlir::Operation *op;
  std::string error; ///< First error that the target reported.
};

/// Returns the ops without which `target` converts `segment`: each op that fails alone or, if ops only fail together,
/// the last op of the shortest prefix of the segment that fails. Returns no ops if a copy of the segment converts.
/// Parts are converted in scratch modules with the attributes of `module`. `segment` does not change, and no
/// diagnostics are reported.
llvm::SmallVector<FailingOp> findFailingOps(mlir::func::FuncOp segment, TargetAttrInterface target,
                                            mlir::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_PIPELINE_FAILINGOPS_H
