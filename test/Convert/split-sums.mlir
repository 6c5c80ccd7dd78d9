// RUN: inlay-opt %s --inlay-convert-split-sums="subgroup=8 in-software" | FileCheck %s

// Reductions with few results are split; others stay whole.

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-DAG: #[[LEFT:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[RIGHT:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[PARTS:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[PART_LAST:.+]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-DAG: #[[JOINED:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func @few_results
// CHECK-SAME: (%[[A:.+]]: tensor<16x16384xf32>, %[[B:.+]]: tensor<16384x16xf32>, %[[INIT:.+]]: tensor<16x16xf32>)
// CHECK: %[[ZERO:.+]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[EMPTY:.+]] = tensor.empty() : tensor<[[N:[0-9]+]]x16x16xf32>
// CHECK: %[[START:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]]
// CHECK: %[[AP:.+]] = tensor.expand_shape %[[A]] {{\[\[}}0], [1, 2]] output_shape [16, [[N]], [[K:[0-9]+]]]
// CHECK: %[[BP:.+]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape {{\[}}[[N]], [[K]], 16]
// CHECK: %[[P:.+]] = linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[PARTS]]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[AP]], %[[BP]]
// CHECK-SAME: outs(%[[START]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic {indexing_maps = [#[[PART_LAST]], #[[JOINED]]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[P]]
// CHECK-SAME: outs(%[[INIT]]
// CHECK: ^bb0(%[[PART:.+]]: f32, %[[SUM:.+]]: f32)
// CHECK-NEXT: arith.addf %[[PART]], %[[SUM]]
func.func @few_results(%a: tensor<16x16384xf32>, %b: tensor<16384x16xf32>, %init: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  %r = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x16384xf32>, tensor<16384x16xf32>) outs(%init : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// CHECK-LABEL: func @many_results
// CHECK-NOT: expand_shape
func.func @many_results(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %init: tensor<512x512xf32>)
    -> tensor<512x512xf32> {
  %r = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%init : tensor<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// Input channels of a convolution are split. A view cannot split its windows.
// CHECK-LABEL: func @channels
// CHECK: tensor.expand_shape %{{.+}} {{\[\[}}0], [1, 2], [3], [4]] output_shape [1, [[N:[0-9]+]], [[C:[0-9]+]], 3, 3]
// CHECK-SAME: tensor<1x16384x3x3xf32>
// CHECK: tensor.expand_shape %{{.+}} {{\[\[}}0], [1, 2], [3], [4]] output_shape [8, [[N]], [[C]], 3, 3]
// CHECK-SAME: tensor<8x16384x3x3xf32>
func.func @channels(%x: tensor<1x16384x3x3xf32>, %w: tensor<8x16384x3x3xf32>, %init: tensor<1x8x1x1xf32>)
    -> tensor<1x8x1x1xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, o, h, w, i, y, x) -> (n, i, h + y, w + x)>,
                       affine_map<(n, o, h, w, i, y, x) -> (o, i, y, x)>,
                       affine_map<(n, o, h, w, i, y, x) -> (n, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x16384x3x3xf32>, tensor<8x16384x3x3xf32>) outs(%init : tensor<1x8x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x8x1x1xf32>
  return %r : tensor<1x8x1x1xf32>
}

// An invocation must not run so many steps.
// CHECK-LABEL: func @too_long
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: tensor.expand_shape %{{.+}} {{\[\[}}0, 1]] output_shape [512, 1024] : tensor<524288xf32>
// CHECK: arith.maximumf
// CHECK: arith.maximumf
func.func @too_long(%x: tensor<524288xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<524288xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %most: f32):
    %0 = arith.maximumf %a, %most : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A lone sum is split if few invocations would compute it. With neighbors along its rows it becomes part of their
// kernel.
// CHECK-LABEL: func @alone
// CHECK: tensor.expand_shape %{{.+}} {{\[\[}}0, 1]] output_shape [240, 250] : tensor<60000xf32>
func.func @alone(%x: tensor<60000xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<60000xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %a, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func @row
// CHECK-NOT: expand_shape
func.func @row(%x: tensor<60000xf32>, %init: tensor<f32>) -> tensor<60000xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<60000xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %so_far: f32):
    %0 = arith.addf %a, %so_far : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %shares = linalg.generic {
      indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>, affine_map<(k) -> (k)>],
      iterator_types = ["parallel"]} ins(%x, %sum : tensor<60000xf32>, tensor<f32>) outs(%x : tensor<60000xf32>) {
  ^bb0(%a: f32, %whole: f32, %old: f32):
    %0 = arith.divf %a, %whole : f32
    linalg.yield %0 : f32
  } -> tensor<60000xf32>
  return %shares : tensor<60000xf32>
}

// Not split: a prime size, an op that reads its index, steps that no view can split, and sizes known only at a call.
// CHECK-LABEL: func @whole
// CHECK-NOT: expand_shape
// CHECK: return
func.func @whole(%prime: tensor<524287xf32>, %x: tensor<524288xf32>, %open: tensor<?xf32>, %init: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %p = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%prime : tensor<524287xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %a, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %i = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<524288xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %2, %sum : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<524288xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.subf %a, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %o = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%open : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %a, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %p, %i, %s, %o : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
