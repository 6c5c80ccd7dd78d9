// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Pooling with padding, dilation, windows across the border, and a window over the whole input.

func.func public @forward(%arg0: tensor<2x3x9x8xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>,
    tensor<2x3x4x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x4x3xf32>,
    tensor<2x3x5x3xf32>, tensor<2x3x5x3xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>,
    tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>) {
  %0 = inlay.max_pool %arg0 kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1,
    1] : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x4xf32>
  %1 = inlay.avg_pool %arg0 kernel [2, 2] stride [2, 2] padding [0, 0] : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x4xf32>
  %2 = inlay.avg_pool %arg0 kernel [2, 2] stride [2, 2] padding [0,
    0] count_include_pad : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x4xf32>
  %3 = inlay.max_pool %arg0 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1,
    1] : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x4xf32>
  %4 = inlay.avg_pool %arg0 kernel [3, 3] stride [2, 2] padding [1, 1] : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x4xf32>
  %5 = inlay.avg_pool %arg0 kernel [3, 3] stride [2, 2] padding [1,
    1] count_include_pad : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x4xf32>
  %6 = inlay.max_pool %arg0 kernel [3, 2] stride [2, 3] padding [1, 1] dilation [2,
    1] ceil_mode : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x3xf32>
  %7 = inlay.avg_pool %arg0 kernel [3, 2] stride [2, 3] padding [1,
    1] ceil_mode : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x3xf32>
  %8 = inlay.avg_pool %arg0 kernel [3, 2] stride [2, 3] padding [1,
    1] ceil_mode count_include_pad : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x3xf32>
  %9 = inlay.max_pool %arg0 kernel [1, 1] stride [3, 1] padding [0, 0] dilation [1,
    1] : (tensor<2x3x9x8xf32>) -> tensor<2x3x3x8xf32>
  %10 = inlay.avg_pool %arg0 kernel [1, 1] stride [3, 1] padding [0, 0] : (tensor<2x3x9x8xf32>) -> tensor<2x3x3x8xf32>
  %11 = inlay.avg_pool %arg0 kernel [1, 1] stride [3, 1] padding [0,
    0] count_include_pad : (tensor<2x3x9x8xf32>) -> tensor<2x3x3x8xf32>
  %12 = inlay.max_pool %arg0 kernel [9, 8] stride [1, 1] padding [0, 0] dilation [1,
    1] : (tensor<2x3x9x8xf32>) -> tensor<2x3x1x1xf32>
  %13 = inlay.avg_pool %arg0 kernel [9, 8] stride [1, 1] padding [0, 0] : (tensor<2x3x9x8xf32>) -> tensor<2x3x1x1xf32>
  %14 = inlay.avg_pool %arg0 kernel [9, 8] stride [1, 1] padding [0,
    0] count_include_pad : (tensor<2x3x9x8xf32>) -> tensor<2x3x1x1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>,
    tensor<2x3x4x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x4x3xf32>,
    tensor<2x3x5x3xf32>, tensor<2x3x5x3xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>,
    tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>
}
