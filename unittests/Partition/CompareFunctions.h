// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two functions have the same ops on the same values, in whatever order they are written.

#ifndef INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H
#define INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <string>
#include <vector>

namespace inlay::testing {

/// One line per op and terminator, sorted: where it is, what it is, and what it reads, by the names of locations, which
/// must be there and unique. Constants are what their attributes say.
std::vector<std::string> describeGraph(mlir::FunctionOpInterface function);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H
