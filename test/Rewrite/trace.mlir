// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/fusions.pdl.mlir labels=fuse_linear trace=%t" -o /dev/null && FileCheck %s --input-file=%t

// CHECK: "after": [
// CHECK-NEXT: "out = t.fused(%arg0, %arg1, bias) : tensor<4x4xf32>"
// CHECK: "before": [
// CHECK-NEXT: "out = t.relu(t.add) : tensor<4x4xf32>"
// CHECK-NEXT: "t.add(t.matmul, bias) : tensor<4x4xf32>"
// CHECK-NEXT: "t.matmul(%arg0, %arg1) : tensor<4x4xf32>"
// CHECK: "label": "fuse_linear"
// CHECK-NEXT: "location": "model.py:7:3"
// CHECK-NEXT: "number": 1
// CHECK-NEXT: "pattern_location": "{{.*}}fusions.pdl.mlir:2:1"
func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %b = "t.bias"() : () -> tensor<4x4xf32> loc("bias")
  %0 = "t.matmul"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "t.add"(%0, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "t.relu"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("out"("model.py":7:3))
  return %2 : tensor<4x4xf32>
}
