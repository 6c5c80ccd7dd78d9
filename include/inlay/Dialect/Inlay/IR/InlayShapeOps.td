// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as values: in the tensors of a graph and in the code of a segment.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYSHAPEOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYSHAPEOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

def Inlay_SizeOp : Inlay_GraphOp<"size", ["sym_size.int", "scalar_tensor"], "torch.tensor(sizes[0])"> {
  let summary = "a number computed from the sizes of inputs, as a tensor";
  let description = [{
    `sizes` is a map of the function's symbols with one result.

    Example: `%n = inlay.size sizes affine_map<()[s0] -> (s0 * 2)> : () -> tensor<i64>`
  }];
  let arguments = (ins AffineMapAttr:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`sizes` $sizes attr-dict `:` functional-type(operands, results)";
}

def Inlay_IotaOp : Inlay_GraphOp<"iota", ["arange", "arange.start", "arange.start_step"], "torch.arange(sizes[0])"> {
  let summary = "the numbers from 0 up to a count computed from the sizes of inputs";
  let description = [{
    `sizes` is a map of the function's symbols with one result, the count.

    Example: `%r = inlay.iota sizes affine_map<()[s0] -> (s0)> : () -> tensor<?xi64>`
  }];
  let arguments = (ins AffineMapAttr:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`sizes` $sizes attr-dict `:` functional-type(operands, results)";
}

def Inlay_SymbolOp : Inlay_Op<"symbol", [Pure]> {
  let summary = "a symbol's value at a call";
  let description = [{
    The value of symbol `number` of the function, for use in the code of a segment. Example: `%n = inlay.symbol 0`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs Index:$value);
  let assemblyFormat = "$number attr-dict";
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYSHAPEOPS_TD
