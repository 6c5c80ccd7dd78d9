// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, and normalizations by statistics of their own input.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYATTENTIONOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYATTENTIONOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

def Inlay_ScaledDotProductAttentionOp : Inlay_GraphOp<"scaled_dot_product_attention",
    ["scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu"],
    "torch.nn.functional.scaled_dot_product_attention(query, key, value, mask, 0.0, is_causal, scale=scale, "
    "enable_gqa=enable_gqa)"> {
  let summary = "averages of values, weighted by the softmax of scaled query-key products";
  let description = [{
    `query` is ... x L x E, `key` is ... x S x E and `value` is ... x S x V. Leading dims broadcast. `mask` broadcasts
    to ... x L x S. A boolean mask is true if a query attends to a key; any other mask is added to the scaled products.
    With `is_causal`, which excludes a mask, query i attends to keys 0 to i. A query that attends to no key gives zeros.
    With `enable_gqa`, dim -3 of `query` is a multiple of dim -3 of `key` and `value`, and each key serves that many
    consecutive queries.

    Example: `%r = inlay.scaled_dot_product_attention %q, %k, %v scale 0.25 is_causal
      : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
      Optional<AnyRankedTensor>:$mask, F64Attr:$scale, UnitAttr:$is_causal, UnitAttr:$enable_gqa);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $query `,` $key `,` $value (`,` $mask^)? `scale` $scale (`is_causal` $is_causal^)?
      (`enable_gqa` $enable_gqa^)? attr-dict `:` functional-type(operands, results) }];
}

def Inlay_GroupNormOp : Inlay_GraphOp<"group_norm", ["native_group_norm", "group_norm"],
    "torch.nn.functional.group_norm(input, groups, weight, bias, eps)"> {
  let summary = "normalization over groups of channels and all dims after them";
  let description = [{
    `input` is N x C x ..., C is a multiple of `groups`, and `weight` and `bias` are vectors of length C.

    Example: `%r = inlay.group_norm %x, %w, %b groups 2 eps 1.0e-5
      : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$bias, I64Attr:$groups,
      F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $weight `,` $bias `groups` $groups `eps` $eps attr-dict
      `:` functional-type(operands, results) }];
}

def Inlay_RmsNormOp : Inlay_GraphOp<"rms_norm", ["rms_norm", "_fused_rms_norm"],
    "torch.nn.functional.rms_norm(input, weight.shape, weight, eps)"> {
  let summary = "division by the root mean square over the trailing dims";
  let description = [{
    Computes `input / sqrt(mean(input^2) + eps) * weight`, with the mean over as many trailing dims as `weight` has.

    Example: `%r = inlay.rms_norm %x, %w eps 1.0e-5 : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight `eps` $eps attr-dict `:` functional-type(operands, results)";
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYATTENTIONOPS_TD
