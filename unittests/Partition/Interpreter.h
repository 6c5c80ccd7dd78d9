// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interpreter of functions on symbolic values: a result is a hash of the op's name and of all values that it reads.
// Memory and lists are references. If two functions have the same ops in different orders that effects permit, their
// hashes are equal.

#ifndef INLAY_UNITTESTS_PARTITION_INTERPRETER_H
#define INLAY_UNITTESTS_PARTITION_INTERPRETER_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay::testing {

/// Returns a hash of everything observable in a run: the results, the final contents of the arguments, and the operands
/// that each op that is not a clone read.
uint64_t interpret(mlir::FunctionOpInterface function);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_INTERPRETER_H
