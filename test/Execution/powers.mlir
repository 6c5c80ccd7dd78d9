// REQUIRES: vulkan, python, torch
// RUN: %python -c "import numpy as n; n.save('%t.npy', n.array([5.0, -1, -3, 2, -2] + [-1] * 12, 'f4'))"
// RUN: %python -c "import numpy as n; n.save('%t2.npy', n.array([-1.0, -1, -2, -3, -2, -0.0, -0.0, -2], 'f4'))"
// RUN: %python -c "import numpy as n; n.save('%t3.npy', n.array([3.0, 2, 3, 2, -3, 3, -3, 0.5], 'f4'))"
// RUN: inlay-run %s --targets=vulkan --require-full-compilation --require-device --input=%t.npy,%t2.npy,%t3.npy | FileCheck %s
// RUN: %if swiftshader %{ env VK_DRIVER_FILES=%swiftshader inlay-run %s --targets=vulkan --require-full-compilation --require-device --input=%t.npy,%t2.npy,%t3.npy | FileCheck %s %}
// RUN: %if newer-lavapipe %{ %newer-lavapipe inlay-run %s --targets=vulkan --require-full-compilation --require-device --input=%t.npy,%t2.npy,%t3.npy | FileCheck %s %}

// Odd exponents keep the sign of the base, on all drivers. llvmpipe miscompiled `copysign` in kernels with one element
// per invocation if the base is the exponent too.

func.func public @forward(%x: tensor<17xf32>, %base: tensor<8xf32>, %exponent: tensor<8xf32>)
    -> (tensor<17xf32>, tensor<8xf32>) {
  // CHECK: result 0: float32[17] = {{3125|3124.99|3125.01}} -1 -0.037037 4 0.25 -1 -1 -1
  %0 = inlay.pow %x, %x : (tensor<17xf32>, tensor<17xf32>) -> tensor<17xf32>
  // CHECK-NEXT: result 1: float32[8] = -1 1 -8 9 -0.125 -0 -inf nan
  %1 = inlay.pow %base, %exponent : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<17xf32>, tensor<8xf32>
}
