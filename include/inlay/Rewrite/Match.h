// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pattern found in a graph: its ops, and what it captured by name. It goes from match to rewrite, and to the
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

  /// The capture of that name as a T; a null T if there is none, or it is something else.
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
  llvm::SmallVector<mlir::Operation *, 4> ops; ///< what matched, the root first; may be left empty for just the root
  llvm::SmallVector<std::pair<std::string, Capture>, 0> captures;
  std::any state; ///< whatever else the pattern's match wants its rewrite to have
};

} // namespace inlay

#endif // INLAY_REWRITE_MATCH_H
