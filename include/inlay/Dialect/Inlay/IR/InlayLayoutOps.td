// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout ops that add or replace elements in addition to moving them.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYLAYOUTOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYLAYOUTOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

def Inlay_PadOp : Inlay_GraphOp<"pad", ["constant_pad_nd", "pad"],
    "torch.ops.aten.constant_pad_nd(input, [n for pair in reversed(list(zip(low, high))) for n in pair], "
    "value.item())"> {
  let summary = "the input padded with one value";
  let description = [{
    Adds `low` elements in front of each dim and `high` elements behind it. All of them are `value`, a tensor of rank 0.
    Numbers written as `?` are the results of `sizes`, a map of the function's symbols.

    Example: `%r = inlay.pad %x, %v low [0, 1] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$value, DenseI64ArrayAttr:$low,
      DenseI64ArrayAttr:$high, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $value `low` custom<Sizes>($low) `high` custom<Sizes>($high)
      (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results) }];
}

def Inlay_FlipOp : Inlay_GraphOp<"flip", ["flip", "fliplr", "flipud"], "torch.flip(input, dims)"> {
  let summary = "reversal of dims";
  let description = [{
    Example: `%r = inlay.flip %x dims [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` functional-type(operands, results)";
}

def Inlay_SliceScatterOp : Inlay_GraphOp<"slice_scatter", ["slice_scatter", "select_scatter"],
    "torch.ops.aten.slice_scatter(input, source, dim, start, end, step)"> {
  let summary = "the input with another tensor in place of a slice";
  let description = [{
    `start`, `end` and `step` select the slice as in `inlay.slice`. `source` has the type of that slice.

    Example: `%r = inlay.slice_scatter %x, %s dim 1 start 0 end 2 step 1
      : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$source, I64Attr:$dim, I64Attr:$start, I64Attr:$end,
      I64Attr:$step, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $source `dim` $dim `start` custom<Size>($start) `end` custom<Size>($end) `step` $step
      (`sizes` $sizes^)? attr-dict
      `:` functional-type(operands, results) }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYLAYOUTOPS_TD
