// The scores of all queries exceed the largest buffer that a device must support, so the queries are processed in
// parts.
// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

func.func public @forward(%q: tensor<4x2101x4xf32>, %k: tensor<2x2101x4xf32>, %v: tensor<2x2101x4xf32>,
    %own: tensor<2101x2101xf32>, %shared: tensor<1x2101xi1>)
    -> (tensor<4x2101x4xf32>, tensor<4x2101x4xf32>, tensor<4x2101x4xf32>) {
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 0.5 is_causal enable_gqa : (tensor<4x2101x4xf32>,
    tensor<2x2101x4xf32>, tensor<2x2101x4xf32>) -> tensor<4x2101x4xf32>
  %1 = inlay.scaled_dot_product_attention %q, %k, %v, %own scale 0.5 enable_gqa : (tensor<4x2101x4xf32>,
    tensor<2x2101x4xf32>, tensor<2x2101x4xf32>, tensor<2101x2101xf32>) -> tensor<4x2101x4xf32>
  %2 = inlay.scaled_dot_product_attention %q, %k, %v, %shared scale 0.5 enable_gqa : (tensor<4x2101x4xf32>,
    tensor<2x2101x4xf32>, tensor<2x2101x4xf32>, tensor<1x2101xi1>) -> tensor<4x2101x4xf32>
  return %0, %1, %2 : tensor<4x2101x4xf32>, tensor<4x2101x4xf32>, tensor<4x2101x4xf32>
}
