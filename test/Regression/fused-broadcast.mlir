// An op whose result is broadcast is computed once, before the broadcast.
// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --inlay-convert-fuse-elementwise | FileCheck %s
// CHECK: linalg.generic
// CHECK: ins(%arg0 : tensor<1x64xf32>)
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-NOT: math.exp
func.func @f(%x: tensor<1x64xf32>) -> tensor<4096x64xf32> {
  %0 = inlay.exp %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = inlay.expand %0 shape [4096, 64] : (tensor<1x64xf32>) -> tensor<4096x64xf32>
  return %1 : tensor<4096x64xf32>
}
