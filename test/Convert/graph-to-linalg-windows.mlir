// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 + d6 * 3)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x3x9x9xf32>, %[[W:[^:]*]]: tensor<4x3x3x3xf32>, %[[B:[^:]*]]: tensor<4xf32>)
func.func @convolution(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x3xf32> {
  // CHECK: %[[INIT:.*]] = linalg.generic {indexing_maps = [#[[BIAS]], #{{.*}}]{{.*}} ins(%[[B]] : tensor<4xf32>)
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[WEIGHT]], #[[OUT]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
  // CHECK-SAME: ins(%[[X]], %[[W]] : {{.*}}) outs(%[[INIT]] : tensor<1x4x4x3xf32>)
  // CHECK: arith.mulf
  // CHECK: arith.addf
  %r = inlay.conv %x, %w, %b stride [2, 1] padding [0, 0] dilation [1, 3] groups 1
    : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x3xf32>
  return %r : tensor<1x4x4x3xf32>
}

// -----

// One kernel pads and reads the input. Windows of stride 2 never reach the padding at the end.
// CHECK-LABEL: func.func @padding(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x3x8xf32>
func.func @padding(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x4x4xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1x3x9xf32>
  // CHECK: %[[PADDED:.*]] = linalg.generic {indexing_maps = [#{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} outs(%[[EMPTY]]
  // CHECK: %[[I:.*]] = linalg.index 2
  // CHECK: %[[AT:.*]] = arith.subi %[[I]], %c1
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %c8
  // CHECK: %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[AT]], %c0
  // CHECK: %[[E:.*]] = tensor.extract %[[X]][%{{.*}}, %{{.*}}, %[[SAFE]]]
  // CHECK: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK: %[[P:.*]] = arith.select %[[INSIDE]], %[[E]], %[[ZERO]]
  // CHECK: linalg.yield %[[P]]
  // CHECK: linalg.fill
  // CHECK: linalg.generic {{.*}} ins(%[[PADDED]], %
  %r = inlay.conv %x, %w stride [2] padding [1] dilation [1] groups 1
    : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x4xf32>
  return %r : tensor<1x4x4xf32>
}

// -----

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @groups(
func.func @groups(%x: tensor<1x4x5xf32>, %w: tensor<6x2x3xf32>, %b: tensor<6xf32>) -> tensor<1x6x3xf32> {
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] {{.*}} into tensor<1x2x2x5xf32>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] {{.*}} into tensor<2x3x2x3xf32>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] {{.*}} into tensor<2x3xf32>
  // CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[IN]], #[[WEIGHT]], #[[OUT]]]
  // CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0], [1, 2], [3]] : tensor<1x2x3x3xf32> into tensor<1x6x3xf32>
  %r = inlay.conv %x, %w, %b stride [1] padding [0] dilation [1] groups 2
    : (tensor<1x4x5xf32>, tensor<6x2x3xf32>, tensor<6xf32>) -> tensor<1x6x3xf32>
  return %r : tensor<1x6x3xf32>
}

// -----

// A convolution with a 1 x 1 kernel is a plain product.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @pointwise_convolution(
func.func @pointwise_convolution(%x: tensor<1x8x5x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32> {
  // CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<4x8x1x1xf32> into tensor<4x8xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[WEIGHT]], #[[OUT]]]
  %r = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x8x5x5xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32>
  return %r : tensor<1x4x5x5xf32>
}

// -----

// CHECK-LABEL: func.func @short_floats_accumulate_in_f32(
func.func @short_floats_accumulate_in_f32(%x: tensor<1x3x8xbf16>, %w: tensor<4x3x3xbf16>, %b: tensor<4xbf16>)
    -> tensor<1x4x6xbf16> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xbf16>) outs(%{{.*}} : tensor<1x4x6xf32>)
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x6xf32>)
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x6xf32>) outs(%{{.*}} : tensor<1x4x6xbf16>)
  // CHECK: arith.truncf
  %r = inlay.conv %x, %w, %b stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x3x8xbf16>, tensor<4x3x3xbf16>, tensor<4xbf16>) -> tensor<1x4x6xbf16>
  return %r : tensor<1x4x6xbf16>
}

// -----

// CHECK-LABEL: func.func @dynamic_batch_and_size(
func.func @dynamic_batch_and_size(%x: tensor<?x3x?xf32>, %w: tensor<4x3x3xf32>) -> tensor<?x4x?xf32> {
  // CHECK: affine.apply
  // CHECK: linalg.generic
  %r = inlay.conv %x, %w stride [2] padding [1] dilation [1] groups 1
    : (tensor<?x3x?xf32>, tensor<4x3x3xf32>) -> tensor<?x4x?xf32>
  return %r : tensor<?x4x?xf32>
}

// -----

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @max_pool(
func.func @max_pool(%x: tensor<1x2x7x7xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[LOWEST]]
  // CHECK: %[[SHAPE:.*]] = tensor.empty() : tensor<3x3xf32>
  // CHECK: linalg.fill
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[KERNEL]], #[[OUT]]]
  // CHECK-SAME: ins(%{{.*}}, %[[SHAPE]] : tensor<1x2x9x9xf32>, tensor<3x3xf32>)
  // CHECK: arith.maximumf
  %r = inlay.max_pool %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1]
    : (tensor<1x2x7x7xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @max_pool_of_integers(
func.func @max_pool_of_integers(%x: tensor<1x2x6xi32>) -> tensor<1x2x3xi32> {
  // CHECK: arith.constant -2147483648 : i32
  // CHECK: arith.maxsi
  %r = inlay.max_pool %x kernel [2] stride [2] padding [0] dilation [1] : (tensor<1x2x6xi32>) -> tensor<1x2x3xi32>
  return %r : tensor<1x2x3xi32>
}

// -----

// CHECK-LABEL: func.func @avg_pool_of_whole_windows(
func.func @avg_pool_of_whole_windows(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x5x5xf32> {
  // CHECK: arith.addf
  // CHECK: %[[COUNT:.*]] = arith.constant 4.0
  // CHECK: arith.divf %{{.*}}, %[[COUNT]]
  %r = inlay.avg_pool %x kernel [2, 2] stride [2, 2] padding [1, 1] count_include_pad
    : (tensor<1x2x8x8xf32>) -> tensor<1x2x5x5xf32>
  return %r : tensor<1x2x5x5xf32>
}

// -----

// CHECK-LABEL: func.func @avg_pool_of_partial_windows(
func.func @avg_pool_of_partial_windows(%x: tensor<1x2x8xf32>) -> tensor<1x2x5xf32> {
  // CHECK: arith.addf
  // CHECK: linalg.index 2
  // CHECK: arith.maxsi
  // CHECK: arith.minsi
  // CHECK: %[[COUNT:.*]] = arith.sitofp
  // CHECK: arith.divf %{{.*}}, %[[COUNT]]
  %r = inlay.avg_pool %x kernel [2] stride [2] padding [1] : (tensor<1x2x8xf32>) -> tensor<1x2x5xf32>
  return %r : tensor<1x2x5xf32>
}
