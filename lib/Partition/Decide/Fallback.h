// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user keeps off the accelerators: ops by name, modules by instance path or class, single ops by label or
// line.

#ifndef INLAY_LIB_PARTITION_DECIDE_FALLBACK_H
#define INLAY_LIB_PARTITION_DECIDE_FALLBACK_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <vector>

namespace inlay {

struct FallbackRules {
  llvm::ArrayRef<std::string> ops, modules, locations;
};

class FallbackFilter {
public:
  /// Without any rule.
  FallbackFilter() = default;
  /// Reports names and patterns that match nothing in the module, with what may have been meant, and malformed globs.
  /// The module's ops have labels already.
  static mlir::FailureOr<FallbackFilter> get(mlir::ModuleOp module, const FallbackRules &rules);

  /// What the verdicts of ops say of it: those that are there stay forced.
  static FallbackFilter fromVerdicts();

  /// The code and text if the op must fall back; `Supported` if not.
  Verdict check(mlir::Operation *op) const;

private:
  bool byVerdict = false;
  /// A pattern refers to its text, so both stay where they were made.
  struct Glob {
    std::string text;
    llvm::GlobPattern pattern;
    bool matches(llvm::StringRef name) const { return name == text || pattern.match(name); }
  };
  using Globs = std::vector<std::shared_ptr<const Glob>>;

  static mlir::FailureOr<Globs> makeGlobs(mlir::ModuleOp module, llvm::ArrayRef<std::string> texts,
                                          llvm::StringRef option);
  static bool matchesModule(const Glob &glob, llvm::StringRef path, llvm::StringRef name);
  mlir::LogicalResult checkModuleNames(mlir::ModuleOp module) const;
  mlir::LogicalResult checkLocationNames(mlir::ModuleOp module) const;
  Verdict checkModules(mlir::Location location) const;
  Verdict checkLocations(mlir::Operation *op) const;

  std::vector<std::string> names;
  Globs modules, locations;
};

/// The stack of [path, class] pairs of the modules an op came from, outermost first.
llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 4> getModuleStack(mlir::Location location);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_FALLBACK_H
