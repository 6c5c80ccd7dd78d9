// RUN: inlay-opt %s --inlay-stitch-assemble-program --inlay-stitch-verify --split-input-file | FileCheck %s

// A state that a host function updates in its memory is passed once and is no input or output of the program.
// CHECK-LABEL: plan.program @in_place
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[S:.*]] = plan.state 0 "state 0" : <tensor<4xf32>, host>
// CHECK: %[[R:.*]] = plan.output 0
// CHECK-NEXT: plan.call @f(%[[X]], %[[S]]) outs(%[[R]])
// CHECK-NEXT: }
func.func @in_place(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %0:2 = plan.invoke @f(%x, %s) updates [-1, 1] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
plan.host_function @f arguments 3 inputs 2 scratch affine_map<() -> ()> updates [1]

// -----

// A state that an engine computes is in the memory of the device.
// CHECK-LABEL: plan.program @on_device
// CHECK: %[[S:.*]] = plan.state 0 "state 0" : <tensor<4xf32>, device>
// CHECK-NEXT: plan.launch @e(%[[S]]) outs()
// CHECK-NEXT: }
func.func @on_device(%s: tensor<4xf32>) -> tensor<4xf32> attributes {inlay.states = 1} {
  %0 = plan.invoke @e(%s) updates [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
plan.engine @e arguments 1 scratch affine_map<() -> ()> updates [0] {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [#plan.access<read_write>] block [64, 1, 1]
  plan.dispatch @k buffers [0] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> ()>
}

// -----

// A state whose next value is computed elsewhere is copied at the end, after the results.
// CHECK-LABEL: plan.program @copied
// CHECK: %[[S:.*]] = plan.state 0 "state 0" : <tensor<4xf32>, host>
// CHECK: %[[R:.*]] = plan.output 0
// CHECK: plan.call @g(%[[S]]) outs(%[[T:.*]]) :
// CHECK-NEXT: plan.copy %[[S]] to %[[R]]
// CHECK-NEXT: plan.copy %[[T]] to %[[S]]
// CHECK-NEXT: }
func.func @copied(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 1} {
  %0 = plan.invoke @g(%s) : (tensor<4xf32>) -> tensor<4xf32>
  return %s, %0 : tensor<4xf32>, tensor<4xf32>
}
plan.host_function @g arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// Two states exchange their values.
// CHECK-LABEL: plan.program @exchange
// CHECK: %[[A:.*]] = plan.state 0
// CHECK: %[[B:.*]] = plan.state 1
// CHECK: plan.copy %[[B]] to %[[KEPT_B:.*]] :
// CHECK: plan.copy %[[A]] to %[[KEPT_A:.*]] :
// CHECK: plan.copy %[[KEPT_B]] to %[[A]]
// CHECK-NEXT: plan.copy %[[KEPT_A]] to %[[B]]
func.func @exchange(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 2} {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
