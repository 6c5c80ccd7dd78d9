// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a caller's tensors against a plan's inputs and outputs.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_ARGUMENTS_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_ARGUMENTS_H

#include "inlay/Runtime/Core/Program.h"

namespace inlay::rt {

/// Checks ranks, constant dims, the ranges of symbols and the dims that depend on symbols.
Status checkInputDims(const Plan &plan, const InputDims &dims);

/// Checks counts, element types, dims, null data, and outputs that overlap an input or another output. Sets `dims`.
Status checkCall(const Plan &plan, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                 InputDims &dims);

/// Returns the dims of the outputs for inputs that passed `checkInputDims`.
StatusOr<std::vector<std::vector<int64_t>>> evaluateOutputDims(const Plan &plan, const InputDims &inputs);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_ARGUMENTS_H
