// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost models as JSON values, which files and the attribute of the module share.

#ifndef INLAY_LIB_PARTITION_COST_COSTMODELJSON_H
#define INLAY_LIB_PARTITION_COST_COSTMODELJSON_H

#include "inlay/Partition/CostModel.h"

#include "llvm/Support/JSON.h"

namespace inlay {

/// Reads a cost model. Errors name `place` and the path of keys.
llvm::Expected<CostModel> readCostModelJson(const llvm::json::Value &value, llvm::StringRef place);
llvm::json::Object toJson(const TargetCosts &costs);
llvm::json::Object toJson(const CostModel &model);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_COST_COSTMODELJSON_H
