// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Convolutions over one to three dims: strides, padding, dilation, groups, depthwise, and a single element.

func.func public @forward(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<4xf32>,
    %arg3: tensor<2x3x9x7xf32>, %arg4: tensor<5x3x3x2xf32>, %arg5: tensor<1x4x9x9xf32>, %arg6: tensor<6x2x3x3xf32>,
    %arg7: tensor<6xf32>, %arg8: tensor<2x6x5x5xf32>, %arg9: tensor<6x1x3x3xf32>, %arg10: tensor<6xf32>,
    %arg11: tensor<1x5x6x6xf32>, %arg12: tensor<7x5x1x1xf32>, %arg13: tensor<7xf32>, %arg14: tensor<1x16x14x14xf32>,
    %arg15: tensor<32x16x3x3xf32>, %arg16: tensor<32xf32>, %arg17: tensor<2x3x11xf32>, %arg18: tensor<4x3x5xf32>,
    %arg19: tensor<4xf32>, %arg20: tensor<1x2x4x5x6xf32>, %arg21: tensor<3x2x2x2x2xf32>, %arg22: tensor<1x1x1x1xf32>,
    %arg23: tensor<1x1x1x1xf32>, %arg24: tensor<1xf32>, %arg25: tensor<1x2x3x3xf32>, %arg26: tensor<2x2x3x3xf32>,
    %arg27: tensor<2xf32>) -> (tensor<1x4x6x6xf32>, tensor<2x5x5x10xf32>, tensor<1x6x9x7xf32>, tensor<2x6x5x2xf32>,
    tensor<1x7x2x3xf32>, tensor<1x32x14x14xf32>, tensor<2x4x5xf32>, tensor<1x3x3x6x3xf32>, tensor<1x1x1x1xf32>,
    tensor<1x2x9x9xf32>) {
  %0 = inlay.conv %arg0, %arg1, %arg2 stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<1x3x8x8xf32>,
    tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = inlay.conv %arg3, %arg4 stride [2, 1] padding [1, 2] dilation [1, 1] groups 1 : (tensor<2x3x9x7xf32>,
    tensor<5x3x3x2xf32>) -> tensor<2x5x5x10xf32>
  %2 = inlay.conv %arg5, %arg6, %arg7 stride [1, 1] padding [2, 0] dilation [2, 1] groups 2 : (tensor<1x4x9x9xf32>,
    tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x9x7xf32>
  %3 = inlay.conv %arg8, %arg9, %arg10 stride [1, 2] padding [1, 1] dilation [1, 2] groups 6 : (tensor<2x6x5x5xf32>,
    tensor<6x1x3x3xf32>, tensor<6xf32>) -> tensor<2x6x5x2xf32>
  %4 = inlay.conv %arg11, %arg12, %arg13 stride [3, 2] padding [0, 0] dilation [1,
    1] groups 1 : (tensor<1x5x6x6xf32>, tensor<7x5x1x1xf32>, tensor<7xf32>) -> tensor<1x7x2x3xf32>
  %5 = inlay.conv %arg14, %arg15, %arg16 stride [1, 1] padding [1, 1] dilation [1,
    1] groups 1 : (tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x14x14xf32>
  %6 = inlay.conv %arg17, %arg18, %arg19 stride [2] padding [1] dilation [1] groups 1 : (tensor<2x3x11xf32>,
    tensor<4x3x5xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  %7 = inlay.conv %arg20, %arg21 stride [1, 1, 2] padding [0, 1, 0] dilation [1, 1,
    1] groups 1 : (tensor<1x2x4x5x6xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x3x6x3xf32>
  %8 = inlay.conv %arg22, %arg23, %arg24 stride [1, 1] padding [0, 0] dilation [1,
    1] groups 1 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %9 = inlay.conv %arg25, %arg26, %arg27 stride [1, 1] padding [4, 4] dilation [1,
    1] groups 1 : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x9x9xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<1x4x6x6xf32>, tensor<2x5x5x10xf32>, tensor<1x6x9x7xf32>,
    tensor<2x6x5x2xf32>, tensor<1x7x2x3xf32>, tensor<1x32x14x14xf32>, tensor<2x4x5xf32>, tensor<1x3x3x6x3xf32>,
    tensor<1x1x1x1xf32>, tensor<1x2x9x9xf32>
}
