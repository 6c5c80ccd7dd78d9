// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare \
// RUN:   --input-shape=x:4x32xn=0..70 --size=n=37 | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare \
// RUN:   --input-shape=x:4x32xn=0..70 --size=n=0 | FileCheck %s
// CHECK: largest difference to the host alone: 0.0e+00

// Flips of dims whose strides are known only at a call, alone and before another op.
func.func public @forward(%x: tensor<4x32x?xf32> loc("x")) -> (tensor<4x32x?xf32>, tensor<4x32x?xf32>) {
  %0 = inlay.flip %x dims [0] : (tensor<4x32x?xf32>) -> tensor<4x32x?xf32>
  %1 = inlay.flip %x dims [0, 1] : (tensor<4x32x?xf32>) -> tensor<4x32x?xf32>
  %2 = inlay.add %1, %x : (tensor<4x32x?xf32>, tensor<4x32x?xf32>) -> tensor<4x32x?xf32>
  return %0, %2 : tensor<4x32x?xf32>, tensor<4x32x?xf32>
}
