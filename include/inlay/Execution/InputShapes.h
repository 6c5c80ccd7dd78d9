// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of sizes for the arguments of a graph that is given as text, which says no more of them than `?`.

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
  /// From `min` to `max`, both included. Dims that carry one `symbol` have one size; the others each have their own.
  struct Dim {
    int64_t min = 0, max = 0;
    std::string symbol;
  };
  std::string input; ///< the argument by its label, by its name in the text, or by its number
  std::vector<Dim> dims;
};

/// Reads `x:1..8x3x224x224`: the argument, and its dims with `x` between them, each a number, a range `1..8`, one
/// without an end `1..`, or a range with the name of its symbol, `batch=1..8`.
rt::StatusOr<InputShape> parseInputShape(llvm::StringRef text);

/// Gives the arguments of the module's only public function symbols for their dynamic dims. `text` is what the module
/// was read from, for the names in it. An error for an unknown argument, a shape that doesn't fit the argument's type,
/// a range that starts after its end, or a symbol with two ranges.
rt::Status setInputShapes(mlir::ModuleOp module, llvm::ArrayRef<InputShape> shapes, llvm::StringRef text);

} // namespace inlay

#endif // INLAY_EXECUTION_INPUTSHAPES_H
