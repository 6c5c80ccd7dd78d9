// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the results of loops that have no iteration.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_LOOPRESULTS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_LOOPRESULTS_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace inlay {

/// Stores the initial values of loops to the variables of their results, before the loops.
///
/// The conversion of `scf.for` stores each result to a variable at the end of an iteration. Without iterations the
/// variable would be undefined. Because it always has the value that the next iteration gets, compilers of drivers keep
/// one register for both.
///
/// Fails if a loop does not have the form that the conversion makes.
llvm::LogicalResult storeInitialResults(mlir::spirv::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_LOOPRESULTS_H
