// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types that have no builtin equivalent: lists of a framework, and values that only the framework can access.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYTYPES_TD
#define INLAY_DIALECT_INLAY_IR_INLAYTYPES_TD

include "inlay/Dialect/Inlay/IR/InlayDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Inlay_Type<string name, string typeMnemonic> : TypeDef<Inlay_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Inlay_ListType : Inlay_Type<"List", "list"> {
  let summary = "a list of values of one type";
  let description = [{
    A list of the framework, such as the operands of a concatenation. It never crosses the border of an accelerator
    segment.

    Example: `!inlay.list<tensor<4x4xf32>>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Inlay_ObjectType : Inlay_Type<"Object", "object"> {
  let summary = "a framework value that MLIR cannot represent";
  let description = [{
    For example None, a dict or a string. Only the framework can access it. `kind` is its type in the framework.

    Example: `!inlay.object<"Dict(str, Tensor)">`
  }];
  let parameters = (ins StringRefParameter<"type name in the framework">:$kind);
  let assemblyFormat = "`<` $kind `>`";
  let genVerifyDecl = 1;
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYTYPES_TD
