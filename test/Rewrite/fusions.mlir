// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/fusions.pdl.mlir" | FileCheck %s
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/fusions.pdl.mlir driver=greedy" | FileCheck %s

!t = tensor<4x4xf32>

// CHECK-LABEL: @inner_ops_go
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x4xf32>)
func.func @inner_ops_go(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: %[[F:.*]] = "t.fused"(%[[X]], %[[W]], %[[B]])
  // CHECK-NEXT: return %[[F]]
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t
  %2 = "t.relu"(%1) : (!t) -> !t
  return %2 : !t
}

// CHECK-LABEL: @commutative_op_matches_in_either_order
func.func @commutative_op_matches_in_either_order(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.fused"(%arg0, %arg1, %arg2)
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t
  %1 = "t.add"(%b, %0) : (!t, !t) -> !t
  %2 = "t.relu"(%1) : (!t) -> !t
  return %2 : !t
}

// CHECK-LABEL: @inner_result_with_another_user_stays
func.func @inner_result_with_another_user_stays(%x: !t, %w: !t, %b: !t) -> (!t, !t) {
  // CHECK-NEXT: "t.matmul"
  // CHECK-NEXT: "t.add"
  // CHECK-NEXT: "t.relu"
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t
  %2 = "t.relu"(%1) : (!t) -> !t
  return %2, %0 : !t, !t
}

// CHECK-LABEL: @shared_is_said_in_the_pattern
func.func @shared_is_said_in_the_pattern(%x: !t) -> (!t, !t) {
  // CHECK-NEXT: "t.exp"
  // CHECK-NEXT: "t.neg_exp"(%arg0)
  %0 = "t.exp"(%x) : (!t) -> !t
  %1 = "t.neg"(%0) : (!t) -> !t
  return %0, %1 : !t, !t
}

// CHECK-LABEL: @same_value_twice
func.func @same_value_twice(%x: !t, %y: !t) -> (!t, !t) {
  // CHECK-NEXT: "t.dbl"(%arg0)
  // CHECK-NEXT: "t.add"(%arg0, %arg1)
  %0 = "t.add"(%x, %x) : (!t, !t) -> !t
  %1 = "t.add"(%x, %y) : (!t, !t) -> !t
  return %0, %1 : !t, !t
}

// CHECK-LABEL: @replacement_may_be_an_input
func.func @replacement_may_be_an_input(%x: !t) -> !t {
  // CHECK-NEXT: return %arg0
  %0 = "t.unsqueeze"(%x) {axis = 1} : (!t) -> tensor<4x1x4xf32>
  %1 = "t.squeeze"(%0) {axis = 1} : (tensor<4x1x4xf32>) -> !t
  return %1 : !t
}

// CHECK-LABEL: @attributes_are_compared
func.func @attributes_are_compared(%x: tensor<1x4x1xf32>) -> tensor<1x4x1xf32> {
  // CHECK-NEXT: "t.unsqueeze"
  // CHECK-NEXT: "t.squeeze"
  %0 = "t.unsqueeze"(%x) {axis = 1} : (tensor<1x4x1xf32>) -> tensor<1x1x4x1xf32>
  %1 = "t.squeeze"(%0) {axis = 3} : (tensor<1x1x4x1xf32>) -> tensor<1x4x1xf32>
  return %1 : tensor<1x4x1xf32>
}

// CHECK-LABEL: @list_of_operands
func.func @list_of_operands(%x: !t, %y: !t, %z: !t) -> tensor<12x4xf32> {
  // CHECK-NEXT: "t.my_cat"(%arg2, %arg0, %arg1)
  %0 = "t.cat"(%x, %y, %z) : (!t, !t, !t) -> tensor<12x4xf32>
  return %0 : tensor<12x4xf32>
}

// CHECK-LABEL: @back_to_back
func.func @back_to_back(%x: !t, %y: !t, %z: !t) -> tensor<12x4xf32> {
  // CHECK-NEXT: %[[A:.*]] = "t.my_cat"(%arg1, %arg0)
  // CHECK-NEXT: "t.my_cat"(%arg2, %[[A]])
  %0 = "t.cat"(%x, %y) : (!t, !t) -> tensor<8x4xf32>
  %1 = "t.cat"(%0, %z) : (tensor<8x4xf32>, !t) -> tensor<12x4xf32>
  return %1 : tensor<12x4xf32>
}

