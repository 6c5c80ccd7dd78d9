// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --mlir-print-op-generic | inlay-opt | FileCheck %s

// CHECK: #inlay.symbol<"batch", 1 to 8>, #inlay.symbol<"length", 0 to 512, typically 128>
func.func @sizes(%x: tensor<?x?x6xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, s1 * 2, 6)>}, %v: tensor<f32>)
    attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>, #inlay.symbol<"length", 0 to 512, typically 128>]} {
  // CHECK: inlay.reshape %{{.*}} shape [?, -1, 3] sizes #{{.*}} : (tensor<?x?x6xf32>) -> tensor<?x?x3xf32>
  %0 = inlay.reshape %x shape [?, -1, 3] sizes affine_map<()[s0, s1] -> (s0)>
    : (tensor<?x?x6xf32>) -> tensor<?x?x3xf32>
  // CHECK: inlay.expand %{{.*}} shape [?, ?] sizes #{{.*}} : (tensor<f32>) -> tensor<?x?xf32>
  %1 = inlay.expand %v shape [?, ?] sizes affine_map<()[s0, s1] -> (s1 + 1, s0 * s1)> : (tensor<f32>) -> tensor<?x?xf32>
  // CHECK: inlay.slice %{{.*}} dim 1 start ? end 9223372036854775807 step 1 sizes #
  %2 = inlay.slice %x dim 1 start ? end 9223372036854775807 step 1 sizes affine_map<()[s0, s1] -> (s1)>
    : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  // CHECK: inlay.slice_scatter %{{.*}}, %{{.*}} dim 1 start ? end ? step 1 sizes #
  %3 = inlay.slice_scatter %x, %2 dim 1 start ? end ? step 1 sizes affine_map<()[s0, s1] -> (s1, s1 * 2)>
    : (tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  // CHECK: inlay.pad %{{.*}}, %{{.*}} low [0, ?, 0] high [1, 0, 0] sizes #{{.*}} : {{.*}} -> tensor<?x?x6xf32>
  %4 = inlay.pad %x, %v low [0, ?, 0] high [1, 0, 0] sizes affine_map<()[s0, s1] -> (s1)>
    : (tensor<?x?x6xf32>, tensor<f32>) -> tensor<?x?x6xf32>
  // CHECK: inlay.size sizes #{{.*}} : () -> tensor<i64>
  %5 = inlay.size sizes affine_map<()[s0, s1] -> (s0 * s1)> : () -> tensor<i64>
  // CHECK: inlay.iota sizes #{{.*}} : () -> tensor<?xi64>
  %6 = inlay.iota sizes affine_map<()[s0, s1] -> (s1)> : () -> tensor<?xi64>
  // CHECK: inlay.iota sizes #{{.*}} : () -> tensor<4xi64>
  %7 = inlay.iota sizes affine_map<()[s0, s1] -> (4)> : () -> tensor<4xi64>
  // CHECK: inlay.opaque "aten::foo"(%{{.*}}) call "{}" sizes #{{.*}} {inlay.dims = [#{{.*}}]} :
  %8 = inlay.opaque "aten::foo"(%x) call "{}" sizes affine_map<()[s0, s1] -> (s0)>
    {inlay.dims = [affine_map<()[s0, s1] -> (s0)>]} : (tensor<?x?x6xf32>) -> tensor<?xf32>
  // CHECK: inlay.symbol 1
  %9 = inlay.symbol 1
  return
}
