// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers of targets about ops, cached across the passes of a pipeline, because trial conversions dominate the time
// of partitioning.

#ifndef INLAY_LIB_PARTITION_DECIDE_VERDICTS_H
#define INLAY_LIB_PARTITION_DECIDE_VERDICTS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Pass/AnalysisManager.h"

#include <unordered_map>

namespace inlay {

/// An analysis of a module that stays valid when ops change: it maps a target and the name, attributes and types of an
/// op to an answer.
class Verdicts {
public:
  explicit Verdicts(mlir::Operation *) {}

  /// Returns the answer of `target` about `op`, which has no regions.
  Verdict ask(TargetAttrInterface target, mlir::Operation *op);

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) const { return false; }

private:
  /// The target and the name, attributes and types of the op, as uniqued pointers of the context.
  using Key = std::vector<const void *>;
  struct Hash {
    size_t operator()(const Key &key) const { return llvm::hash_combine_range(key.begin(), key.end()); }
  };

  std::unordered_map<Key, Verdict, Hash> known;
};

/// Returns false for attributes of partitioning itself, which targets are not asked about.
bool isAskedAbout(mlir::NamedAttribute attribute);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_VERDICTS_H
