// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of sizes for the arguments of a graph that is given as text, in which a dynamic dim is only a `?`.

#ifndef INLAY_EXECUTION_INPUTSHAPES_H
#define INLAY_EXECUTION_INPUTSHAPES_H

#include "inlay/Runtime/Core/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace inlay {

/// The shape of one argument.
struct InputShape {
  /// A size from `min` to `max`, both included. Dims with the same `symbol` have the same size. A dim without a symbol
  /// is independent.
  struct Dim {
    int64_t min = 0, max = 0;
    std::string symbol;
  };
  std::string input; ///< Label, name in the text, or number of the argument.
  std::vector<Dim> dims;
};

/// Parses `x:1..8x3x224x224`: the argument, and its dims with `x` between them. A dim is a number, a range `1..8`, a
/// range without a maximum `1..`, or a range with the name of its symbol, `batch=1..8`.
rt::StatusOr<InputShape> parseInputShape(llvm::StringRef text);

/// Adds symbols for the dynamic dims of the arguments of the module's only public function. `text` is the source of the
/// module, to look up names in it. Fails for an unknown argument, a shape that does not agree with the argument's type,
/// a range whose minimum exceeds its maximum, or a symbol with two ranges.
rt::Status setInputShapes(mlir::ModuleOp module, llvm::ArrayRef<InputShape> shapes, llvm::StringRef text);

} // namespace inlay

#endif // INLAY_EXECUTION_INPUTSHAPES_H
