// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user keeps off the accelerators: ops by name, modules by instance path or class.

#ifndef INLAY_PARTITION_FALLBACK_H
#define INLAY_PARTITION_FALLBACK_H

#include "inlay/Partition/Decisions.h"

#include "llvm/Support/GlobPattern.h"

namespace inlay {

class FallbackFilter {
public:
  /// Without any rule.
  FallbackFilter() = default;
  /// Reports names that match no op of the module, and globs that are malformed or match no module.
  static mlir::FailureOr<FallbackFilter> get(mlir::ModuleOp module, llvm::ArrayRef<std::string> ops,
                                             llvm::ArrayRef<std::string> modules);

  /// The code and text if the op must fall back; `Supported` if not.
  Verdict check(mlir::Operation *op) const;

private:
  Verdict checkModules(mlir::Location location) const;

  std::vector<std::string> names;
  /// A pattern refers to its text, so both stay where they were made.
  struct Glob {
    std::string text;
    llvm::GlobPattern pattern;
  };
  std::vector<std::shared_ptr<const Glob>> globs;
};

/// The stack of [path, class] pairs of the modules an op came from, outermost first.
llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 4> getModuleStack(mlir::Location location);

} // namespace inlay

#endif // INLAY_PARTITION_FALLBACK_H
