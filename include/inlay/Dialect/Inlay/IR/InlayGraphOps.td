// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph ops that are not pointwise: convolution, normalization, pooling, products, layout.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYGRAPHOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYGRAPHOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

//===-- Convolution, pooling ------------------------------------------------------------------------------------===//

def Inlay_ConvOp : Inlay_GraphOp<"conv", ["convolution", "conv1d", "conv2d", "conv3d"],
    "torch.convolution(input, weight, bias, stride, padding, dilation, False, [0] * len(stride), groups)"> {
  let summary = "convolution (cross-correlation) over the trailing dims";
  let description = [{
    `input` is N x C x spatial..., `weight` is O x C/groups x kernel..., and `bias` is O. `stride`, `padding` (the same
    on both sides) and `dilation` have one number per spatial dim.

    Example: `%r = inlay.conv %x, %w, %b stride [2, 2] padding [1, 1] dilation [1, 1] groups 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias,
      DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, I64Attr:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $weight (`,` $bias^)? `stride` $stride `padding` $padding `dilation` $dilation
      `groups` $groups attr-dict `:` functional-type(operands, results) }];
}

def Inlay_ConvTransposeOp : Inlay_GraphOp<"conv_transpose",
    ["conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "conv_transpose2d", "conv_transpose3d"],
    "torch.convolution(input, weight, bias, stride, padding, dilation, True, output_padding, groups)"> {
  let summary = "transposed convolution over the trailing dims";
  let description = [{
    `input` is N x C x spatial..., `weight` is C x O/groups x kernel..., and `bias` is O. Each input element adds the
    kernel, multiplied by the element, to the result at its position times `stride`. `padding` elements are then removed
    on both sides, and `output_padding` elements, fewer than stride or dilation, are added at the end.

    Example: `%r = inlay.conv_transpose %x, %w, %b stride [2, 2] padding [1, 1] output_padding [1, 1] dilation [1, 1]
      groups 1 : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x16x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias,
      DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$output_padding,
      DenseI64ArrayAttr:$dilation, I64Attr:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $weight (`,` $bias^)? `stride` $stride `padding` $padding
      `output_padding` $output_padding `dilation` $dilation `groups` $groups attr-dict
      `:` functional-type(operands, results) }];
}

class Inlay_PoolOp<string mnemonic, list<string> aten, string reference> : Inlay_GraphOp<mnemonic, aten, reference> {
  let results = (outs AnyRankedTensor:$result);
}

