// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Layout ops that feed others, results with further users, an attention and a residual block.

func.func public @forward(%arg0: tensor<2x6x4xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<4xf32>,
    %arg3: tensor<4xf32>, %arg4: tensor<1x4x9x9xf32>, %arg5: tensor<4x4x3x3xf32>,
    %arg6: tensor<4xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>, tensor<2x4x6xf32>,
    tensor<1x4x5x5xf32>, tensor<1x4x3x3xf32>) {
  %0 = inlay.permute %arg0 dims [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
  %1 = inlay.relu %0 : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %2 = inlay.slice %1 dim 1 start 1 end 4 step 2 : (tensor<2x4x6xf32>) -> tensor<2x2x6xf32>
  %3 = inlay.linear %2, %arg1 : (tensor<2x2x6xf32>, tensor<8x6xf32>) -> tensor<2x2x8xf32>
  %4 = inlay.cat %3, %3 dim 1 : (tensor<2x2x8xf32>, tensor<2x2x8xf32>) -> tensor<2x4x8xf32>
  %5 = inlay.softmax %4 dim 1 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %6 = inlay.reshape %5 shape [2, 1, 4, 8] : (tensor<2x4x8xf32>) -> tensor<2x1x4x8xf32>
  %7 = inlay.expand %6 shape [2, 3, 4, 8] : (tensor<2x1x4x8xf32>) -> tensor<2x3x4x8xf32>
  %8 = inlay.permute %7 dims [0, 1, 3, 2] : (tensor<2x3x4x8xf32>) -> tensor<2x3x8x4xf32>
  %9 = inlay.matmul %7, %8 : (tensor<2x3x4x8xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x4x4xf32>
  %10 = inlay.layer_norm %9, %arg2, %arg3 eps 1.0e-05 : (tensor<2x3x4x4xf32>, tensor<4xf32>,
    tensor<4xf32>) -> tensor<2x3x4x4xf32>
  %11 = inlay.mean %9 dims [1, 2] : (tensor<2x3x4x4xf32>) -> tensor<2x4xf32>
  %12 = inlay.sum %4 dims [1] keepdim : (tensor<2x4x8xf32>) -> tensor<2x1x8xf32>
  %13 = inlay.add %4, %12 : (tensor<2x4x8xf32>, tensor<2x1x8xf32>) -> tensor<2x4x8xf32>
  %14 = inlay.conv %arg4, %arg5, %arg6 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<1x4x9x9xf32>,
    tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x9x9xf32>
  %15 = inlay.relu %14 : (tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %16 = inlay.conv %15, %arg5 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<1x4x9x9xf32>,
    tensor<4x4x3x3xf32>) -> tensor<1x4x9x9xf32>
  %17 = inlay.add %16, %arg4 : (tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %18 = inlay.max_pool %17 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1,
    1] : (tensor<1x4x9x9xf32>) -> tensor<1x4x5x5xf32>
  %19 = inlay.avg_pool %17 kernel [3, 3] stride [3, 3] padding [0, 0] : (tensor<1x4x9x9xf32>) -> tensor<1x4x3x3xf32>
  return %10, %11, %13, %0, %18, %19 : tensor<2x3x4x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>, tensor<2x4x6xf32>,
    tensor<1x4x5x5xf32>, tensor<1x4x3x3xf32>
}
