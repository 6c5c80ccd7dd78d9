// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types that builtin ones can't say: lists of a framework, and values only the framework can touch.

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
    The framework's list, such as the operands of a concatenation. It never crosses a segment border on an accelerator.

    Example: `!inlay.list<tensor<4x4xf32>>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Inlay_ObjectType : Inlay_Type<"Object", "object"> {
  let summary = "a framework value that MLIR can't hold";
  let description = [{
    None, a dict, a string: only the framework can touch it; `kind` says what it is.

    Example: `!inlay.object<"Dict(str, Tensor)">`
  }];
  let parameters = (ins StringRefParameter<"what the framework calls it">:$kind);
  let assemblyFormat = "`<` $kind `>`";
  let genVerifyDecl = 1;
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYTYPES_TD
