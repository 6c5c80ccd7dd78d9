// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Shape phase: dims and element types known at every border.

#ifndef INLAY_SHAPE_PASSES_TD
#define INLAY_SHAPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShapeInferPass : Pass<"inlay-shape-infer", "::mlir::ModuleOp"> {
  let summary = "Infer dims of graph ops' results";
  let description = [{
    Infers the result types of graph ops again, in program order, and carries dims that become known over segments'
    borders and into the results of functions that nobody calls. Ops are neither added nor removed: a value that an op
    of another dialect uses keeps its type, since that op's own types may hang on it. Operands that turn out not to
    fit are errors. A symbol that says how many rows there are where some are read has a least value of 1 then.

    ```mlir
    func.func @dims_reach_the_result(%x: tensor<2x4xf32>) -> tensor<2x?xf32> {
      %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<2x4xf32>) -> tensor<2x?xf32> {
      ^bb0(%a: tensor<2x4xf32>):
        %0 = inlay.relu %a : (tensor<2x4xf32>) -> tensor<2x?xf32>
        inlay.yield %0 : tensor<2x?xf32>
      }
      return %r : tensor<2x?xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dims_reach_the_result(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      ^bb0(%a: tensor<2x4xf32>):
        %0 = inlay.relu %a : (tensor<2x4xf32>) -> tensor<2x4xf32>
        inlay.yield %0 : tensor<2x4xf32>
      }
      return %r : tensor<2x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def ShapeVerifyPass : Pass<"inlay-shape-verify", "::mlir::ModuleOp"> {
  let summary = "Check that dims are known at every border";
  let description = [{
    Closes the phase. Each tensor that enters or leaves a segment must have static dims; each one that hasn't is an
    error that names the segment, the value and the dim.

    ```mlir
    %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> { ... }
    ```
    stays as it is.
  }];
}

#endif // INLAY_SHAPE_PASSES_TD
