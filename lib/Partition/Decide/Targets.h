// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of a module in priority order, asked once per distinct op, and what keeps ops off them besides.

#ifndef INLAY_LIB_PARTITION_DECIDE_TARGETS_H
#define INLAY_LIB_PARTITION_DECIDE_TARGETS_H

#include "Allow.h"
#include "Verdicts.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Scheduling/ScheduleGraph.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringSet.h"

#include <memory>
#include <unordered_map>

namespace inlay {

/// The target has no code for the op as it is, and might have some day.
bool isMissingCode(ReasonCode code);

class TargetList {
public:
  /// The module's `inlay.targets`, else Vulkan and the host; reports what is wrong with them. `allowOps` are entries of
  /// an AllowList, `op` or `op@target`, of ops and accelerators that the module has. What targets say is looked up and
  /// kept in `verdicts`, if not null, besides.
  static mlir::FailureOr<TargetList> get(mlir::ModuleOp module, llvm::ArrayRef<std::string> allowOps = {},
                                         Verdicts *verdicts = nullptr);

  unsigned size() const { return static_cast<unsigned>(targets.size()); }
  mlir::Attribute getAttr(unsigned target) const { return targets[target]; }
  llvm::StringRef getName(unsigned target) const { return TargetAttrInterface(targets[target]).getTargetName(); }
  std::optional<unsigned> find(llvm::StringRef name) const;
  /// "; did you mean 'npu'?" with the target of the nearest name, or nothing.
  std::string suggestName(llvm::StringRef name) const;

  /// Every target but those named `host` and `torch`; without any of these the last of several is no accelerator.
  bool isAccelerator(unsigned target) const { return accelerators >> target & 1; }
  TargetSet getAccelerators() const { return accelerators; }

  /// Whether the target can run the op, with everything nested in it, and may: the op's `inlay.refused` doesn't name it
  /// and the user lets it. The answer is kept.
  const Verdict &ask(unsigned target, mlir::Operation *op);
  /// Until the next call the first target is taken to run what it has no code for of these kinds (names as in reports).
  void assume(llvm::ArrayRef<std::string> kinds);
  bool canRun(unsigned target, mlir::Operation *op) { return ask(target, op).isSupported(); }
  TargetSet findRunners(mlir::Operation *op);
  /// The same as `canRun` for an op that is about to go: the answer isn't kept.
  bool canRunPassing(unsigned target, mlir::Operation *op) const { return askTarget(target, op).isSupported(); }

  /// The first target that is no accelerator and can run the op.
  std::optional<unsigned> findFallback(mlir::Operation *op);
  /// Where control flow goes that is not wholly on one accelerator: the first target that is none, else the last.
  unsigned getControlFlowTarget() const;

private:
  struct Entry {
    mlir::Operation *op;
    llvm::SmallVector<std::optional<Verdict>, 3> verdicts;
  };
  Entry &lookup(mlir::Operation *op);
  mlir::LogicalResult readAllowList(mlir::ModuleOp module, llvm::ArrayRef<std::string> entries);
  Verdict askTarget(unsigned target, mlir::Operation *op) const;

  llvm::SmallVector<TargetAttrInterface, 3> targets;
  TargetSet accelerators = 0;
  AllowList allowed;
  Verdicts *shared = nullptr;
  llvm::StringSet<> assumed;
  /// Ops alike in name, attributes and types, by hash of these.
  std::unordered_map<size_t, std::vector<std::unique_ptr<Entry>>> entries;
  /// Answers that `inlay.refused` gives, by the text in it.
  std::unordered_map<const void *, Verdict> refusals;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_TARGETS_H
