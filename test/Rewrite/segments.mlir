// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/relu-neg.pdl" | FileCheck %s
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/relu-neg.pdl across-segments" | FileCheck %s --check-prefix=ACROSS

//--- relu-neg.pdl
pdl.pattern @relu_neg : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %neg = pdl.operation "inlay.neg"(%x : !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %neg
  %relu = pdl.operation "inlay.relu"(%v : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu {
    %abs = pdl.operation "inlay.abs"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %relu with %abs
  }
}

//--- graph.mlir
// CHECK-LABEL: @border
// CHECK-NEXT: inlay.neg
// CHECK-NEXT: inlay.segment
// CHECK-NEXT: inlay.relu
// ACROSS-LABEL: @border
// ACROSS-NEXT: inlay.segment
// ACROSS-NEXT: inlay.abs %arg0
func.func @border(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.segment #inlay.host() : () -> tensor<4xf32> {
    %2 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @inside
// CHECK: inlay.segment
// CHECK-NEXT: inlay.abs
func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = inlay.segment #inlay.host() : () -> tensor<4xf32> {
    %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    %2 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
