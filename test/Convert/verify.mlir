// RUN: inlay-opt %s --inlay-convert-verify | FileCheck %s

// CHECK-LABEL: func.func @converted(
// CHECK:         inlay.constant
func.func @converted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = inlay.constant dense<1.0> : tensor<4xf32>
  %0 = plan.invoke @engine(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.invoke @host(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.invoke @calls(%1, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
plan.engine @engine arguments 2 scratch affine_map<() -> ()> {
}
plan.host_function @host arguments 2 inputs 1 scratch affine_map<() -> ()>
func.func private @calls(%x: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.framework_call "{}"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
