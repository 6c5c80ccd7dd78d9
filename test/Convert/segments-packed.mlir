// RUN: inlay-opt %s --inlay-convert-segments --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s

// A product of few rows with packed weights is one dispatch, and the floats of the weights have no memory: the scratch
// buffers have the minimum of one byte. The kernel reads words, so the device needs no 8-bit types. Matrices of 8-bit
// codes with a row for each term of the sum are transposed.
// CHECK: #[[MINIMUM:.*]] = affine_map<() -> (1)>
// CHECK: plan.engine @linear arguments 5 scratch #[[MINIMUM]] {
// CHECK: plan.kernel @k0
// CHECK-NOT: int8
// CHECK: plan.dispatch
// CHECK-NOT: plan.dispatch
// CHECK: plan.engine @matmul arguments 4 scratch #[[MINIMUM]]
// CHECK-SAME: plan.orders = [array<i64>, array<i64: 1, 0>, array<i64: 1, 0>, array<i64>]
// CHECK: plan.dispatch
// CHECK-NOT: plan.dispatch
module {
func.func private @linear(%x: tensor<1x4096xf32>, %c: tensor<4096x2048xi8> {plan.constant},
    %s: tensor<4096x128xf32> {plan.constant}, %z: tensor<4096x128xf32> {plan.constant}) -> tensor<1x4096xf32>
    attributes {plan.target = #inlay.vulkan<subgroup_size = 8, features = ["subgroup-arithmetic", "subgroup-broadcast"], kind = "software">} {
  %w = inlay.dequantize %c, %s, %z code "u4" block [1, 32] minima to f32
    : (tensor<4096x2048xi8>, tensor<4096x128xf32>, tensor<4096x128xf32>) -> tensor<4096x4096xf32>
  %r = inlay.linear %x, %w : (tensor<1x4096xf32>, tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}
func.func private @matmul(%x: tensor<2x256xf32>, %c: tensor<256x64xi8> {plan.constant},
    %s: tensor<1x64xf32> {plan.constant}) -> tensor<2x64xf32>
    attributes {plan.target = #inlay.vulkan<subgroup_size = 32, features = ["subgroup-arithmetic", "subgroup-broadcast"]>} {
  %w = inlay.dequantize %c, %s code "i8" block [-1, 1] to f32
    : (tensor<256x64xi8>, tensor<1x64xf32>) -> tensor<256x64xf32>
  %r = inlay.matmul %x, %w : (tensor<2x256xf32>, tensor<256x64xf32>) -> tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}
}
