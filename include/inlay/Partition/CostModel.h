// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: what work, launches and transfers cost on each target of a module. A JSON file that somebody wrote or
// `inlay-bench --calibrate` measured, or round figures per kind of device. While it is in effect the module carries it
// as `inlay.cost_model`, in the keys of the file.

#ifndef INLAY_PARTITION_COSTMODEL_H
#define INLAY_PARTITION_COSTMODEL_H

#include "inlay/Partition/Targets.h"
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

/// A cost model applied to the targets of a module, by their numbers.
class ModuleCosts {
public:
  /// What `inlay.cost_model` says; nothing without it. Reports what is wrong with it.
  static mlir::FailureOr<std::optional<ModuleCosts>> get(mlir::ModuleOp module, const TargetList &targets);
  /// What the targets say of themselves.
  static ModuleCosts getDefault(const TargetList &targets);
  /// What `file` says, or the targets of themselves if it is "default"; reports what is wrong.
  static mlir::FailureOr<ModuleCosts> read(llvm::StringRef file, mlir::ModuleOp module, const TargetList &targets);

  /// Puts it on the module.
  void attach(mlir::ModuleOp module, const TargetList &targets) const;

  const TargetCosts &of(unsigned target) const { return costs[target]; }
  /// The seconds of an op on a target, with what is nested in it; launch and transfers left out.
  double estimate(mlir::Operation *op, unsigned target) const;

private:
  static mlir::FailureOr<ModuleCosts> select(const CostModel &model, llvm::StringRef place, mlir::ModuleOp module,
                                             const TargetList &targets);

  llvm::SmallVector<TargetAttrInterface, 3> targets;
  std::vector<TargetCosts> costs;
};

} // namespace inlay

#endif // INLAY_PARTITION_COSTMODEL_H
