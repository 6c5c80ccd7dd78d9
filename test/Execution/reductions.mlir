// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[5-9]|[1-9][0-9]))}} of the largest element

// Reductions over each dim, over several and over all dims, over dims of one element, and over long dims.

func.func public @forward(%arg0: tensor<3x5x7x2xf32>, %arg1: tensor<65534xf32>, %arg2: tensor<2x1x40000xf32>,
    %arg3: tensor<1x1xf32>) -> (tensor<5x7x2xf32>, tensor<3x1x7x2xf32>, tensor<3x5x7xf32>, tensor<1x5x1x2xf32>,
    tensor<3x7xf32>, tensor<f32>, tensor<1x1x7x1xf32>, tensor<5x7x2xf32>, tensor<3x1x7x2xf32>, tensor<3x5x7xf32>,
    tensor<1x5x1x2xf32>, tensor<3x7xf32>, tensor<f32>, tensor<1x1x7x1xf32>, tensor<5x7x2xf32>, tensor<3x1x7x2xf32>,
    tensor<3x5x7xf32>, tensor<1x5x1x2xf32>, tensor<3x7xf32>, tensor<f32>, tensor<1x1x7x1xf32>, tensor<f32>,
    tensor<f32>, tensor<2x1xf32>, tensor<f32>, tensor<1xf32>) {
  %0 = inlay.sum %arg0 dims [0] : (tensor<3x5x7x2xf32>) -> tensor<5x7x2xf32>
  %1 = inlay.sum %arg0 dims [1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<3x1x7x2xf32>
  %2 = inlay.sum %arg0 dims [-1] : (tensor<3x5x7x2xf32>) -> tensor<3x5x7xf32>
  %3 = inlay.sum %arg0 dims [0, 2] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x5x1x2xf32>
  %4 = inlay.sum %arg0 dims [1, 3] : (tensor<3x5x7x2xf32>) -> tensor<3x7xf32>
  %5 = inlay.sum %arg0 dims [0, 1, 2, 3] : (tensor<3x5x7x2xf32>) -> tensor<f32>
  %6 = inlay.sum %arg0 dims [3, 0, 1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x1x7x1xf32>
  %7 = inlay.mean %arg0 dims [0] : (tensor<3x5x7x2xf32>) -> tensor<5x7x2xf32>
  %8 = inlay.mean %arg0 dims [1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<3x1x7x2xf32>
  %9 = inlay.mean %arg0 dims [-1] : (tensor<3x5x7x2xf32>) -> tensor<3x5x7xf32>
  %10 = inlay.mean %arg0 dims [0, 2] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x5x1x2xf32>
  %11 = inlay.mean %arg0 dims [1, 3] : (tensor<3x5x7x2xf32>) -> tensor<3x7xf32>
  %12 = inlay.mean %arg0 dims [0, 1, 2, 3] : (tensor<3x5x7x2xf32>) -> tensor<f32>
  %13 = inlay.mean %arg0 dims [3, 0, 1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x1x7x1xf32>
  %14 = inlay.amax %arg0 dims [0] : (tensor<3x5x7x2xf32>) -> tensor<5x7x2xf32>
  %15 = inlay.amax %arg0 dims [1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<3x1x7x2xf32>
  %16 = inlay.amax %arg0 dims [-1] : (tensor<3x5x7x2xf32>) -> tensor<3x5x7xf32>
  %17 = inlay.amax %arg0 dims [0, 2] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x5x1x2xf32>
  %18 = inlay.amax %arg0 dims [1, 3] : (tensor<3x5x7x2xf32>) -> tensor<3x7xf32>
  %19 = inlay.amax %arg0 dims [0, 1, 2, 3] : (tensor<3x5x7x2xf32>) -> tensor<f32>
  %20 = inlay.amax %arg0 dims [3, 0, 1] keepdim : (tensor<3x5x7x2xf32>) -> tensor<1x1x7x1xf32>
  %21 = inlay.sum %arg1 dims [0] : (tensor<65534xf32>) -> tensor<f32>
  %22 = inlay.amax %arg1 dims [0] : (tensor<65534xf32>) -> tensor<f32>
  %23 = inlay.mean %arg2 dims [2] : (tensor<2x1x40000xf32>) -> tensor<2x1xf32>
  %24 = inlay.sum %arg3 dims [0, 1] : (tensor<1x1xf32>) -> tensor<f32>
  %25 = inlay.amax %arg3 dims [1] : (tensor<1x1xf32>) -> tensor<1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22,
    %23, %24, %25 : tensor<5x7x2xf32>, tensor<3x1x7x2xf32>, tensor<3x5x7xf32>, tensor<1x5x1x2xf32>, tensor<3x7xf32>,
    tensor<f32>, tensor<1x1x7x1xf32>, tensor<5x7x2xf32>, tensor<3x1x7x2xf32>, tensor<3x5x7xf32>, tensor<1x5x1x2xf32>,
    tensor<3x7xf32>, tensor<f32>, tensor<1x1x7x1xf32>, tensor<5x7x2xf32>, tensor<3x1x7x2xf32>, tensor<3x5x7xf32>,
    tensor<1x5x1x2xf32>, tensor<3x7xf32>, tensor<f32>, tensor<1x1x7x1xf32>, tensor<f32>, tensor<f32>,
    tensor<2x1xf32>, tensor<f32>, tensor<1xf32>
}
