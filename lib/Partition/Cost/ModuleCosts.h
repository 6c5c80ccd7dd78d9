// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model of a module: which model applies to each target. `OpWork.h` counts the work of an op, and
// `Support/TargetCosts.h` turns work into seconds.

#ifndef INLAY_LIB_PARTITION_COST_MODULECOSTS_H
#define INLAY_LIB_PARTITION_COST_MODULECOSTS_H

#include "Partition/Decide/Targets.h"
#include "inlay/Partition/CostModel.h"

namespace inlay {

/// A cost model applied to the targets of a module, by target number.
class ModuleCosts {
public:
  /// Returns the model of `inlay.cost_model`, or std::nullopt without the attribute. Emits an error if it is malformed.
  static mlir::FailureOr<std::optional<ModuleCosts>> get(mlir::ModuleOp module, const TargetList &targets);
  /// Returns the default costs that the targets state.
  static ModuleCosts getDefault(const TargetList &targets);
  /// Reads the model from `file`, or returns the default if `file` is "default". Emits an error if the file is
  /// malformed.
  static mlir::FailureOr<ModuleCosts> read(llvm::StringRef file, mlir::ModuleOp module, const TargetList &targets);

  /// Attaches the model to the module.
  void attach(mlir::ModuleOp module, const TargetList &targets) const;

  const TargetCosts &of(unsigned target) const { return costs[target]; }
  /// Returns the seconds of an op on a target, with nested ops and without launch and transfers.
  double estimate(mlir::Operation *op, unsigned target) const;

private:
  static mlir::FailureOr<ModuleCosts> select(const CostModel &model, llvm::StringRef place, mlir::ModuleOp module,
                                             const TargetList &targets);

  llvm::SmallVector<TargetAttrInterface, 3> targets;
  std::vector<TargetCosts> costs;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_COST_MODULECOSTS_H
