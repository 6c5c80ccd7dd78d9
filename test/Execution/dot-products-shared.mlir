// REQUIRES: vulkan
// RUN: env INLAY_VULKAN_ASSUME_GPU=1 inlay-run %s --targets=vulkan --require-full-compilation --require-device --compare | FileCheck %s

// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[4-9]|[1-9][0-9]))}} of the largest element

// Dot products whose neighbors read an input of the product: a residual, a gate by a slice of the input, and a sum that
// starts from the input. The kernel of the product reads that input in vectors.

func.func public @forward(%x: tensor<1x256xf32>, %w: tensor<256x256xf32>, %g: tensor<1x512xf32>, %h: tensor<1x256xf16>,
    %v: tensor<256x256xf16>) -> (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf16>) {
  %0 = inlay.linear %x, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
  %1 = inlay.add %0, %x : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %a = inlay.slice %g dim 1 start 0 end 256 step 1 : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %b = inlay.slice %g dim 1 start 256 end 512 step 1 : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %2 = inlay.linear %a, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
  %3 = inlay.sigmoid %2 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %4 = inlay.mul %3, %b : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %5 = inlay.linear %h, %v : (tensor<1x256xf16>, tensor<256x256xf16>) -> tensor<1x256xf16>
  %6 = inlay.add %5, %h : (tensor<1x256xf16>, tensor<1x256xf16>) -> tensor<1x256xf16>
  return %1, %4, %6 : tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf16>
}
