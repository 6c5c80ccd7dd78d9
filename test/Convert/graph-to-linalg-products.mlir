// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @matrices(
func.func @matrices(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  // CHECK: %[[INIT:.*]] = linalg.fill
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK-SAME: outs(%[[INIT]] : tensor<3x5xf32>)
  %r = inlay.matmul %a, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d4)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, d3)>
// CHECK-LABEL: func.func @leading_dims_broadcast(
func.func @leading_dims_broadcast(%a: tensor<2x1x3x4xf32>, %b: tensor<6x4x5xf32>) -> tensor<2x6x3x5xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]],
  %r = inlay.matmul %a, %b : (tensor<2x1x3x4xf32>, tensor<6x4x5xf32>) -> tensor<2x6x3x5xf32>
  return %r : tensor<2x6x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @short_floats_accumulate_in_f32(
func.func @short_floats_accumulate_in_f32(%a: tensor<3x4xf16>, %b: tensor<4x5xf16>) -> tensor<3x5xf16> {
  // CHECK: linalg.fill {{.*}} -> tensor<3x5xf32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5xf32>)
  // CHECK: arith.mulf %{{.*}} : f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %r = inlay.matmul %a, %b : (tensor<3x4xf16>, tensor<4x5xf16>) -> tensor<3x5xf16>
  return %r : tensor<3x5xf16>
}

// -----

// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-LABEL: func.func @linear_starts_from_its_bias(
func.func @linear_starts_from_its_bias(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: %[[INIT:.*]] = linalg.generic {indexing_maps = [#[[BIAS]],
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[WEIGHT]], #{{.*}}]{{.*}} outs(%[[INIT]]
  // CHECK-NOT: linalg.generic
  %r = inlay.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @linear_without_bias(
func.func @linear_without_bias(%x: tensor<4xf32>, %w: tensor<5x4xf32>) -> tensor<5xf32> {
  // CHECK: linalg.fill
  // CHECK-COUNT-1: linalg.generic
  %r = inlay.linear %x, %w : (tensor<4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}
