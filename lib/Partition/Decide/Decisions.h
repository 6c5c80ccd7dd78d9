// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of each op of a block, and the reason for it. Decisions follow from the answers of targets and from the
// rules of the user. They are stored in `inlay.verdict`.

#ifndef INLAY_LIB_PARTITION_DECIDE_DECISIONS_H
#define INLAY_LIB_PARTITION_DECIDE_DECISIONS_H

#include "Partition/Analysis/DependencyGraph.h"
#include "Targets.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace inlay {

/// Text that many decisions share. Copies do not copy the characters.
class SharedText {
public:
  SharedText() = default;
  SharedText(std::string text) : text(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  SharedText(llvm::StringRef text) : SharedText(text.str()) {}
  SharedText(const char *text) : SharedText(std::string(text)) {}

  operator llvm::StringRef() const { return text ? llvm::StringRef(*text) : llvm::StringRef(); }
  std::string str() const { return llvm::StringRef(*this).str(); }
  bool empty() const { return !text; }
  /// Returns a pointer that is equal for all copies. Equal texts that were created separately may have different
  /// identities.
  const void *getIdentity() const { return text.get(); }

private:
  std::shared_ptr<const std::string> text;
};

/// The target of one op and the reason for it.
struct Decision {
  unsigned target = 0;
  ReasonCode code = ReasonCode::Supported;
  SharedText text;
  SharedText causedBy; ///< Label of the op that caused the decision, or empty.

  /// Returns true if this equals `other` and shares its texts.
  bool isSameAs(const Decision &other) const {
    return target == other.target && code == other.code && text.getIdentity() == other.text.getIdentity() &&
           causedBy.getIdentity() == other.causedBy.getIdentity();
  }

  /// Returns true if the user forced the op to its target. It then neither moves nor is cloned.
  bool isForced() const {
    return code == ReasonCode::FallbackOp || code == ReasonCode::FallbackModule || code == ReasonCode::FallbackLocation;
  }
};

using Decisions = std::vector<Decision>;

/// Returns the decision in `inlay.verdict`. Emits an error if it is missing or if its target is not one of the module.
mlir::FailureOr<Decision> readDecision(mlir::Operation *op, const TargetList &targets);
mlir::FailureOr<Decisions> readDecisions(llvm::ArrayRef<mlir::Operation *> ops, const TargetList &targets);
void writeDecision(mlir::Operation *op, const Decision &decision, const TargetList &targets);

/// Writes decisions of many ops. Ops with equal decisions and equal other attributes share the attributes that were
/// created once.
class DecisionWriter {
public:
  explicit DecisionWriter(const TargetList &targets) : targets(targets) {}
  void write(mlir::Operation *op, const Decision &decision);

private:
  VerdictAttr getVerdict(mlir::MLIRContext *context, const Decision &decision);

  const TargetList &targets;
  llvm::StringMap<VerdictAttr> verdicts; ///< The last verdict with each text.
  /// The attributes of an op after a verdict is added.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mlir::DictionaryAttr> dictionaries;
};

/// Returns true if `inlay.target` pins the op.
bool isPinned(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_DECISIONS_H
