// RUN: inlay-opt %s --inlay-shape-infer --split-input-file | FileCheck %s

#npu = #inlay.declared<"npu", ["*"]>

// CHECK-LABEL: func.func @dims_reach_the_result(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @dims_reach_the_result(%x: tensor<2x4xf32>) -> tensor<2x?xf32> {
  // CHECK: %[[R:.*]] = inlay.segment #{{.*}}(%[[X]]) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = inlay.segment #npu(%x) : (tensor<2x4xf32>) -> tensor<2x?xf32> {
  ^bb0(%a: tensor<2x4xf32>):
    // CHECK: %[[RELU:.*]] = inlay.relu %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    // CHECK: inlay.yield %[[RELU]] : tensor<2x4xf32>
    %0 = inlay.relu %a : (tensor<2x4xf32>) -> tensor<2x?xf32>
    inlay.yield %0 : tensor<2x?xf32>
  }
  // CHECK: return %[[R]] : tensor<2x4xf32>
  return %r : tensor<2x?xf32>
}

// -----

#npu = #inlay.declared<"npu", ["*"]>

// CHECK-LABEL: func.func @dims_cross_two_borders(
// CHECK-SAME:    -> tensor<1x4x1x1xf32>
func.func @dims_cross_two_borders(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x?x?x?xf32> {
  %0 = inlay.segment #npu(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x?x?x?xf32> {
  ^bb0(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>):
    // CHECK: inlay.conv {{.*}} -> tensor<1x4x4x4xf32>
    %c = inlay.conv %a, %b stride [2, 2] padding [1, 1] dilation [1, 1] groups 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x?x?x?xf32>
    inlay.yield %c : tensor<?x?x?x?xf32>
  }
  %1 = inlay.segment #npu(%0) : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: ^bb0(%[[A:.*]]: tensor<1x4x4x4xf32>)
  ^bb0(%a: tensor<?x?x?x?xf32>):
    // CHECK: inlay.mean %[[A]] dims [2, 3] keepdim : (tensor<1x4x4x4xf32>) -> tensor<1x4x1x1xf32>
    %m = inlay.mean %a dims [2, 3] keepdim : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
    inlay.yield %m : tensor<?x?x?x?xf32>
  }
  return %1 : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @known_result_dims_stay(
// CHECK-SAME:    -> tensor<4x8xf32>
func.func @known_result_dims_stay(%x: tensor<?x8xf32>) -> tensor<4x?xf32> {
  // CHECK: inlay.relu %{{.*}} : (tensor<?x8xf32>) -> tensor<4x8xf32>
  %0 = inlay.relu %x : (tensor<?x8xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// CHECK-LABEL: func.func @unknown_dims_stay_unknown(
// CHECK-SAME:    -> tensor<?xf32>
func.func @unknown_dims_stay_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = inlay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The type of a called function stays, because its callers depend on it.
// CHECK-LABEL: func.func private @called(
// CHECK-SAME:    -> tensor<?xf32>
func.func private @called(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: inlay.relu %{{.*}} -> tensor<?xf32>
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @caller(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @values_of_other_dialects_keep_their_types(
func.func @values_of_other_dialects_keep_their_types(%x: tensor<4xf32>, %p: i1) -> tensor<?xf32> {
  // CHECK: inlay.relu %{{.*}} -> tensor<?xf32>
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: inlay.neg %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.neg %x : (tensor<4xf32>) -> tensor<?xf32>
  %2 = inlay.opaque "aten::foo"(%1) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = scf.if %p -> tensor<?xf32> {
    scf.yield %0 : tensor<?xf32>
  } else {
    scf.yield %2 : tensor<?xf32>
  }
  return %3 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @list_elements_keep_their_types(
func.func @list_elements_keep_their_types(%x: tensor<4xf32>) -> !inlay.list<tensor<?xf32>> {
  // CHECK: inlay.relu %{{.*}} -> tensor<?xf32>
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = inlay.list %0 : (tensor<?xf32>) -> !inlay.list<tensor<?xf32>>
  return %1 : !inlay.list<tensor<?xf32>>
}
