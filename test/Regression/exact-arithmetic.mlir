// Drivers must not use laws that do not hold for floats: x - x is NaN for NaN, and (x + 1e8) - 1e8 loses digits.
// RUN: %python -c "import numpy, sys; numpy.save(sys.argv[1], numpy.array([numpy.nan, numpy.inf, 2, -0.25], numpy.float32))" %t.npy
// RUN: inlay-run %s --input=%t.npy | FileCheck %s
// RUN: inlay-run %s --input=%t.npy --targets=host | FileCheck %s
// CHECK: result 0: float32[4] = {{-?}}nan {{-?}}nan 0 0
// CHECK: result 1: float32[4] = {{-?}}nan {{-?}}{{nan|inf}} 0 0
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = inlay.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %big = inlay.constant dense<1.0e8> : tensor<f32>
  %1 = inlay.add %x, %big : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = inlay.sub %1, %big : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}
