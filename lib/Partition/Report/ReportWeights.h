// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of the weights of a function by type.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTWEIGHTS_H
#define INLAY_LIB_PARTITION_REPORT_REPORTWEIGHTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>
#include <string>

namespace inlay {

/// Returns the bytes of the weights (constants whose data is a resource) by the name of their type. The type of bytes
/// that `inlay.dequantize` reads is that of the codes in them, such as `u4`. A weight with several uses counts once.
std::map<std::string, int64_t> countWeights(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTWEIGHTS_H
