// RUN: inlay-opt %s --inlay-convert-channels-last --canonicalize --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-channels-last --canonicalize --split-input-file | FileCheck %s --check-prefix=COPIES

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>

// There is one copy at each end and none in between. The op that adds both results, with a factor for each channel,
// goes over channels in its innermost loop.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$ENTER:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-DAG: #[[$LEAVE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG: #[[$CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, 0, 0)>
// CHECK-LABEL: func.func @block
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8x8xf32>, %[[W:.*]]: tensor<4x4x3x3xf32>, %[[S:.*]]: tensor<2x4x1x1xf32>)
// CHECK: %[[LAST:.*]] = linalg.generic {indexing_maps = [#[[$ENTER]], #[[$ID]]], {{.*}} ins(%[[X]] : tensor<2x4x8x8xf32>) outs(%{{.*}} : tensor<2x8x8x4xf32>)
// CHECK: %[[A:.*]] = plan.library_call convolution(%[[LAST]], %[[W]]) into %{{.*}} {config = {channels_last}, constants = array<i64: 1>, window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>} : (tensor<2x8x8x4xf32>, tensor<4x4x3x3xf32>, tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$CHANNEL]], #[[$ID]]], {{.*}} ins(%[[A]], %[[S]] : tensor<2x8x8x4xf32>, tensor<2x4x1x1xf32>) outs(%{{.*}} : tensor<2x8x8x4xf32>)
// CHECK: %[[B:.*]] = plan.library_call convolution(%[[SUM]], %[[W]], %[[A]]) into %{{.*}} {config = {channels_last}, post_ops = [#plan.post_op<add>], {{.*}}} : (tensor<2x8x8x4xf32>, tensor<4x4x3x3xf32>, tensor<2x8x8x4xf32>, tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$LEAVE]], #[[$ID]]], {{.*}} ins(%[[B]] : tensor<2x8x8x4xf32>) outs(%{{.*}} : tensor<2x4x8x8xf32>)
// CHECK: return %[[R]]
// COPIES-LABEL: func.func @block
// COPIES-COUNT-3: linalg.generic
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @block(%x: tensor<2x4x8x8xf32>, %w: tensor<4x4x3x3xf32>, %s: tensor<2x4x1x1xf32>) -> tensor<2x4x8x8xf32> {
  %e = tensor.empty() : tensor<2x4x8x8xf32>
  %a = plan.library_call convolution(%x, %w) into %e {constants = array<i64: 1>, window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>}
    : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %m = linalg.generic {indexing_maps = [#id, #channel, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %s : tensor<2x4x8x8xf32>, tensor<2x4x1x1xf32>) outs(%e : tensor<2x4x8x8xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x8x8xf32>
  %b = plan.library_call convolution(%m, %w, %a) into %e {post_ops = [#plan.post_op<add>], window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>}
    : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  return %b : tensor<2x4x8x8xf32>
}

// -----

#read = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
#window = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#write = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#mean = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// Padding, windows and means over pixels: their reads compose, also reads by an index, and a start value is created in
// the new order. A result without pixels needs no copy.
// CHECK-DAG: #[[$READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK-DAG: #[[$WRITE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @pools
// CHECK: %[[A:.*]] = plan.library_call convolution
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-DAG: %[[N:.*]] = linalg.index 0
// CHECK-DAG: %[[Y:.*]] = linalg.index 1
// CHECK-DAG: %[[Z:.*]] = linalg.index 2
// CHECK-DAG: %[[C:.*]] = linalg.index 3
// CHECK: tensor.extract %[[A]][%[[N]], %[[Y]], %{{.*}}, %[[C]]] : tensor<2x7x7x4xf32>
// CHECK: } -> tensor<2x7x8x4xf32>
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<2x3x4x4xf32>
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[$READ]], #{{.*}}, #[[$WRITE]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[P]], %{{.*}} : tensor<2x7x8x4xf32>, tensor<2x2xf32>) outs(%[[F]] : tensor<2x3x4x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$LAST]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[M]] : tensor<2x3x4x4xf32>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: return %[[R]]
// COPIES-LABEL: func.func @pools
// COPIES-COUNT-4: linalg.generic
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @pools(%x: tensor<2x4x7x7xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 7 : index
  %first = arith.constant 0 : index
  %e = tensor.empty() : tensor<2x4x7x7xf32>
  %a = plan.library_call convolution(%x, %w) into %e {window = array<i64: 1, 1, 1, 1, 0, 1, 1, 1, 0>}
    : (tensor<2x4x7x7xf32>, tensor<4x4x1x1xf32>, tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  %e1 = tensor.empty() : tensor<2x4x7x8xf32>
  %p = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e1 : tensor<2x4x7x8xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %fits = arith.cmpi ult, %j, %limit : index
    %at = arith.select %fits, %j, %first : index
    %0 = tensor.extract %a[%n, %c, %i, %at] : tensor<2x4x7x7xf32>
    %1 = arith.select %fits, %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x7x8xf32>
  %e2 = tensor.empty() : tensor<2x4x3x4xf32>
  %kernel = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %m = linalg.generic {indexing_maps = [#read, #window, #write],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %kernel : tensor<2x4x7x8xf32>, tensor<2x2xf32>) outs(%f : tensor<2x4x3x4xf32>) {
  ^bb0(%in: f32, %shape: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x3x4xf32>
  %e3 = tensor.empty() : tensor<2x4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [#all, #mean],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%m : tensor<2x4x3x4xf32>) outs(%g : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// A tensor with channels only needs no copy in either direction.
// CHECK-LABEL: func.func @squeeze
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32>
// CHECK: %[[LAST:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2, 3]] output_shape [2, 1, 1, 8] : tensor<2x8xf32> into tensor<2x1x1x8xf32>
// CHECK: %[[R:.*]] = plan.library_call convolution(%[[LAST]], %{{.*}})
// CHECK: tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2, 3]] : tensor<2x1x1x4xf32> into tensor<2x4xf32>
// COPIES-LABEL: func.func @squeeze
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @squeeze(%x: tensor<2x8xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x4xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [2, 8, 1, 1] : tensor<2x8xf32> into tensor<2x8x1x1xf32>
  %e = tensor.empty() : tensor<2x4x1x1xf32>
  %1 = plan.library_call convolution(%0, %w) into %e {window = array<i64: 1, 1, 1, 1, 0, 1, 1, 1, 0>}
    : (tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<2x4x1x1xf32> into tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// Channels are concatenated and split; pixels become a sequence of tokens.
// CHECK-LABEL: func.func @slices
// CHECK: %[[A:.*]] = plan.library_call convolution
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x8x8x8xf32>
// CHECK: %[[I:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0, 0, 0] [1, 8, 8, 4] [1, 1, 1, 1]
// CHECK: %[[J:.*]] = tensor.insert_slice %[[A]] into %[[I]][0, 0, 0, 4] [1, 8, 8, 4] [1, 1, 1, 1]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[J]][0, 0, 0, 2] [1, 8, 8, 4] [1, 1, 1, 1] : tensor<1x8x8x8xf32> to tensor<1x8x8x4xf32>
// CHECK: tensor.collapse_shape %[[S]] {{\[}}[0], [1, 2], [3]] : tensor<1x8x8x4xf32> into tensor<1x64x4xf32>
// COPIES-LABEL: func.func @slices
// COPIES-COUNT-2: linalg.generic
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @slices(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x64xf32> {
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %a = plan.library_call convolution(%x, %w) into %e {window = array<i64: 1, 1, 1, 1, 0, 1, 1, 1, 0>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %f = tensor.empty() : tensor<1x8x8x8xf32>
  %i = tensor.insert_slice %a into %f[0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : tensor<1x4x8x8xf32> into tensor<1x8x8x8xf32>
  %j = tensor.insert_slice %a into %i[0, 4, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : tensor<1x4x8x8xf32> into tensor<1x8x8x8xf32>
  %s = tensor.extract_slice %j[0, 2, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : tensor<1x8x8x8xf32> to tensor<1x4x8x8xf32>
  %r = tensor.collapse_shape %s [[0], [1], [2, 3]] : tensor<1x4x8x8xf32> into tensor<1x4x64xf32>
  return %r : tensor<1x4x64xf32>
}

// -----

// Flattening needs the original order. All readers share one copy.
// CHECK-LABEL: func.func @flat
// CHECK: %[[A:.*]] = plan.library_call convolution
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<1x8x8x4xf32>) outs(%{{.*}} : tensor<1x4x8x8xf32>)
// CHECK: %[[F:.*]] = tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2, 3]]
// CHECK: return %[[F]], %[[R]]
// COPIES-LABEL: func.func @flat
// COPIES-COUNT-2: linalg.generic
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @flat(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x256xf32>, tensor<1x4x8x8xf32>) {
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %a = plan.library_call convolution(%x, %w) into %e {window = array<i64: 1, 1, 1, 1, 0, 1, 1, 1, 0>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = tensor.collapse_shape %a [[0], [1, 2, 3]] : tensor<1x4x8x8xf32> into tensor<1x256xf32>
  return %r, %a : tensor<1x256xf32>, tensor<1x4x8x8xf32>
}

// -----

// A product reads a sequence of pixels without a copy.
// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func.func @tokens
// CHECK: %[[A:.*]] = plan.library_call convolution
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[A]]
// CHECK: plan.library_call contraction(%[[X]], %{{.*}}) into %{{.*}} {maps = [#[[$X]], #{{[a-z0-9]+}}, #{{[a-z0-9]+}}]}
// COPIES-LABEL: func.func @tokens
// COPIES-COUNT-1: linalg.generic
// COPIES-NOT: linalg.generic
// COPIES: return
func.func @tokens(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %v: tensor<16x4xf32>) -> tensor<1x64x16xf32> {
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %a = plan.library_call convolution(%x, %w) into %e {window = array<i64: 1, 1, 1, 1, 0, 1, 1, 1, 0>}
    : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %s = tensor.collapse_shape %a [[0], [1], [2, 3]] : tensor<1x4x8x8xf32> into tensor<1x4x64xf32>
  %f = tensor.empty() : tensor<1x64x16xf32>
  %r = plan.library_call contraction(%s, %v) into %f {
    maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (n, k)>,
            affine_map<(b, m, n, k) -> (b, m, n)>]
  } : (tensor<1x4x64xf32>, tensor<16x4xf32>, tensor<1x64x16xf32>) -> tensor<1x64x16xf32>
  return %r : tensor<1x64x16xf32>
}
