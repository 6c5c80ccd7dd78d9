// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[4-9]|[1-9][0-9]))}} of the largest element

// Subgroup products of f16 with f32 accumulation: partial tiles, one row, a transposed operand with a bias, a batch,
// and a convolution.

func.func public @forward(%a0: tensor<67x100xf16>, %b0: tensor<100x36xf16>, %a1: tensor<1x300xf16>,
    %w1: tensor<1000x300xf16>, %c1: tensor<1000xf16>, %a2: tensor<2x3x20x64xf16>, %b2: tensor<2x3x64x12xf16>,
    %x3: tensor<2x8x14x14xf16>, %w3: tensor<12x8x3x3xf16>, %c3: tensor<12xf16>) -> (tensor<67x36xf16>,
    tensor<1x1000xf16>, tensor<2x3x20x12xf16>, tensor<2x12x14x14xf16>) {
  %0 = inlay.matmul %a0, %b0 : (tensor<67x100xf16>, tensor<100x36xf16>) -> tensor<67x36xf16>
  %1 = inlay.linear %a1, %w1, %c1 : (tensor<1x300xf16>, tensor<1000x300xf16>, tensor<1000xf16>) -> tensor<1x1000xf16>
  %2 = inlay.matmul %a2, %b2 : (tensor<2x3x20x64xf16>, tensor<2x3x64x12xf16>) -> tensor<2x3x20x12xf16>
  %3 = inlay.conv %x3, %w3, %c3 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<2x8x14x14xf16>,
      tensor<12x8x3x3xf16>, tensor<12xf16>) -> tensor<2x12x14x14xf16>
  return %0, %1, %2, %3 : tensor<67x36xf16>, tensor<1x1000xf16>, tensor<2x3x20x12xf16>, tensor<2x12x14x14xf16>
}
