// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: the costs of work, launches and transfers on each target. It is read from a JSON file, written by a
// user or by `inlay-bench --calibrate`, or it consists of the default costs that the targets state. A module that uses
// a cost model stores it in `inlay.cost_model`, with the keys of the file.

#ifndef INLAY_PARTITION_COSTMODEL_H
#define INLAY_PARTITION_COSTMODEL_H

#include "inlay/Support/TargetCosts.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace inlay {

struct CostModel {
  /// Costs by name. The name is that of a target (`vulkan`), or of a target and the kind of its device
  /// (`vulkan/software`), which takes precedence.
  std::vector<std::pair<std::string, TargetCosts>> targets;
  std::string about; ///< The machine that it was measured on, for human readers. May be empty.

  /// Returns the costs of that name, or null if there are none.
  const TargetCosts *find(llvm::StringRef name) const;
};

/// Parses the text of a file. Errors name `place`, the path of keys, the expected value and the actual one.
llvm::Expected<CostModel> parseCostModel(llvm::StringRef text, llvm::StringRef place);
/// Reads and parses a file.
llvm::Expected<CostModel> readCostModel(llvm::StringRef file);
/// Returns the text of a file from which `parseCostModel` reads the same model.
std::string formatCostModel(const CostModel &model);

} // namespace inlay

#endif // INLAY_PARTITION_COSTMODEL_H
