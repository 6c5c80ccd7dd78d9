// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of a module in priority order, and their answers about ops. Each target is asked once per distinct op.

#ifndef INLAY_LIB_PARTITION_DECIDE_TARGETS_H
#define INLAY_LIB_PARTITION_DECIDE_TARGETS_H

#include "Allow.h"
#include "Verdicts.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/PartitionInfo.h"
#include "inlay/Scheduling/ScheduleGraph.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringSet.h"

#include <memory>
#include <unordered_map>

namespace inlay {

/// Returns true if the reason is that the target has no code for the op, which may be added later.
bool isMissingCode(ReasonCode code);

class TargetList {
public:
  /// Creates the list from `inlay.targets` of the module, or from the default targets, and emits an error if they are
  /// malformed. The allowed ops of `info` must be ops of the module. If `verdicts` is given, answers are also looked
  /// up and stored there.
  static mlir::FailureOr<TargetList> get(mlir::ModuleOp module, const PartitionInfo &info = {},
                                         Verdicts *verdicts = nullptr);

  unsigned size() const { return static_cast<unsigned>(targets.size()); }
  mlir::Attribute getAttr(unsigned target) const { return targets[target]; }
  llvm::StringRef getName(unsigned target) const { return TargetAttrInterface(targets[target]).getTargetName(); }
  std::optional<unsigned> find(llvm::StringRef name) const;
  /// Returns "; did you mean 'npu'?" with the target that has the most similar name, or an empty string.
  std::string suggestName(llvm::StringRef name) const;

  /// Returns true if `TargetAttrInterface::isAccelerator` is true for the target. If this holds for all of several
  /// targets, the last one does not count as an accelerator.
  bool isAccelerator(unsigned target) const { return accelerators >> target & 1; }
  TargetSet getAccelerators() const { return accelerators; }

  /// Returns a supported verdict if the target can and may run the op with everything nested in it, else the reason:
  /// `inlay.refused` of the op names the target, the user does not permit it, or the target cannot run the op. Answers
  /// are cached.
  const Verdict &ask(unsigned target, mlir::Operation *op);
  /// Makes `ask` assume, until the next call, that the first target can run all ops of these kinds that it has no code
  /// for. Kinds are names as in reports.
  void assume(llvm::ArrayRef<std::string> kinds);
  bool canRun(unsigned target, mlir::Operation *op) { return ask(target, op).isSupported(); }
  TargetSet findRunners(mlir::Operation *op);
  /// Like `canRun`, for a temporary op: the answer is not cached.
  bool canRunPassing(unsigned target, mlir::Operation *op) const { return askTarget(target, op).isSupported(); }

  /// Returns the first target that is not an accelerator and can run the op.
  std::optional<unsigned> findFallback(mlir::Operation *op);
  /// Returns the target of control flow that is not wholly on one accelerator: the first target that is not an
  /// accelerator, else the last target.
  unsigned getControlFlowTarget() const;

private:
  struct Entry {
    mlir::Operation *op;
    llvm::SmallVector<std::optional<Verdict>, 3> verdicts;
  };
  Entry &lookup(mlir::Operation *op);
  mlir::LogicalResult readAllowList(mlir::ModuleOp module, const PartitionInfo &info);
  Verdict askTarget(unsigned target, mlir::Operation *op) const;

  llvm::SmallVector<TargetAttrInterface, 3> targets;
  TargetSet accelerators = 0;
  AllowList allowed;
  Verdicts *shared = nullptr;
  llvm::StringSet<> assumed;
  /// One entry per set of ops with equal names, attributes and types, by their hash.
  std::unordered_map<size_t, std::vector<std::unique_ptr<Entry>>> entries;
  /// Verdicts from `inlay.refused`, by its text.
  std::unordered_map<const void *, Verdict> refusals;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_TARGETS_H
