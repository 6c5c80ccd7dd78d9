// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[5-9]|[1-9][0-9]))}} of the largest element

// Sums with so many terms that they are computed in parts: products with few results, a bias and ops on the result, one
// row, a convolution over many channels, integers, halves, means and maxima; and a sum with more terms than one
// invocation may process.

func.func public @forward(%a0: tensor<16x16384xf32>, %b0: tensor<16384x20xf32>, %a1: tensor<2x30000xf32>,
    %w1: tensor<12x30000xf32>, %c1: tensor<12xf32>, %a2: tensor<1x131072xf32>, %b2: tensor<131072x3xf32>,
    %x3: tensor<1x4096x5x5xf32>, %w3: tensor<8x4096x3x3xf32>, %c3: tensor<8xf32>, %a4: tensor<4x8192xf16>,
    %b4: tensor<8192x4xf16>, %x5: tensor<1048576xf32>, %x6: tensor<3x700000xf32>, %x7: tensor<1200000xi32>)
    -> (tensor<16x20xf32>, tensor<2x12xf32>, tensor<1x3xf32>, tensor<1x8x3x3xf32>, tensor<4x4xf16>, tensor<f32>,
    tensor<3xf32>, tensor<i32>) {
  %0 = inlay.matmul %a0, %b0 : (tensor<16x16384xf32>, tensor<16384x20xf32>) -> tensor<16x20xf32>
  %1 = inlay.linear %a1, %w1, %c1 : (tensor<2x30000xf32>, tensor<12x30000xf32>, tensor<12xf32>) -> tensor<2x12xf32>
  %2 = inlay.relu %1 : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %3 = inlay.matmul %a2, %b2 : (tensor<1x131072xf32>, tensor<131072x3xf32>) -> tensor<1x3xf32>
  %4 = inlay.conv %x3, %w3, %c3 stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<1x4096x5x5xf32>,
      tensor<8x4096x3x3xf32>, tensor<8xf32>) -> tensor<1x8x3x3xf32>
  %5 = inlay.matmul %a4, %b4 : (tensor<4x8192xf16>, tensor<8192x4xf16>) -> tensor<4x4xf16>
  %6 = inlay.sum %x5 dims [0] : (tensor<1048576xf32>) -> tensor<f32>
  %7 = inlay.amax %x6 dims [1] : (tensor<3x700000xf32>) -> tensor<3xf32>
  %8 = inlay.sum %x7 dims [0] : (tensor<1200000xi32>) -> tensor<i32>
  return %0, %2, %3, %4, %5, %6, %7, %8 : tensor<16x20xf32>, tensor<2x12xf32>, tensor<1x3xf32>, tensor<1x8x3x3xf32>,
    tensor<4x4xf16>, tensor<f32>, tensor<3xf32>, tensor<i32>
}
