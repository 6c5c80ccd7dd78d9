// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function on symbols: what an op makes is a hash of its name and of all it reads, memory and lists are kept as
// references. Two functions whose ops run in another order, but not one that effects forbid, give the same hash.

#ifndef INLAY_UNITTESTS_PARTITION_INTERPRETER_H
#define INLAY_UNITTESTS_PARTITION_INTERPRETER_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay::testing {

/// Everything that can be seen of a run: results, what is left in the arguments, and what each op saw that is no copy.
uint64_t interpret(mlir::FunctionOpInterface function);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_INTERPRETER_H
