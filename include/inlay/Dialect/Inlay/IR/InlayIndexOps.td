// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops with operands that select the elements to read or write. Indices are known only while the program runs, where no
// error can be reported. Therefore no op accesses memory outside a tensor: a read with an index outside a dim uses the
// nearest element, and a write with such an index has no effect.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

def Inlay_EmbeddingOp : Inlay_GraphOp<"embedding", ["embedding"],
    "torch.nn.functional.embedding(indices, weight)"> {
  let summary = "rows of a table, selected by indices";
  let description = [{
    The result has the dims of `indices` followed by the dims of `weight` except the first. An index outside the table
    reads the nearest row.

    Example: `%r = inlay.embedding %w, %i : (tensor<100x16xf32>, tensor<2x8xi64>) -> tensor<2x8x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Inlay_IndexSelectOp : Inlay_GraphOp<"index_select", ["index_select"], "torch.index_select(input, dim, index)"> {
  let summary = "slices along a dim, selected by a vector of indices";
  let description = [{
    An index outside the dim reads the nearest slice.

    Example: `%r = inlay.index_select %x, %i dim 1 : (tensor<2x8xf32>, tensor<3xi64>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$index, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $index `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Inlay_GatherOp : Inlay_GraphOp<"gather", ["gather", "take_along_dim"], "torch.gather(input, dim, index)"> {
  let summary = "elements along a dim, selected separately for each position";
  let description = [{
    The result has the dims of `index`. No dim of `index` except `dim` may be larger than that of the input. An index
    outside the dim reads the nearest element.

    Example: `%r = inlay.gather %x, %i dim 1 : (tensor<2x8xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$index, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $index `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Inlay_IndexOp : Inlay_GraphOp<"index", ["index.Tensor", "_unsafe_index.Tensor"],
    "torch.ops.aten.index.Tensor(input, [dict(zip(dims, indices)).get(dim) for dim in range(input.dim())])"> {
  let summary = "elements selected by tensors of indices for some dims";
  let description = [{
    The n-th of `indices` is for dim `dims[n]`; `dims` are in increasing order. The indices broadcast with each other,
    and their common dims replace all of `dims`: at the position of the first if these are adjacent, else in front.
    Negative indices count from the end of the dim. An index outside the dim reads the nearest element.

    Example: `%r = inlay.index %x, %i, %j dims [0, 2]
      : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi64>) -> tensor<2x3x5xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$indices, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $indices `dims` $dims attr-dict `:` functional-type(operands, results)";
}

def Inlay_IndexPutOp : Inlay_GraphOp<"index_put",
    ["index_put", "_unsafe_index_put", "index_add", "index_copy", "index_fill"],
    "torch.ops.aten.index_put(input, [dict(zip(dims, indices)).get(dim) for dim in range(input.dim())], values, "
    "accumulate)"> {
  let summary = "the input with values written to the elements that `inlay.index` would read";
  let description = [{
    `values` broadcasts to the result type of `inlay.index` with the same indices. If several values are for one
    element, the last one is kept, or all are added if `accumulate` is set. Negative indices count from the end of the
    dim. An index outside the dim writes nothing.

    Example: `%r = inlay.index_put %x, %v, %i dims [0] accumulate
      : (tensor<4x6xf32>, tensor<3x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$values, Variadic<AnyRankedTensor>:$indices,
      DenseI64ArrayAttr:$dims, UnitAttr:$accumulate);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $values `,` $indices `dims` $dims (`accumulate` $accumulate^)? attr-dict
      `:` functional-type(operands, results) }];
}

def Inlay_ScatterOp : Inlay_GraphOp<"scatter",
    ["scatter.src", "scatter.value", "scatter", "scatter.reduce", "scatter.value_reduce", "scatter_add",
     "scatter_reduce.two", "scatter_reduce"],
    "torch.scatter_reduce(input, dim, index, source, reduce) if reduce else torch.scatter(input, dim, index, source)"> {
  let summary = "the input with elements written along a dim, separately for each position";
  let description = [{
    Each element of `source` at a position that `index` has is written to that position with `index[position]` as the
    coordinate of `dim`. With `reduce` (`sum`, `prod`, `amax` or `amin`), the element is combined with the present one.
    Otherwise the last one written is kept. An index outside the dim writes nothing.

    Example: `%r = inlay.scatter %x, %i, %s dim 1 reduce "sum"
      : (tensor<2x8xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$index, AnyRankedTensor:$source, I64Attr:$dim,
      OptionalAttr<StrAttr>:$reduce);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `,` $index `,` $source `dim` $dim (`reduce` $reduce^)? attr-dict
      `:` functional-type(operands, results) }];
}

def Inlay_ArgsortOp : Inlay_GraphOp<"argsort", ["argsort", "argsort.stable", "sort", "sort.stable", "topk", "msort"],
    "torch.argsort(input, dim=dim, descending=descending, stable=True)"> {
  let summary = "indices that sort a dim";
  let description = [{
    Equal elements stay in order. NaN is larger than any number.

    Example: `%r = inlay.argsort %x dim -1 descending : (tensor<2x8xf32>) -> tensor<2x8xi64>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `dim` $dim (`descending` $descending^)? attr-dict
      `:` functional-type(operands, results) }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD
