// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each op of a block is to run and why: made from what targets say and users force, kept in `inlay.verdict`.

#ifndef INLAY_LIB_PARTITION_DECIDE_DECISIONS_H
#define INLAY_LIB_PARTITION_DECIDE_DECISIONS_H

#include "Partition/Analysis/DependencyGraph.h"
#include "Targets.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace inlay {

/// Text that many decisions share: copies of it copy no characters.
class SharedText {
public:
  SharedText() = default;
  SharedText(std::string text) : text(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  SharedText(llvm::StringRef text) : SharedText(text.str()) {}
  SharedText(const char *text) : SharedText(std::string(text)) {}

  operator llvm::StringRef() const { return text ? llvm::StringRef(*text) : llvm::StringRef(); }
  std::string str() const { return llvm::StringRef(*this).str(); }
  bool empty() const { return !text; }
  /// Equal to that of all copies; of equal texts made apart it may differ.
  const void *getIdentity() const { return text.get(); }

private:
  std::shared_ptr<const std::string> text;
};

struct Decision {
  unsigned target = 0;
  ReasonCode code = ReasonCode::Supported;
  SharedText text;
  SharedText causedBy; ///< label of the op that caused it, or empty

  /// True if this is a copy of `other`, or one like it that shares its texts.
  bool isSameAs(const Decision &other) const {
    return target == other.target && code == other.code && text.getIdentity() == other.text.getIdentity() &&
           causedBy.getIdentity() == other.causedBy.getIdentity();
  }

  /// The user said where the op runs: it neither moves nor is copied.
  bool isForced() const {
    return code == ReasonCode::FallbackOp || code == ReasonCode::FallbackModule || code == ReasonCode::FallbackLocation;
  }
};

using Decisions = std::vector<Decision>;

/// The `inlay.verdict` of the op; reports its absence, or a target the module doesn't have.
mlir::FailureOr<Decision> readDecision(mlir::Operation *op, const TargetList &targets);
mlir::FailureOr<Decisions> readDecisions(llvm::ArrayRef<mlir::Operation *> ops, const TargetList &targets);
void writeDecision(mlir::Operation *op, const Decision &decision, const TargetList &targets);

/// `writeDecision` for many ops: those alike in decision and other attributes share what was looked up once.
class DecisionWriter {
public:
  explicit DecisionWriter(const TargetList &targets) : targets(targets) {}
  void write(mlir::Operation *op, const Decision &decision);

private:
  VerdictAttr getVerdict(mlir::MLIRContext *context, const Decision &decision);

  const TargetList &targets;
  llvm::StringMap<VerdictAttr> verdicts; ///< the last one with each text
  /// The attributes of an op with a verdict added.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mlir::DictionaryAttr> dictionaries;
};

/// True if `inlay.target` pins the op.
bool isPinned(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_DECISIONS_H
