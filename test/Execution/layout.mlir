// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: 0.0e+00, 0.0e+00 of the largest element

// Reshapes, permutations, expansions, slices and concatenations, including ones that change nothing.

func.func public @forward(%arg0: tensor<2x3x5xf32>, %arg1: tensor<1x1xf32>, %arg2: tensor<1x33x2x65xf32>,
    %arg3: tensor<4x1xf32>, %arg4: tensor<f32>, %arg5: tensor<2x1x5xf32>) -> (tensor<30xf32>, tensor<5x6xf32>,
    tensor<1x30x1xf32>, tensor<3x2x5x1xf32>, tensor<f32>, tensor<5x3x2xf32>, tensor<2x5x3xf32>, tensor<3x2x5xf32>,
    tensor<65x33x1x2xf32>, tensor<2x4x3xf32>, tensor<7xf32>, tensor<4x1xf32>, tensor<1x3x5xf32>, tensor<2x2x5xf32>,
    tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x5xf32>, tensor<2x4x5xf32>, tensor<2x3x15xf32>, tensor<2x3x5xf32>) {
  %0 = inlay.reshape %arg0 shape [30] : (tensor<2x3x5xf32>) -> tensor<30xf32>
  %1 = inlay.reshape %arg0 shape [5, -1] : (tensor<2x3x5xf32>) -> tensor<5x6xf32>
  %2 = inlay.reshape %arg0 shape [1, 30, 1] : (tensor<2x3x5xf32>) -> tensor<1x30x1xf32>
  %3 = inlay.reshape %arg0 shape [3, 2, 5, 1] : (tensor<2x3x5xf32>) -> tensor<3x2x5x1xf32>
  %4 = inlay.reshape %arg1 shape [] : (tensor<1x1xf32>) -> tensor<f32>
  %5 = inlay.permute %arg0 dims [2, 1, 0] : (tensor<2x3x5xf32>) -> tensor<5x3x2xf32>
  %6 = inlay.permute %arg0 dims [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %7 = inlay.permute %arg0 dims [-2, 0, -1] : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
  %8 = inlay.permute %arg2 dims [3, 1, 0, 2] : (tensor<1x33x2x65xf32>) -> tensor<65x33x1x2xf32>
  %9 = inlay.expand %arg3 shape [2, 4, 3] : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %10 = inlay.expand %arg4 shape [7] : (tensor<f32>) -> tensor<7xf32>
  %11 = inlay.expand %arg3 shape [-1, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %12 = inlay.slice %arg0 dim 0 start 0 end 1 step 1 : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
  %13 = inlay.slice %arg0 dim 1 start 1 end 3 step 1 : (tensor<2x3x5xf32>) -> tensor<2x2x5xf32>
  %14 = inlay.slice %arg0 dim 2 start -4 end -1 step 2 : (tensor<2x3x5xf32>) -> tensor<2x3x2xf32>
  %15 = inlay.slice %arg0 dim -1 start 0 end 9223372036854775807 step 3 : (tensor<2x3x5xf32>) -> tensor<2x3x2xf32>
  %16 = inlay.slice %arg0 dim 2 start -100 end 100 step 1 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %17 = inlay.cat %arg0, %arg5 dim 1 : (tensor<2x3x5xf32>, tensor<2x1x5xf32>) -> tensor<2x4x5xf32>
  %18 = inlay.cat %arg0, %arg0, %arg0 dim -1 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>,
    tensor<2x3x5xf32>) -> tensor<2x3x15xf32>
  %19 = inlay.cat %arg0 dim 0 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : tensor<30xf32>,
    tensor<5x6xf32>, tensor<1x30x1xf32>, tensor<3x2x5x1xf32>, tensor<f32>, tensor<5x3x2xf32>, tensor<2x5x3xf32>,
    tensor<3x2x5xf32>, tensor<65x33x1x2xf32>, tensor<2x4x3xf32>, tensor<7xf32>, tensor<4x1xf32>, tensor<1x3x5xf32>,
    tensor<2x2x5xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x5xf32>, tensor<2x4x5xf32>,
    tensor<2x3x15xf32>, tensor<2x3x5xf32>
}
