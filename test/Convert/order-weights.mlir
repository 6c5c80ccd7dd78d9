// RUN: inlay-opt %s --inlay-convert-segments --mlir-elide-elementsattrs-if-larger=2 -split-input-file | FileCheck %s

// Weights of products by subgroups get their output channels innermost. These do not: weights of groups, weights with
// two uses, weights with too few outputs for vectors, and values that differ from call to call.
// CHECK-LABEL: plan.engine @forward_0
// CHECK-SAME: plan.orders = [array<i64>, array<i64: 2, 3, 1, 0>, array<i64: 1, 0>, array<i64>, array<i64>, array<i64>, array<i64>, array<i64>, array<i64>, array<i64>, array<i64>]
func.func private @forward_0(%x: tensor<1x4x5x5xf32>, %w: tensor<8x4x3x3xf32> {plan.constant},
    %l: tensor<16x16xf32> {plan.constant}, %few: tensor<6x16xf32> {plan.constant},
    %g: tensor<8x4x3x3xf32> {plan.constant}, %b: tensor<8x16xf32>, %y: tensor<3x16xf32>)
    -> (tensor<1x8x3x3xf32>, tensor<1x8x1x1xf32>, tensor<3x6xf32>, tensor<3x8xf32>)
    attributes {plan.target = #inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "software">} {
  %0 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x4x5x5xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x3x3xf32>
  %1 = inlay.conv %0, %g stride [1, 1] padding [0, 0] dilation [1, 1] groups 2
    : (tensor<1x8x3x3xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x1x1xf32>
  %2 = inlay.linear %y, %l : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  %3 = inlay.linear %2, %few : (tensor<3x16xf32>, tensor<6x16xf32>) -> tensor<3x6xf32>
  %4 = inlay.linear %2, %b : (tensor<3x16xf32>, tensor<8x16xf32>) -> tensor<3x8xf32>
  return %0, %1, %3, %4 : tensor<1x8x3x3xf32>, tensor<1x8x1x1xf32>, tensor<3x6xf32>, tensor<3x8xf32>
}

// -----

// Nor do values that are not the weight of a product.
// CHECK-LABEL: plan.engine @scale
// CHECK-NOT: plan.orders
func.func private @scale(%x: tensor<3x16xf32>, %s: tensor<f32> {plan.constant}) -> tensor<3x16xf32>
    attributes {plan.target = #inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "software">} {
  %0 = inlay.mul %x, %s : (tensor<3x16xf32>, tensor<f32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

// Without subgroups nothing changes.
// CHECK-LABEL: plan.engine @alone
// CHECK-NOT: plan.orders
func.func private @alone(%x: tensor<3x16xf32>, %w: tensor<16x16xf32> {plan.constant}) -> tensor<3x16xf32>
    attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.linear %x, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}
