// RUN: inlay-opt %s --inlay-shape-verify | FileCheck %s

#npu = #inlay.declared<"npu", ["*"]>

// Dims inside a segment need not be known.
// CHECK-LABEL: func.func @static_borders
func.func @static_borders(%x: tensor<2x4xf32>, %n: i64) -> tensor<2x4xf32> {
  // CHECK: inlay.segment
  %r = inlay.segment #npu(%x, %n) : (tensor<2x4xf32>, i64) -> tensor<2x4xf32> {
  ^bb0(%a: tensor<2x4xf32>, %b: i64):
    %0 = inlay.relu %a : (tensor<2x4xf32>) -> tensor<2x?xf32>
    %1 = inlay.neg %0 : (tensor<2x?xf32>) -> tensor<2x4xf32>
    inlay.yield %1 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @no_segment
func.func @no_segment(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
