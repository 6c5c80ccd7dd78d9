// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Products with partial tiles along rows, columns, lanes or the sum; sums in one piece, in vectors, and with a
// remainder; a transposed operand; rows of leading dims; one row; one column; convolutions with overlapping, disjoint
// and one-element windows; groups.

func.func public @forward(%a0: tensor<67x100xf32>, %b0: tensor<100x36xf32>, %a1: tensor<17x33xf32>,
    %b1: tensor<33x1001xf32>, %a2: tensor<2x3x20x64xf32>, %b2: tensor<2x3x64x12xf32>, %a3: tensor<1x300xf32>,
    %b3: tensor<1000x300xf32>, %c3: tensor<1000xf32>, %b4: tensor<300x1xf32>, %a5: tensor<128x96xf32>,
    %b5: tensor<200x96xf32>, %x6: tensor<2x8x14x14xf32>, %w6: tensor<12x8x3x3xf32>, %c6: tensor<12xf32>,
    %w7: tensor<6x8x5x5xf32>, %w8: tensor<20x8x1x1xf32>, %w9: tensor<8x1x3x3xf32>) -> (tensor<67x36xf32>,
    tensor<17x1001xf32>, tensor<2x3x20x12xf32>, tensor<1x1000xf32>, tensor<1x1xf32>, tensor<128x200xf32>,
    tensor<2x12x14x14xf32>, tensor<2x6x5x5xf32>, tensor<2x20x14x14xf32>, tensor<2x8x14x14xf32>) {
  %0 = inlay.matmul %a0, %b0 : (tensor<67x100xf32>, tensor<100x36xf32>) -> tensor<67x36xf32>
  %1 = inlay.matmul %a1, %b1 : (tensor<17x33xf32>, tensor<33x1001xf32>) -> tensor<17x1001xf32>
  %2 = inlay.matmul %a2, %b2 : (tensor<2x3x20x64xf32>, tensor<2x3x64x12xf32>) -> tensor<2x3x20x12xf32>
  %3 = inlay.linear %a3, %b3, %c3 : (tensor<1x300xf32>, tensor<1000x300xf32>, tensor<1000xf32>) -> tensor<1x1000xf32>
  %4 = inlay.matmul %a3, %b4 : (tensor<1x300xf32>, tensor<300x1xf32>) -> tensor<1x1xf32>
  %5 = inlay.linear %a5, %b5 : (tensor<128x96xf32>, tensor<200x96xf32>) -> tensor<128x200xf32>
  %6 = inlay.conv %x6, %w6, %c6 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<2x8x14x14xf32>,
      tensor<12x8x3x3xf32>, tensor<12xf32>) -> tensor<2x12x14x14xf32>
  %7 = inlay.conv %x6, %w7 stride [2, 2] padding [0, 0] dilation [1, 1] groups 1 : (tensor<2x8x14x14xf32>,
      tensor<6x8x5x5xf32>) -> tensor<2x6x5x5xf32>
  %8 = inlay.conv %x6, %w8 stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<2x8x14x14xf32>,
      tensor<20x8x1x1xf32>) -> tensor<2x20x14x14xf32>
  %9 = inlay.conv %x6, %w9 stride [1, 1] padding [1, 1] dilation [1, 1] groups 8 : (tensor<2x8x14x14xf32>,
      tensor<8x1x3x3xf32>) -> tensor<2x8x14x14xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<67x36xf32>, tensor<17x1001xf32>, tensor<2x3x20x12xf32>,
    tensor<1x1000xf32>, tensor<1x1xf32>, tensor<128x200xf32>, tensor<2x12x14x14xf32>, tensor<2x6x5x5xf32>,
    tensor<2x20x14x14xf32>, tensor<2x8x14x14xf32>
}
