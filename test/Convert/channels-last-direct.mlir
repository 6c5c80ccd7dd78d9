// RUN: inlay-opt %s --inlay-convert-channels-last=direct --canonicalize --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-channels-last --canonicalize --split-input-file | FileCheck %s --check-prefix=LIBRARY

#read = affine_map<(n, o, y, x, c, i, j) -> (n, c, y + i, x + j)>
#kernel = affine_map<(n, o, y, x, c, i, j) -> (o, c, i, j)>
#write = affine_map<(n, o, y, x, c, i, j) -> (n, o, y, x)>
#id = affine_map<(n, c, y, x) -> (n, c, y, x)>
#bias = affine_map<(n, c, y, x) -> (c)>

// A convolution that is one op reads and writes channels last. The innermost loop of its sum goes over input channels.
// The ops that compute its start value and that follow it do the same.
// CHECK-DAG: #[[$READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[$KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>
// CHECK-DAG: #[[$WRITE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @direct
// CHECK-SAME: (%[[X:.*]]: tensor<1x16x6x6xf32>
// CHECK: %[[LAST:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<1x16x6x6xf32>) outs(%{{.*}} : tensor<1x6x6x16xf32>)
// CHECK: %[[START:.*]] = linalg.generic {indexing_maps = [#[[$BIAS]], #{{.*}}], {{.*}} outs(%{{.*}} : tensor<1x4x4x8xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$READ]], #[[$KERNEL]], #[[$WRITE]]], {{.*}} ins(%[[LAST]], %{{.*}} : tensor<1x6x6x16xf32>, tensor<8x16x3x3xf32>) outs(%[[START]] : tensor<1x4x4x8xf32>)
// CHECK: %[[NEG:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<1x4x4x8xf32>) outs(%{{.*}} : tensor<1x4x4x8xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[NEG]] : tensor<1x4x4x8xf32>) outs(%{{.*}} : tensor<1x8x4x4xf32>)
// CHECK: return %[[R]]
// LIBRARY-LABEL: func.func @direct
// LIBRARY-COUNT-3: linalg.generic
// LIBRARY-NOT: linalg.generic
// LIBRARY: return
func.func @direct(%x: tensor<1x16x6x6xf32>, %w: tensor<8x16x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %start = linalg.generic {indexing_maps = [#bias, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x8x4x4xf32>
  %sum = linalg.generic {indexing_maps = [#read, #kernel, #write],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x16x6x6xf32>, tensor<8x16x3x3xf32>) outs(%start : tensor<1x8x4x4xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x8x4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : tensor<1x8x4x4xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<1x8x4x4xf32>
  return %r : tensor<1x8x4x4xf32>
}

// -----

#read = affine_map<(n, o, y, x, c, i, j) -> (n, c, y + i, x + j)>
#kernel = affine_map<(n, o, y, x, c, i, j) -> (o, c, i, j)>
#write = affine_map<(n, o, y, x, c, i, j) -> (n, o, y, x)>

// Few terms do not pay for the copies.
// CHECK-LABEL: func.func @few_terms
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @few_terms(%x: tensor<1x3x6x6xf32>, %w: tensor<8x3x3x3xf32>, %e: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %sum = linalg.generic {indexing_maps = [#read, #kernel, #write],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x8x4x4xf32>
  return %sum : tensor<1x8x4x4xf32>
}

// -----

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, k, n)>
#product = affine_map<(b, m, n, k) -> (b, m, n)>

// A batched product has no channels.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @product(%x: tensor<2x8x64xf32>, %y: tensor<2x64x8xf32>, %e: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %sum = linalg.generic {indexing_maps = [#left, #right, #product],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2x8x64xf32>, tensor<2x64x8xf32>) outs(%e : tensor<2x8x8xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x8x8xf32>
  return %sum : tensor<2x8x8xf32>
}
