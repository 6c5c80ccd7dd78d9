// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose operands say where elements are read or written. Indices are known as the program runs, where nothing can
// be reported, so no op reads or writes beyond a tensor: an index beyond a dim reads the dim's nearest element and
// writes nothing.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

def Inlay_EmbeddingOp : Inlay_GraphOp<"embedding", ["embedding"],
    "torch.nn.functional.embedding(indices, weight)"> {
  let summary = "rows of a table";
  let description = [{
    The result has the dims of `indices`, then those of `weight` after the first. An index beyond the table reads its
    nearest row.

    Example: `%r = inlay.embedding %w, %i : (tensor<100x16xf32>, tensor<2x8xi64>) -> tensor<2x8x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Inlay_IndexSelectOp : Inlay_GraphOp<"index_select", ["index_select"], "torch.index_select(input, dim, index)"> {
  let summary = "slices of a dim, by a vector of their numbers";
  let description = [{
    An index beyond the dim reads its nearest slice.

    Example: `%r = inlay.index_select %x, %i dim 1 : (tensor<2x8xf32>, tensor<3xi64>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$index, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $index `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Inlay_GatherOp : Inlay_GraphOp<"gather", ["gather", "take_along_dim"], "torch.gather(input, dim, index)"> {
  let summary = "elements along a dim, chosen for each place by itself";
  let description = [{
    The result has the dims of `index`, none of which but `dim` is larger than the input's. An index beyond the dim
    reads its nearest element.

    Example: `%r = inlay.gather %x, %i dim 1 : (tensor<2x8xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$index, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $index `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Inlay_IndexOp : Inlay_GraphOp<"index", ["index.Tensor", "_unsafe_index.Tensor"],
    "torch.ops.aten.index.Tensor(input, [dict(zip(dims, indices)).get(dim) for dim in range(input.dim())])"> {
  let summary = "elements by tensors of indices for some dims";
  let description = [{
    The n-th of `indices` is for dim `dims[n]`; they broadcast with each other and stand for all these dims, at the
    place of the first if the dims are next to each other, else in front. `dims` rise. Negative indices count from the
    dim's end; one beyond the dim reads its nearest element.

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
  let summary = "the input with values at elements that `inlay.index` would read";
  let description = [{
    `values` broadcast to what `inlay.index` gives for the same indices. Of values for one element the last stays, or
    all are added if `accumulate`. Negative indices count from the dim's end; one beyond the dim writes nothing.

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
  let summary = "the input with elements along a dim written, for each place by itself";
  let description = [{
    Element i of `source`, as far as `index` has one, goes to the place whose coordinates are those of i but for `dim`,
    where it is `index[i]`. With `reduce`, one of `sum`, `prod`, `amax`, `amin`, it is combined with what is there, else
    the last one stays. An index beyond the dim writes nothing.

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
    Equal elements stay in order; NaN is larger than any number.

    Example: `%r = inlay.argsort %x dim -1 descending : (tensor<2x8xf32>) -> tensor<2x8xi64>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $input `dim` $dim (`descending` $descending^)? attr-dict
      `:` functional-type(operands, results) }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYINDEXOPS_TD
