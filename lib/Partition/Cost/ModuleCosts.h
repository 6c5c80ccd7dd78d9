// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cost model for the targets of one module.

#ifndef INLAY_LIB_PARTITION_COST_MODULECOSTS_H
#define INLAY_LIB_PARTITION_COST_MODULECOSTS_H

#include "Partition/Decide/Targets.h"
#include "inlay/Partition/CostModel.h"

namespace inlay {

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

#endif // INLAY_LIB_PARTITION_COST_MODULECOSTS_H
