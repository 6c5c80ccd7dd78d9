// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device | FileCheck %s
// RUN: inlay-run %s --targets=host | FileCheck %s

// Simplifications that a driver may apply if one operand is a constant 0, or if both are the same value, are wrong for
// infinities and NaN.

func.func public @forward() -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
    tensor<6xf32>) {
  %x = inlay.constant dense<[0x7FC00000, 0xFF800000, 0x7F800000, -2.0, 3.0, 0.0]> : tensor<6xf32>
  %zero = inlay.constant dense<0.0> : tensor<f32>
  %minus = inlay.constant dense<-0.0> : tensor<f32>
  // CHECK:      result 0: float32[6] = nan -inf inf -inf inf nan
  %over = inlay.div %x, %zero : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: result 1: float32[6] = nan inf -inf inf -inf nan
  %overMinus = inlay.div %x, %minus : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: result 2: float32[6] = nan -0 0 -0 0 nan
  %under = inlay.div %zero, %x : (tensor<f32>, tensor<6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: result 3: float32[6] = nan 0 -0 0 -0 nan
  %underMinus = inlay.div %minus, %x : (tensor<f32>, tensor<6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: result 4: float32[6] = nan nan nan -0 0 0
  %times = inlay.mul %x, %zero : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: result 5: float32[6] = nan nan nan 0 0 0
  %less = inlay.sub %x, %x : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %over, %overMinus, %under, %underMinus, %times, %less
    : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
