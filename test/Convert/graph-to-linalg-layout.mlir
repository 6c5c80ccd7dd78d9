// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @merge(
func.func @merge(%x: tensor<1x512x1x1xf32>) -> tensor<1x512xf32> {
  // CHECK-NEXT: %[[R:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<1x512x1x1xf32> into tensor<1x512xf32>
  // CHECK-NEXT: return %[[R]]
  %r = inlay.reshape %x shape [1, -1] : (tensor<1x512x1x1xf32>) -> tensor<1x512xf32>
  return %r : tensor<1x512xf32>
}

// -----

// CHECK-LABEL: func.func @split(
func.func @split(%x: tensor<2x12xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]]
  // CHECK-NEXT: return %[[R]]
  %r = inlay.reshape %x shape [2, 3, 4] : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// Only the dims that change are merged.
// CHECK-LABEL: func.func @merge_and_split(
func.func @merge_and_split(%x: tensor<7x2x6xf32>) -> tensor<7x3x4xf32> {
  // CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<7x2x6xf32> into tensor<7x12xf32>
  // CHECK-NEXT: tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]]
  %r = inlay.reshape %x shape [7, 3, 4] : (tensor<7x2x6xf32>) -> tensor<7x3x4xf32>
  return %r : tensor<7x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_that_changes_nothing(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>)
func.func @reshape_that_changes_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %r = inlay.reshape %x shape [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @no_dims(
func.func @no_dims(%x: tensor<1x1xf32>) -> tensor<1xf32> {
  // CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
  %0 = inlay.reshape %x shape [] : (tensor<1x1xf32>) -> tensor<f32>
  // CHECK: tensor.expand_shape %{{.*}} [] output_shape [1]
  %1 = inlay.reshape %0 shape [1] : (tensor<f32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----

// CHECK-LABEL: func.func @no_elements(
func.func @no_elements(%x: tensor<0x3xf32>) -> tensor<2x0xf32> {
  // CHECK: tensor.empty() : tensor<2x0xf32>
  %r = inlay.reshape %x shape [2, 0] : (tensor<0x3xf32>) -> tensor<2x0xf32>
  return %r : tensor<2x0xf32>
}

// -----

// The dynamic dim has the same size on both sides, so it may move past static dims.
// CHECK-LABEL: func.func @dynamic_dim(
func.func @dynamic_dim(%x: tensor<?x2x3xf32>) -> (tensor<?x6xf32>, tensor<2x?x3xf32>) {
  // CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x2x3xf32> into tensor<?x6xf32>
  %0 = inlay.reshape %x shape [-1, 6] : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
  // CHECK: %[[C:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x2x3xf32> into tensor<?x3xf32>
  // CHECK: tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2]]
  %1 = inlay.reshape %x shape [2, -1, 3] : (tensor<?x2x3xf32>) -> tensor<2x?x3xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<2x?x3xf32>
}

// -----

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @permute(
func.func @permute(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[ID]]]
  %r = inlay.permute %x dims [-1, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

// -----

// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-LABEL: func.func @expand(
func.func @expand(%x: tensor<4x1xf32>) -> tensor<2x4x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #{{.*}}]
  %r = inlay.expand %x shape [2, -1, 3] : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @slice(
func.func @slice(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: tensor.extract_slice %{{.*}}[0, 5] [4, 2] [1, 2] : tensor<4x8xf32> to tensor<4x2xf32>
  %r = inlay.slice %x dim -1 start -3 end 100 step 2 : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @cat(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2x1xf32>, %[[B:[^:]*]]: tensor<2x3xf32>)
func.func @cat(%a: tensor<2x1xf32>, %b: tensor<2x3xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<2x4xf32>
  // CHECK-NEXT: %[[F:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0] [2, 1] [1, 1]
  // CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %[[B]] into %[[F]][0, 1] [2, 3] [1, 1]
  // CHECK-NEXT: return %[[R]]
  %r = inlay.cat %a, %b dim 1 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
