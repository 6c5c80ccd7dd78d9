// REQUIRES: newer-lavapipe
// RUN: inlay-compile %s -o %t.inlay
// RUN: inlay-run --describe %t.inlay | FileCheck %s --check-prefix=NEEDS
// NEEDS: cooperative-matrix=8x8x8xf16xf32
// RUN: %newer-lavapipe inlay-run %s --require-full-compilation --require-device --compare | FileCheck %s
// RUN: env INLAY_VULKAN_FORCE_STAGING=1 %newer-lavapipe inlay-run %s --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-4]\.[0-9]e-04|[0-9.]+e-(0[5-9]|[1-9][0-9]))}} of the largest element

// Cooperative-matrix products of f16, if they are large enough: whole tiles; rows, columns and sums that are not
// multiples of a tile; batches of both operands, of one, or that broadcast; a transposed operand; sizes of 1; a bias
// and ops on the result; a result with two readers; convolutions with and without padding. The target is declared as a
// GPU, because software devices, the only ones here with cooperative matrices, would use other kernels.

module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, max_workgroup_invocations = 256,
    max_workgroup_memory = 32768, features = ["float16", "subgroup-broadcast"], kind = "discrete",
    matrices = ["8x8x8xf16xf32"]>, #inlay.host]} {
func.func public @forward(%a0: tensor<128x64xf16>, %b0: tensor<64x128xf16>, %a1: tensor<33x67xf16>,
    %b1: tensor<67x101xf16>, %a2: tensor<2x3x20x64xf16>, %b2: tensor<2x3x64x36xf16>, %b3: tensor<64x44xf16>,
    %a4: tensor<2x1x20x64xf16>, %b4: tensor<3x64x24xf16>, %a5: tensor<4x50x100xf16>, %w5: tensor<70x100xf16>,
    %c5: tensor<70xf16>, %a6: tensor<65x1xf16>, %b6: tensor<1x300xf16>, %a7: tensor<128x90xf16>,
    %w7: tensor<1000x90xf16>, %x8: tensor<2x32x14x14xf16>, %w8: tensor<24x32x3x3xf16>, %c8: tensor<24xf16>,
    %w9: tensor<40x32x1x1xf16>, %r8: tensor<2x24x14x14xf16>) -> (tensor<128x128xf16>, tensor<33x101xf16>,
    tensor<2x3x20x36xf16>, tensor<2x3x20x44xf16>, tensor<2x3x20x24xf16>, tensor<4x50x70xf16>, tensor<65x300xf16>,
    tensor<128x1000xf16>, tensor<33x101xf16>, tensor<2x24x14x14xf16>, tensor<2x40x7x7xf16>) {
  %0 = inlay.matmul %a0, %b0 : (tensor<128x64xf16>, tensor<64x128xf16>) -> tensor<128x128xf16>
  %1 = inlay.matmul %a1, %b1 : (tensor<33x67xf16>, tensor<67x101xf16>) -> tensor<33x101xf16>
  %2 = inlay.matmul %a2, %b2 : (tensor<2x3x20x64xf16>, tensor<2x3x64x36xf16>) -> tensor<2x3x20x36xf16>
  %3 = inlay.matmul %a2, %b3 : (tensor<2x3x20x64xf16>, tensor<64x44xf16>) -> tensor<2x3x20x44xf16>
  %4 = inlay.matmul %a4, %b4 : (tensor<2x1x20x64xf16>, tensor<3x64x24xf16>) -> tensor<2x3x20x24xf16>
  %5 = inlay.linear %a5, %w5, %c5 : (tensor<4x50x100xf16>, tensor<70x100xf16>, tensor<70xf16>) -> tensor<4x50x70xf16>
  %relu = inlay.relu %5 : (tensor<4x50x70xf16>) -> tensor<4x50x70xf16>
  %6 = inlay.matmul %a6, %b6 : (tensor<65x1xf16>, tensor<1x300xf16>) -> tensor<65x300xf16>
  %7 = inlay.linear %a7, %w7 : (tensor<128x90xf16>, tensor<1000x90xf16>) -> tensor<128x1000xf16>
  %tanh = inlay.tanh %7 : (tensor<128x1000xf16>) -> tensor<128x1000xf16>
  %twice = inlay.mul %1, %1 : (tensor<33x101xf16>, tensor<33x101xf16>) -> tensor<33x101xf16>
  %8 = inlay.conv %x8, %w8, %c8 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<2x32x14x14xf16>,
      tensor<24x32x3x3xf16>, tensor<24xf16>) -> tensor<2x24x14x14xf16>
  %sum = inlay.add %8, %r8 : (tensor<2x24x14x14xf16>, tensor<2x24x14x14xf16>) -> tensor<2x24x14x14xf16>
  %9 = inlay.conv %x8, %w9 stride [2, 2] padding [0, 0] dilation [1, 1] groups 1 : (tensor<2x32x14x14xf16>,
      tensor<40x32x1x1xf16>) -> tensor<2x40x7x7xf16>
  return %0, %1, %2, %3, %4, %relu, %6, %tanh, %twice, %sum, %9 : tensor<128x128xf16>, tensor<33x101xf16>,
    tensor<2x3x20x36xf16>, tensor<2x3x20x44xf16>, tensor<2x3x20x24xf16>, tensor<4x50x70xf16>, tensor<65x300xf16>,
    tensor<128x1000xf16>, tensor<33x101xf16>, tensor<2x24x14x14xf16>, tensor<2x40x7x7xf16>
}
}
