// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Products with odd, single and larger sizes, and with leading dims that broadcast.

func.func public @forward(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1xf32>, %arg2: tensor<33x17xf32>,
    %arg3: tensor<17x5xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<7x300xf32>,
    %arg7: tensor<300x3xf32>, %arg8: tensor<3x1x4x9xf32>, %arg9: tensor<2x9x6xf32>, %arg10: tensor<2x3x1x5xf32>,
    %arg11: tensor<5x4xf32>, %arg12: tensor<9xf32>, %arg13: tensor<5x9xf32>, %arg14: tensor<5xf32>,
    %arg15: tensor<1x512xf32>, %arg16: tensor<10x512xf32>, %arg17: tensor<10xf32>, %arg18: tensor<2x3x8xf32>,
    %arg19: tensor<6x8xf32>, %arg20: tensor<130x7xf32>, %arg21: tensor<65x7xf32>,
    %arg22: tensor<65xf32>) -> (tensor<1x1xf32>, tensor<33x5xf32>, tensor<64x64xf32>, tensor<7x3xf32>,
    tensor<3x2x4x6xf32>, tensor<2x3x1x4xf32>, tensor<5xf32>, tensor<1x10xf32>, tensor<2x3x6xf32>, tensor<130x65xf32>) {
  %0 = inlay.matmul %arg0, %arg1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = inlay.matmul %arg2, %arg3 : (tensor<33x17xf32>, tensor<17x5xf32>) -> tensor<33x5xf32>
  %2 = inlay.matmul %arg4, %arg5 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = inlay.matmul %arg6, %arg7 : (tensor<7x300xf32>, tensor<300x3xf32>) -> tensor<7x3xf32>
  %4 = inlay.matmul %arg8, %arg9 : (tensor<3x1x4x9xf32>, tensor<2x9x6xf32>) -> tensor<3x2x4x6xf32>
  %5 = inlay.matmul %arg10, %arg11 : (tensor<2x3x1x5xf32>, tensor<5x4xf32>) -> tensor<2x3x1x4xf32>
  %6 = inlay.linear %arg12, %arg13, %arg14 : (tensor<9xf32>, tensor<5x9xf32>, tensor<5xf32>) -> tensor<5xf32>
  %7 = inlay.linear %arg15, %arg16, %arg17 : (tensor<1x512xf32>, tensor<10x512xf32>, tensor<10xf32>) -> tensor<1x10xf32>
  %8 = inlay.linear %arg18, %arg19 : (tensor<2x3x8xf32>, tensor<6x8xf32>) -> tensor<2x3x6xf32>
  %9 = inlay.linear %arg20, %arg21, %arg22 : (tensor<130x7xf32>, tensor<65x7xf32>, tensor<65xf32>) -> tensor<130x65xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<1x1xf32>, tensor<33x5xf32>, tensor<64x64xf32>,
    tensor<7x3xf32>, tensor<3x2x4x6xf32>, tensor<2x3x1x4xf32>, tensor<5xf32>, tensor<1x10xf32>, tensor<2x3x6xf32>,
    tensor<130x65xf32>
}
