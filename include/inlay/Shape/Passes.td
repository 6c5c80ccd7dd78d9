// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Shape phase, which makes dims and element types known at every border.

#ifndef INLAY_SHAPE_PASSES_TD
#define INLAY_SHAPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShapeInferPass : Pass<"inlay-shape-infer", "::mlir::ModuleOp"> {
  let summary = "Infer the dims of the results of graph ops";
  let description = [{
    Infers the result types of graph ops again, in program order. Dims that become known propagate across segment
    borders and into the result types of functions without callers. Ops are neither added nor removed. A value that an
    op of another dialect uses keeps its type, because the types of that op may depend on it. Operands that turn out to
    be incompatible are errors. A symbol that is the number of rows of a table gets a minimum of 1 if an op reads rows
    of that table. If an op needs sizes to be equal, or one to be at most another, and the symbols do not show it, the
    function gets a condition (`inlay.conditions`), which each call checks.

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
    The final check of the phase. All dims of a tensor that enters or leaves a segment must be known. A dim that is not
    known is an error that names the segment, the value and the dim.

    ```mlir
    %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> { ... }
    ```
    stays unchanged.
  }];
}

#endif // INLAY_SHAPE_PASSES_TD