def Inlay_MaxPoolOp : Inlay_PoolOp<"max_pool", ["max_pool2d_with_indices", "max_pool2d", "max_pool1d",
    "max_pool3d_with_indices", "max_pool3d"],
    "getattr(torch.nn.functional, f'max_pool{len(kernel)}d')(input, kernel, stride, padding, dilation, ceil_mode)"> {
  let summary = "largest element of each window over the trailing dims";
  let description = [{
    `input` is N x C x spatial.... Padding counts as minus infinity. A NaN in a window gives NaN.

    Example: `%r = inlay.max_pool %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1]
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
      DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, UnitAttr:$ceil_mode);
  let assemblyFormat = [{ $input `kernel` $kernel `stride` $stride `padding` $padding `dilation` $dilation
      (`ceil_mode` $ceil_mode^)? attr-dict `:` functional-type(operands, results) }];
}

def Inlay_AvgPoolOp : Inlay_PoolOp<"avg_pool", ["avg_pool2d", "avg_pool1d", "avg_pool3d"],
    "getattr(torch.nn.functional, f'avg_pool{len(kernel)}d')(input, kernel, stride, padding, ceil_mode, "
    "count_include_pad)"> {
  let summary = "mean of each window over the trailing dims";
  let description = [{
    Padding counts as zeros if `count_include_pad` is set. Otherwise only elements of the input are averaged.

    Example: `%r = inlay.avg_pool %x kernel [2, 2] stride [2, 2] padding [0, 0] count_include_pad
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
      DenseI64ArrayAttr:$padding, UnitAttr:$ceil_mode, UnitAttr:$count_include_pad);
  let assemblyFormat = [{ $input `kernel` $kernel `stride` $stride `padding` $padding
      (`ceil_mode` $ceil_mode^)? (`count_include_pad` $count_include_pad^)? attr-dict
      `:` functional-type(operands, results) }];
}

//===-- Normalization -------------------------------------------------------------------------------------------===//

def Inlay_BatchNormOp : Inlay_GraphOp<"batch_norm", ["_native_batch_norm_legit_no_training", "batch_norm"],
    "torch.nn.functional.batch_norm(input, mean, variance, weight, bias, False, 0.0, eps)"> {
  let summary = "normalization by given statistics per channel (dim 1)";
  let description = [{
    Computes `(input - mean) / sqrt(variance + eps) * weight + bias`. All operands except `input` are vectors of length
    C.

    Example: `%r = inlay.batch_norm %x, %w, %b, %m, %v eps 1.0e-5 : (tensor<1x4x8x8xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$bias, AnyRankedTensor:$mean,
      AnyRankedTensor:$variance, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $weight `,` $bias `,` $mean `,` $variance `eps` $eps attr-dict
      `:` functional-type(operands, results) }];
}

def Inlay_LayerNormOp : Inlay_GraphOp<"layer_norm", ["native_layer_norm", "layer_norm"],
    "torch.nn.functional.layer_norm(input, weight.shape, weight, bias, eps)"> {
  let summary = "normalization over the trailing dims";
  let description = [{
    The mean and variance are computed over the trailing dims that `weight` and `bias` have.

    Example: `%r = inlay.layer_norm %x, %w, %b eps 1.0e-5
      : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$bias, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight `,` $bias `eps` $eps attr-dict `:` functional-type(operands, results)";
}

def Inlay_SoftmaxOp : Inlay_GraphOp<"softmax", ["_softmax", "softmax.int", "_safe_softmax"],
    "torch.softmax(input, dim)"> {
  let summary = "exponentials along a dim, scaled to sum to one";
  let description = [{
    `dim` is in [-rank, rank). Example: `%r = inlay.softmax %x dim -1 : (tensor<2x8xf32>) -> tensor<2x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` functional-type(operands, results)";
}

//===-- Products ------------------------------------------------------------------------------------------------===//

def Inlay_MatmulOp : Inlay_GraphOp<"matmul", ["mm", "bmm", "matmul"], "torch.matmul(lhs, rhs)"> {
  let summary = "matrix product over the last two dims; leading dims broadcast";
  let description = [{
    Both operands have rank 2 or more.

    Example: `%r = inlay.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Inlay_LinearOp : Inlay_GraphOp<"linear", ["linear", "addmm"], "torch.nn.functional.linear(input, weight, bias)"> {
  let summary = "product with a transposed weight, plus bias";
  let description = [{
    `input` is ... x I, `weight` is O x I, `bias` is O.

    Example: `%r = inlay.linear %x, %w, %b : (tensor<1x512xf32>, tensor<10x512xf32>, tensor<10xf32>) -> tensor<1x10xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Inlay_GroupedMatmulOp : Inlay_GraphOp<"grouped_matmul", ["_grouped_mm", "transformers::grouped_mm_fallback"],
    "torch.cat([input[start:end] @ matrix for start, end, matrix in zip([0, *offsets], offsets, weight)] + "
    "[input.new_zeros(len(input) - int(offsets[-1]), weight.shape[2])])"> {
  let summary = "products of groups of rows with a matrix for each group";
  let description = [{
    `input` is S x I, `weight` is E x I x O, and `offsets` is E. Rows from `offsets[e - 1]` (0 for the first) up to
    `offsets[e]` are multiplied by matrix e. Rows after the last offset give zeros. Offsets must not decrease.

    Example: `%r = inlay.grouped_matmul %x, %w, %o
      : (tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<4xi32>) -> tensor<8x32xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight `,` $offsets attr-dict `:` functional-type(operands, results)";
}

//===-- Quantization --------------------------------------------------------------------------------------------===//

def Inlay_DequantizeOp : Inlay_GraphOp<"dequantize", ["inlay::dequantize"],
    "torch.ops.inlay.dequantize(codes, scales, offsets, code, block, size, minima, dtype)"> {
  let summary = "floats for integer codes of 2, 4 or 8 bits, with a scale for each block";
  let description = [{
    `code` is the type of a code: `i2`, `u2`, `i4`, `u4`, `i8` or `u8`. `codes` has bytes, as `i8` elements with the bits
    of the codes. A byte has 8, 4 or 2 bits per code, so it holds one or more codes that are neighbors in the last dim.
    The first code is in the lowest bits. `size` is the number of codes in the last dim. Without `size`, all bytes are
    full.

    `block` has the size of a block in each dim; -1 is the whole dim. A block at the end of a dim may be smaller.
    `scales` has one element for each block, and so has `offsets`. Elements of `scales` are f16, bf16 or f32. Each code
    becomes `(code - offset) * scale`, where an offset is a zero point: a float, or an `i8` with the bits of an integer
    that is signed if the codes are signed. With `minima`, the offsets are floats and each code becomes
    `code * scale + offset`. The arithmetic is that of f32, and the result is converted to `dtype`: f16, bf16, f32 or f64.

    Example: `%r = inlay.dequantize %c, %s, %z code "u4" block [1, 32] to f32
      : (tensor<64x32xi8>, tensor<64x2xf32>, tensor<64x2xi8>) -> tensor<64x64xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$codes, AnyRankedTensor:$scales, Optional<AnyRankedTensor>:$offsets,
      StrAttr:$code, DenseI64ArrayAttr:$block, OptionalAttr<I64Attr>:$size, UnitAttr:$minima, TypeAttr:$dtype);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $codes `,` $scales (`,` $offsets^)? `code` $code `block` $block (`size` $size^)?
      (`minima` $minima^)? `to` $dtype attr-dict `:` functional-type(operands, results) }];
  let extraClassDeclaration = [{
    /// Returns the number of bits of a code.
    int64_t getBits() { return getCode().back() - '0'; }
    /// Returns true if codes are signed.
    bool isSigned() { return getCode().front() == 'i'; }
  }];
}

def Inlay_QuantizeOp : Inlay_GraphOp<"quantize", ["inlay::quantize"],
    "torch.ops.inlay.quantize(input, scales, offsets, code, block, low, high, inverse)"> {
  let summary = "codes of 8 bits for floats, with a scale for each block";
  let description = [{
    The inverse of `dequantize`. `code` is the type of a code: `i8` or `u8`. The result has the codes, as `i8` elements
    with their bits. Each number becomes `round(number / scale) + offset`, with ties to even, limited to the numbers from
    `low` to `high`, which are codes. A NaN becomes `low`. With `inverse`, the scales are inverses and each number becomes
    `round(number * scale) + offset`. The arithmetic is that of f32. `block`, `scales` and `offsets` are those of
    `dequantize`; offsets are zero points. Elements of `input` and `scales` are f16, bf16 or f32.

    Example: `%r = inlay.quantize %x, %s, %z code "u8" block [-1, -1] from 0 to 255
      : (tensor<4x64xf32>, tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<4x64xi8>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$scales, Optional<AnyRankedTensor>:$offsets,
      StrAttr:$code, DenseI64ArrayAttr:$block, I64Attr:$low, I64Attr:$high, UnitAttr:$inverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $scales (`,` $offsets^)? `code` $code `block` $block `from` $low `to` $high
      (`inverse` $inverse^)? attr-dict `:` functional-type(operands, results) }];
  let extraClassDeclaration = [{
    /// Returns true if codes are signed.
    bool isSigned() { return getCode().front() == 'i'; }
  }];
}

//===-- Layout --------------------------------------------------------------------------------------------------===//

def Inlay_ReshapeOp : Inlay_GraphOp<"reshape",
    ["view", "reshape", "_unsafe_view", "flatten.using_ints", "flatten", "squeeze", "squeeze.dim", "squeeze.dims",
     "unsqueeze"], "torch.reshape(input, shape)"> {
  let summary = "the same elements in row-major order with other dims";
  let description = [{
    At most one number of `shape` is -1: the dim that makes the element counts equal. Numbers written as `?` are the
    results of `sizes`, a map of the function's symbols.

    Example: `%r = inlay.reshape %x shape [1, -1] : (tensor<1x512x1x1xf32>) -> tensor<1x512xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$shape, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `shape` custom<Sizes>($shape) (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results)";
}

def Inlay_PermuteOp : Inlay_GraphOp<"permute", ["permute", "transpose.int", "transpose", "t"],
    "torch.permute(input, dims)"> {
  let summary = "permutation of dims";
  let description = [{
    Result dim i is input dim `dims[i]`.

    Example: `%r = inlay.permute %x dims [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` functional-type(operands, results)";
}

def Inlay_ExpandOp : Inlay_GraphOp<"expand", ["expand"], "input.expand(shape)"> {
  let summary = "repetition along dims of size 1 and along new leading dims";
  let description = [{
    -1 in `shape` keeps the dim. Numbers written as `?` are the results of `sizes`, a map of the function's symbols.

    Example: `%r = inlay.expand %x shape [2, 4, 3] : (tensor<4x1xf32>) -> tensor<2x4x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$shape, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `shape` custom<Sizes>($shape) (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results)";
}

def Inlay_SliceOp : Inlay_GraphOp<"slice", ["slice.Tensor", "slice", "select.int", "narrow"],
    "torch.ops.aten.slice.Tensor(input, dim, start, end, step)"> {
  let summary = "every step-th element of a dim from start up to end";
  let description = [{
    As in PyTorch, negative `start` and `end` count from the end, and both are clamped to the dim. `step` is positive.
    Numbers written as `?` are the results of `sizes`, a map of the function's symbols.

    Example: `%r = inlay.slice %x dim 1 start 0 end 2 step 1 : (tensor<4x8xf32>) -> tensor<4x2xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, I64Attr:$start, I64Attr:$end, I64Attr:$step, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `dim` $dim `start` custom<Size>($start) `end` custom<Size>($end) `step` $step
      (`sizes` $sizes^)? attr-dict
      `:` functional-type(operands, results) }];
}

def Inlay_CatOp : Inlay_GraphOp<"cat", ["cat", "concat"], "torch.cat(inputs, dim)"> {
  let summary = "concatenation of tensors along a dim";
  let description = [{
    Example: `%r = inlay.cat %a, %b dim 0 : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>`
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Inlay_CastOp : Inlay_GraphOp<"cast", ["_to_copy", "to.dtype", "to"], "input.to(dtype)"> {
  let summary = "conversion of elements to another type";
  let description = [{
    Conversion from floats to integers truncates towards zero. Values that do not fit, and NaN, give the minimum 32-bit
    integer (64-bit if that is the type), truncated to the type. Conversion to booleans tests for nonzero.

    Example: `%r = inlay.cast %x to f32 : (tensor<2xi64>) -> tensor<2xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, TypeAttr:$dtype);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `to` $dtype attr-dict `:` functional-type(operands, results)";
}

def Inlay_ListOp : Inlay_GraphOp<"list", ["prim::ListConstruct"], "list(elements)"> {
  let summary = "a list of values of one type";
  let description = [{
    Example: `%l = inlay.list %a, %b : (tensor<2xf32>, tensor<2xf32>) -> !inlay.list<tensor<2xf32>>`
  }];
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs Inlay_ListType:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type(operands, results)";
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYGRAPHOPS_TD
