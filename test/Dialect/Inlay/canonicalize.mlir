// RUN: inlay-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @equal_constants_are_one
func.func @equal_constants_are_one() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: %[[W:.*]] = inlay.constant dense<1.000000e+00> : tensor<2xf32>
  // CHECK-DAG: %[[V:.*]] = inlay.constant dense_resource<w> : tensor<2xf32>
  %0 = inlay.constant dense<1.0> : tensor<2xf32>
  %1 = inlay.constant dense<1.0> : tensor<2xf32>
  %2 = inlay.constant dense_resource<w> : tensor<2xf32>
  // CHECK: return %[[W]], %[[W]], %[[V]]
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @unused_ops_vanish
func.func @unused_ops_vanish(%x: tensor<2xf32>) {
  // CHECK-NEXT: return
  %0 = inlay.constant dense<1.0> : tensor<2xf32>
  %1 = inlay.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = inlay.plugin "my_kernel"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = inlay.opaque "aten::sort"(%2) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func @equal_graph_ops_are_one
func.func @equal_graph_ops_are_one(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-1: inlay.relu
  // CHECK-NOT: inlay.relu
  %0 = inlay.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = inlay.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @writes_stay
func.func @writes_stay(%x: tensor<2xf32>) {
  // CHECK: inlay.opaque "aten::zero_"
  // CHECK: inlay.opaque "aten::zero_"
  inlay.opaque "aten::zero_"(%x) writes [0] : (tensor<2xf32>) -> ()
  inlay.opaque "aten::zero_"(%x) writes [0] : (tensor<2xf32>) -> ()
  return
}

// CHECK-LABEL: func @reads_around_a_write_differ
func.func @reads_around_a_write_differ(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[BEFORE:.*]] = inlay.opaque "aten::clone"
  // CHECK: inlay.opaque "aten::zero_"
  // CHECK: %[[AFTER:.*]] = inlay.opaque "aten::clone"
  %0 = inlay.opaque "aten::clone"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  inlay.opaque "aten::zero_"(%x) writes [0] : (tensor<2xf32>) -> ()
  %1 = inlay.opaque "aten::clone"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: return %[[BEFORE]], %[[AFTER]]
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// The op does not state that two draws are equal.
// CHECK-LABEL: func @two_random_numbers
func.func @two_random_numbers() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-2: inlay.opaque "aten::rand"
  %0 = inlay.opaque "aten::rand"() : () -> tensor<2xf32>
  %1 = inlay.opaque "aten::rand"() : () -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @calls_in_order_stay
func.func @calls_in_order_stay(%x: tensor<2xf32>) {
  // CHECK-NEXT: inlay.opaque "aten::rand"
  // CHECK-NEXT: inlay.opaque "aten::_assert_async"
  // CHECK-NEXT: return
  %0 = inlay.opaque "aten::rand"() in_order : () -> tensor<2xf32>
  inlay.opaque "aten::_assert_async"(%x) in_order : (tensor<2xf32>) -> ()
  %1 = inlay.opaque "aten::_log"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// A segment has the effects of its body.
// CHECK-LABEL: func @segments
func.func @segments(%x: tensor<2xf32>) {
  // CHECK-COUNT-1: inlay.segment
  // CHECK-NEXT: inlay.opaque "aten::zero_"
  // CHECK-NOT: inlay.segment
  %0 = inlay.segment #inlay.declared<"npu", ["*"]>() : () -> tensor<2xf32> {
    %1 = inlay.relu %x : (tensor<2xf32>) -> tensor<2xf32>
    inlay.yield %1 : tensor<2xf32>
  }
  inlay.segment #inlay.declared<"npu", ["*"]>() : () -> () {
    inlay.opaque "aten::zero_"(%x) writes [0] : (tensor<2xf32>) -> ()
  }
  return
}
