// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A match of a pattern: the matched ops and the named captures. It is passed from `match` to `rewrite` and to the
// caller of an analysis.

#ifndef INLAY_REWRITE_MATCH_H
#define INLAY_REWRITE_MATCH_H

#include "mlir/IR/Operation.h"

#include <any>
#include <string>
#include <variant>

namespace inlay {

using Capture = std::variant<std::monostate, mlir::Operation *, mlir::Value, mlir::Attribute, mlir::Type,
                             llvm::SmallVector<mlir::Value>, llvm::SmallVector<mlir::Type>>;

struct Match {
  explicit Match(mlir::Operation *root = nullptr) : root(root) {}

  /// Returns the capture of that name as a T. Returns a null T if there is none or if it has another type.
  template <typename T>
  T get(llvm::StringRef name) const {
    for (const auto &[key, capture] : captures)
      if (key == name)
        if (const T *value = std::get_if<T>(&capture))
          return *value;
    return T();
  }

  void capture(llvm::StringRef name, Capture value) { captures.emplace_back(name.str(), std::move(value)); }

  mlir::Operation *root;
  llvm::SmallVector<mlir::Operation *, 4> ops; ///< Matched ops, root first. May be empty if only the root matched.
  llvm::SmallVector<std::pair<std::string, Capture>, 0> captures;
  std::any state; ///< Any other data that the pattern's `match` passes to its `rewrite`.
};

} // namespace inlay

#endif // INLAY_REWRITE_MATCH_H
