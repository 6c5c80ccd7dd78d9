// RUN: inlay-opt %s --inlay-convert-outline-segments --inlay-convert-segments | FileCheck %s

// Sizes that are known only at a call become launch parameters. Grids, push constants and scratch sizes are expressions
// of the function's symbols, and host code gets their values as an argument.

// CHECK-DAG: #[[BORDER:.*]] = affine_map<()[s0, s1] -> (s0, s1, 4)>
// CHECK-DAG: #[[SCRATCH:.*]] = affine_map<()[s0, s1] -> ({{.*}}(s0 * s1) * 16
// CHECK-DAG: #[[GRID:.*]] = affine_map<()[s0, s1] -> ((s0 * s1) ceildiv 64, 1, 1)>
// CHECK-DAG: #[[PUSHED:.*]] = affine_map<()[s0, s1] -> (s0 * s1, s1, s1 * 4)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<()[s0, s1] -> (s0, s1)>

// CHECK: plan.invoke @f_0(%{{.*}}) {inlay.dims = [#[[BORDER]]], plan.segment = 0 : i64}
// CHECK: plan.invoke @f_1(%{{.*}}) {inlay.dims = [#[[BORDER]]], plan.segment = 1 : i64}
func.func @f(%x: tensor<?x?x4xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, s1, 4)>}) -> tensor<?x?x4xf32>
    attributes {inlay.symbols = [#inlay.symbol<"b", 1 to 8>, #inlay.symbol<"n", 1 to 64>]} {
  // CHECK-DAG: plan.engine @f_0 arguments 2 scratch #
  // CHECK-DAG: plan.dispatch @k0 buffers [0, 1] grid #[[GRID]] push_constants #[[PUSHED]]
  %0 = inlay.segment #inlay.vulkan(%x)
    attributes {inlay.dims = [affine_map<()[s0, s1] -> (s0, s1, 4)>, affine_map<()[s0, s1] -> (s0, s1, 4)>]}
    : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  ^bb0(%a: tensor<?x?x4xf32>):
    %r = inlay.relu %a {inlay.dims = [affine_map<()[s0, s1] -> (s0, s1, 4)>]} : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    inlay.yield %r : tensor<?x?x4xf32>
  }
  // CHECK-DAG: plan.host_function @f_1 arguments 3 inputs 2 scratch #[[SCRATCH]] sizes #[[ALL]]
  %1 = inlay.segment #inlay.host(%0)
    attributes {inlay.dims = [affine_map<()[s0, s1] -> (s0, s1, 4)>, affine_map<()[s0, s1] -> (s0, s1, 4)>]}
    : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  ^bb0(%a: tensor<?x?x4xf32>):
    %c = inlay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %b = inlay.mul %a, %c {inlay.dims = [affine_map<()[s0, s1] -> (s0, s1, 4)>]}
      : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
    %r = inlay.softmax %b dim -1 {inlay.dims = [affine_map<()[s0, s1] -> (s0, s1, 4)>]}
      : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    inlay.yield %r : tensor<?x?x4xf32>
  }
  return %1 : tensor<?x?x4xf32>
}
