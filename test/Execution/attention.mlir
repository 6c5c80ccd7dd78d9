// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

func.func public @forward(%q: tensor<2x4x9x16xf32>, %k: tensor<2x2x7x16xf32>, %v: tensor<2x2x7x8xf32>,
    %m: tensor<9x7xf32>, %q1: tensor<2x3x1x1xf32>, %k1: tensor<2x3x5x1xf32>, %v1: tensor<2x3x5x1xf32>,
    %m1: tensor<1x5xi1>, %x: tensor<2x6x5x3xf32>, %w: tensor<6xf32>, %b: tensor<6xf32>, %s: tensor<3xf32>)
    -> (tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x6x5x3xf32>, tensor<2x6x5x3xf32>, tensor<2x3x1x1xf32>) {
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 0.25 is_causal enable_gqa : (tensor<2x4x9x16xf32>,
    tensor<2x2x7x16xf32>, tensor<2x2x7x8xf32>) -> tensor<2x4x9x8xf32>
  %1 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 0.25 enable_gqa : (tensor<2x4x9x16xf32>,
    tensor<2x2x7x16xf32>, tensor<2x2x7x8xf32>, tensor<9x7xf32>) -> tensor<2x4x9x8xf32>
  %2 = inlay.group_norm %x, %w, %b groups 3 eps 1.0e-05 : (tensor<2x6x5x3xf32>, tensor<6xf32>, tensor<6xf32>)
    -> tensor<2x6x5x3xf32>
  %3 = inlay.rms_norm %x, %s eps 1.0e-05 : (tensor<2x6x5x3xf32>, tensor<3xf32>) -> tensor<2x6x5x3xf32>
  %4 = inlay.scaled_dot_product_attention %q1, %k1, %v1, %m1 scale 0.25 : (tensor<2x3x1x1xf32>, tensor<2x3x5x1xf32>,
    tensor<2x3x5x1xf32>, tensor<1x5xi1>) -> tensor<2x3x1x1xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x6x5x3xf32>, tensor<2x6x5x3xf32>,
    tensor<2x3x1x1xf32>
}
