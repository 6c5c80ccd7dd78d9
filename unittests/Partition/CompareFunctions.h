// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comparison of functions: two are equal if they have the same ops on the same values, in any order.

#ifndef INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H
#define INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <string>
#include <vector>

namespace inlay::testing {

/// Returns one line per op and terminator, sorted: its place, its name and attributes, and its operands. Values are
/// named by their locations, which must be unique names. Constants are described by their attributes.
std::vector<std::string> describeGraph(mlir::FunctionOpInterface function);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_COMPAREFUNCTIONS_H
