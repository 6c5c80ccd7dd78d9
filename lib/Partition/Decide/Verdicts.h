// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets said of ops, kept over the passes of a pipeline: a trial conversion is most of what partitioning costs.

#ifndef INLAY_LIB_PARTITION_DECIDE_VERDICTS_H
#define INLAY_LIB_PARTITION_DECIDE_VERDICTS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Pass/AnalysisManager.h"

#include <unordered_map>

namespace inlay {

/// An analysis of a module that depends on none of its ops: it holds answers by target and by the op's name, attributes
/// and types.
class Verdicts {
public:
  explicit Verdicts(mlir::Operation *) {}

  /// What `target` says of `op`, which has no regions.
  Verdict ask(TargetAttrInterface target, mlir::Operation *op);

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) const { return false; }

private:
  /// The target, the op's name, its attributes and its types, as the context holds them.
  using Key = std::vector<const void *>;
  struct Hash {
    size_t operator()(const Key &key) const { return llvm::hash_combine_range(key.begin(), key.end()); }
  };

  std::unordered_map<Key, Verdict, Hash> known;
};

/// Attributes that partitioning itself reads or writes are no part of what a target is asked about.
bool isAskedAbout(mlir::NamedAttribute attribute);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_VERDICTS_H
