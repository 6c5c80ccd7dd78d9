// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions in C++ or Python that patterns call by name: constraints while matching, rewrites while replacing. Typed
// predicates (dtype, rank, dims, ...) are constraints that are always there; docs/guide/rewrite.md lists them.

#ifndef INLAY_REWRITE_NATIVEFUNCTIONS_H
#define INLAY_REWRITE_NATIVEFUNCTIONS_H

#include "inlay/Rewrite/GraphRewriter.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace inlay {

/// One call: what it is given, and what it gives back.
struct NativeCall {
  llvm::ArrayRef<mlir::PDLValue> operands;
  mlir::DictionaryAttr args;         ///< arguments of the run; may be null
  GraphRewriter *rewriter = nullptr; ///< null while matching, which changes nothing
  mlir::PDLResultList *results = nullptr;
  std::string *whyNot = nullptr; ///< if there, a call that fails says why

  /// The operand as a T; null if it is something else or missing.
  template <typename T>
  T get(size_t number) const {
    if (number >= operands.size() || !operands[number])
      return T();
    return operands[number].dyn_cast<T>();
  }

  mlir::LogicalResult fail(const llvm::Twine &why) const;
};

using NativeFunction = std::function<mlir::LogicalResult(NativeCall &)>;

/// Constraints and rewrites by name.
class NativeFunctions {
public:
  /// With the predicates that are always there.
  NativeFunctions();

  void addConstraint(llvm::StringRef name, NativeFunction function) { constraints[name] = std::move(function); }
  void addRewrite(llvm::StringRef name, NativeFunction function) { rewrites[name] = std::move(function); }

  const llvm::StringMap<NativeFunction> &getConstraints() const { return constraints; }
  const llvm::StringMap<NativeFunction> &getRewrites() const { return rewrites; }

  /// True for constraints that look at nothing but the types and attributes of their operands.
  static bool isLocal(llvm::StringRef name);

private:
  llvm::StringMap<NativeFunction> constraints, rewrites;
};

/// The predicates (lib/Rewrite/PDL/Predicates.cpp).
void addPredicates(NativeFunctions &functions);

/// Functions of dims, shapes and numbers (lib/Rewrite/PDL/DimFunctions.cpp).
void addDimFunctions(NativeFunctions &functions);

} // namespace inlay

#endif // INLAY_REWRITE_NATIVEFUNCTIONS_H
