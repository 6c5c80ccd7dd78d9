// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that users may use for an op, and the labels of ops in reports.

#ifndef INLAY_DIALECT_INLAY_IR_OPNAMES_H
#define INLAY_DIALECT_INLAY_IR_OPNAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace inlay {

/// Returns the name of the op's kind in reports: the framework name of an opaque op or plugin ("aten::lgamma"), else
/// the op name.
llvm::StringRef getReportedName(mlir::Operation *op);

/// Returns true if a user may call the op `name`. Accepted are its op name, its reported name, and each of its ATen
/// names with either separator, with or without overload (`aten::add`, `aten.add`, `aten.add.Tensor`,
/// `aten::add.Tensor`). The ATen name of the call that the op is part of (`inlay.call` in its location) is accepted
/// too.
bool matchesName(mlir::Operation *op, llvm::StringRef name);

/// Returns the framework call that the op at `loc` is part of ("aten::hardswish"), or an empty string if the op is the
/// whole call.
llvm::StringRef getCallName(mlir::Location loc);

/// Returns the value of `key` in the metadata of the outermost fused location that has it, or null if none has.
mlir::Attribute findLocationMetadata(mlir::Location loc, llvm::StringRef key);

/// Returns the op's name location, under fused and call-site locations, or an empty string.
llvm::StringRef getLocationName(mlir::Location loc);
/// Like `getLocationName`, but returns an attribute. Equal names are the same attribute.
mlir::StringAttr getLocationNameAttr(mlir::Location loc);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_OPNAMES_H
