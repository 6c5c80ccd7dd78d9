// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: what work, launches and transfers cost on each target of a module. A JSON file that somebody wrote or
// `inlay-bench --calibrate` measured, or round figures per kind of device. While it is in effect the module carries it
// as `inlay.cost_model`, in the keys of the file.

#ifndef INLAY_PARTITION_COSTMODEL_H
#define INLAY_PARTITION_COSTMODEL_H

#include "inlay/Support/TargetCosts.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace inlay {

struct CostModel {
  /// Costs by name: a target's (`vulkan`), or its and the kind of its device (`vulkan/software`), which goes first.
  std::vector<std::pair<std::string, TargetCosts>> targets;
  std::string about; ///< what it was measured on, for people; may be empty

  const TargetCosts *find(llvm::StringRef name) const;
};

/// Reads the text of a file. Errors name `place`, the path of keys, what was expected and what is there.
llvm::Expected<CostModel> parseCostModel(llvm::StringRef text, llvm::StringRef place);
llvm::Expected<CostModel> readCostModel(llvm::StringRef file);
/// The text of a file; what `parseCostModel` reads from it is the same model.
std::string formatCostModel(const CostModel &model);

} // namespace inlay

#endif // INLAY_PARTITION_COSTMODEL_H
