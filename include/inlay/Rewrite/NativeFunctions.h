// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions in C++ or Python that patterns call by name: constraints while matching, rewrites while replacing. The
// predicates (dtype, rank, dims, ...) are constraints that are always registered; docs/guide/rewrite.md lists them.

#ifndef INLAY_REWRITE_NATIVEFUNCTIONS_H
#define INLAY_REWRITE_NATIVEFUNCTIONS_H

#include "inlay/Rewrite/GraphRewriter.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace inlay {

/// One call of a native function: its inputs and its results.
struct NativeCall {
  llvm::ArrayRef<mlir::PDLValue> operands;
  mlir::DictionaryAttr args;         ///< Arguments of the run; may be null.
  GraphRewriter *rewriter = nullptr; ///< Null while matching, because matching changes nothing.
  mlir::PDLResultList *results = nullptr;
  std::string *whyNot = nullptr; ///< If not null, receives the reason of a failure.

  /// Returns operand `number` as a T. Returns a null T if it is missing or has another type.
  template <typename T>
  T get(size_t number) const {
    if (number >= operands.size() || !operands[number])
      return T();
    return operands[number].dyn_cast<T>();
  }

  mlir::LogicalResult fail(const llvm::Twine &why) const;
};

using NativeFunction = std::function<mlir::LogicalResult(NativeCall &)>;

/// A registry of constraints and rewrites by name.
class NativeFunctions {
public:
  /// Creates a registry that contains the predicates.
  NativeFunctions();

  void addConstraint(llvm::StringRef name, NativeFunction function) { constraints[name] = std::move(function); }
  void addRewrite(llvm::StringRef name, NativeFunction function) { rewrites[name] = std::move(function); }

  const llvm::StringMap<NativeFunction> &getConstraints() const { return constraints; }
  const llvm::StringMap<NativeFunction> &getRewrites() const { return rewrites; }

  /// Returns true if the result of this constraint depends only on the types and attributes of its operands.
  static bool isLocal(llvm::StringRef name);

private:
  llvm::StringMap<NativeFunction> constraints, rewrites;
};

/// Registers the predicates (lib/Rewrite/PDL/Predicates.cpp).
void addPredicates(NativeFunctions &functions);

/// Registers functions of dims, shapes and numbers (lib/Rewrite/PDL/DimFunctions.cpp).
void addDimFunctions(NativeFunctions &functions);

} // namespace inlay

#endif // INLAY_REWRITE_NATIVEFUNCTIONS_H
