// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names users may say an op by, and the labels that reports say it by.

#ifndef INLAY_DIALECT_INLAY_IR_OPNAMES_H
#define INLAY_DIALECT_INLAY_IR_OPNAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace inlay {

/// The name reports give the op's kind: an opaque op's or plugin's own name ("aten::lgamma"), else the op name.
llvm::StringRef getReportedName(mlir::Operation *op);

/// True if `name` is one a user may say the op by: its op name, its reported name, or an ATen name with any of the
/// separators and with or without overload (`aten::add`, `aten.add`, `aten.add.Tensor`, `aten::add.Tensor`), its own or
/// that of the call that it is a part of (`inlay.call` in its location).
bool matchesName(mlir::Operation *op, llvm::StringRef name);

/// The framework's call that an op is a part of ("aten::hardswish"), by its location; empty if the op is all of it.
llvm::StringRef getCallName(mlir::Location loc);

/// What `key` has in the metadata of the outermost fused location that has it; null if none has.
mlir::Attribute findLocationMetadata(mlir::Location loc, llvm::StringRef key);

/// The op's name location (under fused and call-site locations), or empty.
llvm::StringRef getLocationName(mlir::Location loc);
/// The same as its context holds it: equal names are one attribute.
mlir::StringAttr getLocationNameAttr(mlir::Location loc);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_OPNAMES_H
