// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cost model as a JSON value: what files and the module's attribute have in common.

#ifndef INLAY_LIB_PARTITION_COST_COSTMODELJSON_H
#define INLAY_LIB_PARTITION_COST_COSTMODELJSON_H

#include "inlay/Partition/CostModel.h"

#include "llvm/Support/JSON.h"

namespace inlay {

llvm::Expected<CostModel> readCostModelJson(const llvm::json::Value &value, llvm::StringRef place);
llvm::json::Object toJson(const TargetCosts &costs);
llvm::json::Object toJson(const CostModel &model);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_COST_COSTMODELJSON_H
