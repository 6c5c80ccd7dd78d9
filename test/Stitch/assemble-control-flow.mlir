// RUN: inlay-opt %s --inlay-stitch-assemble-program --inlay-stitch-verify --split-input-file | FileCheck %s

// Both sides of a branch write the buffer of its result, here the caller's.
// CHECK-LABEL: plan.program @branch
// CHECK: %[[C:.*]] = plan.input 0 {{.*}} : <tensor<i1>, host>
// CHECK: %[[X:.*]] = plan.input 1
// CHECK: %[[R:.*]] = plan.output 0
// CHECK: plan.branch %[[C]] {
// CHECK-NEXT: plan.call @f(%[[X]]) outs(%[[R]])
// CHECK-NEXT: } else {
// CHECK-NEXT: plan.copy %[[X]] to %[[R]]
// CHECK-NEXT: } {plan.segment = 3 : i64} : <tensor<i1>, host>
func.func @branch(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %a = plan.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  } {plan.segment = 3 : i64}
  return %r : tensor<4xf32>
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// A copy to a device inside a branch is valid only there. Values that a loop does not change are copied before the
// loop.
// CHECK-LABEL: plan.program @copies
// CHECK: %[[C:.*]] = plan.input 0
// CHECK: %[[X:.*]] = plan.input 1
// CHECK: plan.branch
// CHECK: plan.copy %[[X]] to %[[D0:.*]] :
// CHECK: plan.launch @e(%[[D0]])
// CHECK: } else {
// CHECK: plan.copy %[[X]] to %[[D1:.*]] :
// CHECK: plan.launch @e(%[[D1]])
// CHECK: plan.copy %{{.*}} to %[[A:[^ ]*]] {{.*}} device>
// CHECK: plan.copy %[[X]] to %[[D2:[^ ]*]] :
// CHECK: plan.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT: plan.launch @e2(%[[A]], %[[D2]]) outs(%[[N:.*]]) :
// CHECK-NEXT: plan.copy %[[N]] to %[[A]]
// CHECK-NEXT: }
func.func @copies(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %a = plan.invoke @e(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %a = plan.invoke @e(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = scf.for %k = %c0 to %c9 step %c1 iter_args(%a = %r) -> tensor<4xf32> {
    %n = plan.invoke @e2(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}
plan.engine @e2 arguments 3 scratch affine_map<() -> ()> {}

// -----

// A value that the condition of a loop passes on unchanged has one buffer. Values that are swapped go through a third
// buffer.
module attributes {inlay.max_loop_iterations = 50 : i64} {
  // CHECK-LABEL: plan.program @swap
  // CHECK: %[[X:.*]] = plan.input 0
  // CHECK: %[[Y:.*]] = plan.input 1
  // CHECK: %[[A:.*]] = plan.output 0
  // CHECK: %[[B:.*]] = plan.output 1
  // CHECK: plan.copy %[[X]] to %[[A]]
  // CHECK: plan.copy %[[Y]] to %[[B]]
  // CHECK: plan.while %[[C:.*]] limit 50 {
  // CHECK-NEXT: plan.call @less(%[[A]], %[[B]]) outs(%[[T:.*]]) :
  // CHECK-NEXT: plan.copy %[[T]] to %[[C]]
  // CHECK-NEXT: } do {
  // CHECK-NEXT: plan.copy %[[B]] to %[[K:[^ ]*]] :
  // CHECK-NEXT: plan.copy %[[A]] to %[[L:[^ ]*]] :
  // CHECK-NEXT: plan.copy %[[K]] to %[[A]] :
  // CHECK-NEXT: plan.copy %[[L]] to %[[B]] :
  // CHECK-NEXT: }
  func.func @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = scf.while (%a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %c = plan.invoke @less(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> i1
      scf.condition(%c) %a, %b : tensor<4xf32>, tensor<4xf32>
    } do {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
    }
    return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  plan.host_function @less arguments 3 inputs 2 scratch affine_map<() -> ()>
}
