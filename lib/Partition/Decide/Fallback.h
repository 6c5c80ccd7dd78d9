// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that the user forces off accelerators: by name, by the instance path or class of their module, by label, or
// by line.

#ifndef INLAY_LIB_PARTITION_DECIDE_FALLBACK_H
#define INLAY_LIB_PARTITION_DECIDE_FALLBACK_H

#include "inlay/Partition/PartitionInfo.h"
#include "inlay/Support/Reason.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <vector>

namespace inlay {

class FallbackFilter {
public:
  /// Creates a filter without rules.
  FallbackFilter() = default;
  /// Creates a filter for the rules of `info`. Emits errors for malformed globs and for names and patterns that match
  /// nothing in the module, with suggestions. The ops of the module must have labels.
  static mlir::FailureOr<FallbackFilter> get(mlir::ModuleOp module, const PartitionInfo &info);

  /// Creates a filter that repeats the forced fallbacks that the verdicts of ops record.
  static FallbackFilter fromVerdicts();

  /// Returns the reason if the op must fall back, else a supported verdict.
  Verdict check(mlir::Operation *op) const;

private:
  bool byVerdict = false;
  /// A glob and its text. The pattern refers to the text, so a Glob must not be moved.
  struct Glob {
    std::string text;
    llvm::GlobPattern pattern;
    bool matches(llvm::StringRef name) const { return name == text || pattern.match(name); }
  };
  using Globs = std::vector<std::shared_ptr<const Glob>>;

  mlir::FailureOr<Globs> makeGlobs(mlir::ModuleOp module, const std::vector<std::string> &texts) const;
  static bool matchesModule(const Glob &glob, llvm::StringRef path, llvm::StringRef name);
  mlir::LogicalResult checkModuleNames(mlir::ModuleOp module) const;
  mlir::LogicalResult checkLocationNames(mlir::ModuleOp module) const;
  Verdict checkModules(mlir::Location location) const;
  Verdict checkLocations(mlir::Operation *op) const;

  PartitionInfo info;
  Globs modules, locations;
};

/// Returns the [path, class] pairs of the modules that an op came from, outermost first.
llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 4> getModuleStack(mlir::Location location);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_FALLBACK_H
