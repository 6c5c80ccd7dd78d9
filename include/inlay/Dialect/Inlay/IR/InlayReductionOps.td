// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, positions of extremes, and scans along a dim.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYREDUCTIONOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYREDUCTIONOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

class Inlay_ReduceOp<string mnemonic, list<string> aten, string reference, string what, string element = "f32">
    : Inlay_GraphOp<mnemonic, aten, reference> {
  let summary = what;
  let description = [{
    Reduces over `dims`, at least one dim, each in [-rank, rank). With `keepdim`, the reduced dims stay as dims of size
    1.

    Example: `%r = inlay.}] # mnemonic # [{ %x dims [2, 3] keepdim : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1x}] #
      element # [{>`
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dims` $dims (`keepdim` $keepdim^)? attr-dict `:` functional-type(operands, results)";
  let definitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::inlay::inferReduction(loc, getOperationName(), adaptor.getInput(), adaptor.getDims(),
                                     adaptor.getKeepdim(), types, /*width=*/}] # !if(!eq(element, "i1"), 1, 0) # [{);
    }
  }];
}

def Inlay_AllOp : Inlay_ReduceOp<"all", ["all.dims", "all.dim", "all"], "torch.all(input, dims, keepdim)",
  "true if no element is zero", "i1">;
def Inlay_AmaxOp : Inlay_ReduceOp<"amax", ["amax"], "torch.amax(input, dims, keepdim)",
  "largest element, NaN if any element is NaN">;
def Inlay_AminOp : Inlay_ReduceOp<"amin", ["amin"], "torch.amin(input, dims, keepdim)",
  "smallest element, NaN if any element is NaN">;
def Inlay_AnyOp : Inlay_ReduceOp<"any", ["any.dims", "any.dim", "any"], "torch.any(input, dims, keepdim)",
  "true if any element differs from zero", "i1">;
def Inlay_MeanOp : Inlay_ReduceOp<"mean", ["mean.dim", "mean"], "torch.mean(input, dims, keepdim)", "mean">;
def Inlay_ProdOp : Inlay_ReduceOp<"prod", ["prod", "prod.dim_int"],
  "torch._refs.prod(input, dims, keepdim, dtype=input.dtype)", "product, with the element type of the input">;
def Inlay_SumOp : Inlay_ReduceOp<"sum", ["sum.dim_IntList", "sum"], "torch.sum(input, dims, keepdim, dtype=input.dtype)",
    "sum, with the element type of the input">;

class Inlay_ArgOp<string mnemonic, list<string> aten, string what> : Inlay_GraphOp<mnemonic, aten,
    "torch." # mnemonic # "(input, dim, keepdim)"> {
  let summary = what;
  let description = [{
    Returns the first position if several elements are equal. `dim` is in [-rank, rank). With `keepdim`, it stays as a
    dim of size 1.

    Example: `%r = inlay.}] # mnemonic # [{ %x dim 1 keepdim : (tensor<4x8xf32>) -> tensor<4x1xi64>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, UnitAttr:$keepdim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim (`keepdim` $keepdim^)? attr-dict `:` functional-type(operands, results)";
  let definitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      int64_t dim = adaptor.getDim();
      return ::inlay::inferReduction(loc, getOperationName(), adaptor.getInput(), dim, adaptor.getKeepdim(), types,
                                     /*width=*/64);
    }
  }];
}

def Inlay_ArgmaxOp : Inlay_ArgOp<"argmax", ["argmax", "max.dim"], "position of the largest element, or of NaN, along a dim">;
def Inlay_ArgminOp : Inlay_ArgOp<"argmin", ["argmin", "min.dim"], "position of the smallest element, or of NaN, along a dim">;

class Inlay_ScanOp<string mnemonic, string what> : Inlay_GraphOp<mnemonic, [mnemonic],
    "torch." # mnemonic # "(input, dim, dtype=input.dtype)"> {
  let summary = what;
  let description = [{
    Combines each element with all elements before it along `dim`, which is in [-rank, rank).

    Example: `%r = inlay.}] # mnemonic # [{ %x dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` functional-type(operands, results)";
  let definitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::inlay::inferScan(loc, getOperationName(), adaptor.getInput(), adaptor.getDim(), types);
    }
  }];
}

def Inlay_CumprodOp : Inlay_ScanOp<"cumprod", "running product">;
def Inlay_CumsumOp : Inlay_ScanOp<"cumsum", "running sum">;

#endif // INLAY_DIALECT_INLAY_IR_INLAYREDUCTIONOPS_TD