// CHECK-LABEL: @two_results
func.func @two_results(%x: !t, %r: !t, %w: !t) -> (!t, !t) {
  // CHECK-NEXT: %[[N:.*]]:2 = "t.add_norm"(%arg0, %arg1, %arg2)
  // CHECK-NEXT: "t.use"(%[[N]]#1)
  // CHECK-NEXT: return %[[N]]#0, %[[N]]#1
  %0 = "t.residual"(%x, %r) : (!t, !t) -> !t
  "t.use"(%0) : (!t) -> ()
  %1 = "t.norm"(%0, %w) : (!t, !t) -> !t
  return %1, %0 : !t, !t
}

// One input of the match is computed from another part of the match, so no position is valid for an op that replaces
// both.
// CHECK-LABEL: @order_is_kept
func.func @order_is_kept(%x: !t, %r: !t) -> (!t, !t) {
  // CHECK-NEXT: "t.residual"
  // CHECK-NEXT: "t.make"
  // CHECK-NEXT: "t.norm"
  %0 = "t.residual"(%x, %r) : (!t, !t) -> !t
  %1 = "t.make"(%0) : (!t) -> !t
  %2 = "t.norm"(%0, %1) : (!t, !t) -> !t
  return %2, %0 : !t, !t
}

// CHECK-LABEL: @two_roots
func.func @two_roots(%x: !t, %w: !t) -> (!t, !t) {
  // CHECK-NEXT: %[[V:.*]] = "t.make"(%arg1)
  // CHECK-NEXT: %[[B:.*]]:2 = "t.both"(%arg0, %arg1, %[[V]])
  // CHECK-NEXT: return %[[B]]#0, %[[B]]#1
  %0 = "t.left"(%x, %w) : (!t, !t) -> !t
  %1 = "t.make"(%w) : (!t) -> !t
  %2 = "t.right"(%x, %1) : (!t, !t) -> !t
  return %0, %2 : !t, !t
}

// CHECK-LABEL: @regions_are_taken_over
func.func @regions_are_taken_over(%x: !t) -> !t {
  // CHECK-NEXT: "t.new_region"(%arg0) ({
  // CHECK-NEXT: "t.inner"
  // CHECK-NEXT: })
  %0 = "t.region"(%x) ({
    "t.inner"() : () -> ()
  }) : (!t) -> !t
  return %0 : !t
}

// CHECK-LABEL: @regions_are_not_lost
func.func @regions_are_not_lost(%x: !t) -> !t {
  // CHECK-NEXT: "t.other_region"
  %0 = "t.other_region"(%x) ({
    "t.inner"() : () -> ()
  }) : (!t) -> !t
  return %0 : !t
}

// CHECK-LABEL: @attributes_are_taken_over
func.func @attributes_are_taken_over(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.fused"(%arg0, %arg1, %arg2) {user.note = "a", user.pin = 1 : i64}
  %0 = "t.matmul"(%x, %w) {user.note = "a"} : (!t, !t) -> !t
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t
  %2 = "t.relu"(%1) {user.pin = 1} : (!t) -> !t
  return %2 : !t
}

// CHECK-LABEL: @attributes_that_disagree_stay
func.func @attributes_that_disagree_stay(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.matmul"
  %0 = "t.matmul"(%x, %w) {user.note = "a"} : (!t, !t) -> !t
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t
  %2 = "t.relu"(%1) {user.note = "b"} : (!t) -> !t
  return %2 : !t
}

// CHECK-LABEL: @attributes_are_not_lost
func.func @attributes_are_not_lost(%x: !t) -> !t {
  // CHECK-NEXT: "t.unsqueeze"
  %0 = "t.unsqueeze"(%x) {axis = 1, user.note = "a"} : (!t) -> tensor<4x1x4xf32>
  %1 = "t.squeeze"(%0) {axis = 1} : (tensor<4x1x4xf32>) -> !t
  return %1 : !t
}

// CHECK-LABEL: @nothing_moves_into_a_loop
func.func @nothing_moves_into_a_loop(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.matmul"
  // CHECK: "t.add"
  // CHECK: "t.relu"
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t
  %1 = "t.loop"() ({
    %2 = "t.add"(%0, %b) : (!t, !t) -> !t
    %3 = "t.relu"(%2) : (!t) -> !t
    "t.yield"(%3) : (!t) -> ()
  }) : () -> !t
  return %1 : !t
}
