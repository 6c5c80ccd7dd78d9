// RUN: inlay-opt %s --inlay-convert-pass-destinations | FileCheck %s

// CHECK-LABEL: func.func @result(%arg0: tensor<4xf32> {bufferization.writable = false}, %arg1: memref<4xf32>)
// CHECK: %[[R:.*]] = math.exp
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %arg1
// CHECK: return
func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Splats become fills.
// CHECK-LABEL: func.func @splat(%arg0: memref<4xf32>)
// CHECK: %[[SCALAR:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.fill ins(%[[SCALAR]] : f32) outs(%[[EMPTY]]
func.func @splat() -> tensor<4xf32> {
  %0 = arith.constant dense<2.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A result that replaces an argument is written to the memory of the argument, which may be written before.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %arg0: tensor<4xf32> {bufferization.writable = true}, %arg1: memref<4xf32>) attributes {plan.updates = array<i64: 0>}
// CHECK: %[[S:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK: %[[E:.*]] = math.exp
// CHECK: bufferization.materialize_in_destination %arg0 in restrict writable %arg1
// CHECK: bufferization.materialize_in_destination %[[E]] in restrict writable %[[S]]
func.func @update(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {plan.updates = 0 : i64}) {
  %0 = math.exp %s : tensor<4xf32>
  return %s, %0 : tensor<4xf32>, tensor<4xf32>
}
