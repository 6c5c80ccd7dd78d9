// RUN: inlay-opt %s --inlay-convert-outline-segments --split-input-file | FileCheck %s

// A segment that is the last one to use a state updates it in its memory.
// CHECK-LABEL: func @step
// CHECK: plan.invoke @step_0(%arg0, %arg1) updates [-1, 1]
// CHECK: func private @step_0
// CHECK-SAME: -> (tensor<2xf32>, tensor<4xf32> {plan.updates = 1 : i64})
func.func @step(%x: tensor<2xf32>, %s: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %0:2 = inlay.segment #inlay.host (%x, %s) : (tensor<2xf32>, tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<4xf32>):
    %1 = inlay.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    %2 = inlay.slice_scatter %b, %1 dim 0 start 1 end 3 step 1 : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
    inlay.yield %1, %2 : tensor<2xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<4xf32>
}

// -----

// The old value is returned too.
// CHECK-LABEL: func @returned
// CHECK: plan.invoke @returned_0(%arg0) {
func.func @returned(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %0 = inlay.segment #inlay.host (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %1 = inlay.relu %b : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %1 : tensor<4xf32>
  }
  return %s, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A later segment reads the old value.
// CHECK-LABEL: func @read_later
// CHECK: plan.invoke @read_later_0(%arg0) {
func.func @read_later(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %0 = inlay.segment #inlay.host (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %1 = inlay.relu %b : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %1 : tensor<4xf32>
  }
  %2 = inlay.segment #inlay.vulkan (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %3 = inlay.neg %b : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %3 : tensor<4xf32>
  }
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Two segments update the state one after the other. The first one reads it before.
// CHECK-LABEL: func @chain
// CHECK: %[[R:.*]] = plan.invoke @chain_0(%arg1) {
// CHECK: %[[A:.*]] = plan.invoke @chain_1(%arg1, %arg0) updates [0]
// CHECK: plan.invoke @chain_2(%[[A]], %arg0) updates [0]
func.func @chain(%x: tensor<2xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %r = inlay.segment #inlay.host (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %1 = inlay.relu %b : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %1 : tensor<4xf32>
  }
  %0 = inlay.segment #inlay.host (%s, %x) : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>, %a: tensor<2xf32>):
    %2 = inlay.slice_scatter %b, %a dim 0 start 1 end 3 step 1 : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
    inlay.yield %2 : tensor<4xf32>
  }
  %3 = inlay.segment #inlay.vulkan (%0, %x) : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>, %a: tensor<2xf32>):
    %2 = inlay.slice_scatter %b, %a dim 0 start 0 end 2 step 1 : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
    inlay.yield %2 : tensor<4xf32>
  }
  return %r, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// PyTorch can't update a state in its memory.
// CHECK-LABEL: func @framework
// CHECK: plan.invoke @framework_0(%arg0) {
func.func @framework(%s: tensor<4xf32>) -> tensor<4xf32> attributes {inlay.states = 1} {
  %0 = inlay.segment #inlay.torch (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %1 = inlay.relu %b : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
