// RUN: inlay-opt %s --inlay-convert-outline-segments -split-input-file | FileCheck %s

// The example of the pass description.

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK:         %[[R:.*]] = plan.invoke @forward_0(%[[X]]) {plan.segment = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         return %[[R]]
// CHECK:       func.func private @forward_0(%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME:    attributes {plan.target = #inlay.host}
// CHECK:         %[[RELU:.*]] = inlay.relu %[[A]]
// CHECK:         return %[[RELU]] : tensor<4xf32>
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @numbers_in_order(
// CHECK:         %[[A:.*]]:2 = plan.invoke @numbers_in_order_0(%{{.*}}) {plan.segment = 0 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         plan.invoke @numbers_in_order_1(%[[A]]#1, %[[A]]#0) {plan.segment = 1 : i64}
// CHECK-DAG:   func.func private @numbers_in_order_0({{.*}}) -> (tensor<4xf32>, tensor<4xf32>) attributes {plan.target = #inlay.vulkan}
// CHECK-DAG:   func.func private @numbers_in_order_1({{.*}}) -> tensor<4xf32> attributes {plan.target = #inlay.host}
func.func @numbers_in_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a:2 = inlay.segment #inlay.vulkan(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%arg: tensor<4xf32>):
    %0 = inlay.relu %arg : (tensor<4xf32>) -> tensor<4xf32>
    %1 = inlay.exp %arg : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  %b = inlay.segment #inlay.host(%a#1, %a#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%lhs: tensor<4xf32>, %rhs: tensor<4xf32>):
    %0 = inlay.sub %lhs, %rhs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0 : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}

// -----

// Constants with data are passed; a splat stays. Constants of another dialect become `inlay.constant` everywhere.

// CHECK-LABEL: func.func @constants(
// CHECK-DAG:     %[[W:.*]] = inlay.constant dense_resource<w> : tensor<2xf32>
// CHECK-DAG:     %[[V:.*]] = inlay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         %[[R:.*]] = plan.invoke @constants_0(%{{.*}}, %[[W]], %[[V]])
// CHECK:         %[[RETURNED:.*]] = inlay.constant dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK:         return %[[R]], %[[RETURNED]]
// CHECK:       func.func private @constants_0(%{{[a-z0-9]*}}: tensor<2xf32>, %[[ARG1:.*]]: tensor<2xf32> {plan.constant}, %[[ARG2:.*]]: tensor<2xf32> {plan.constant})
// CHECK:         %[[SPLAT:.*]] = inlay.constant dense<5.000000e-01> : tensor<2xf32>
// CHECK:         inlay.mul %{{.*}}, %[[ARG1]]
// CHECK:         inlay.add %{{.*}}, %[[ARG2]]
// CHECK:         inlay.sub %{{.*}}, %[[SPLAT]]
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r = inlay.segment #inlay.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %w = inlay.constant dense_resource<w> : tensor<2xf32>
    %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = arith.constant dense<0.5> : tensor<2xf32>
    %0 = inlay.mul %a, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = inlay.add %0, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = inlay.sub %1, %s : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    inlay.yield %2 : tensor<2xf32>
  }
  %c = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  return %r, %c : tensor<2xf32>, tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F"
    }
  }
#-}

// -----

// A name that is taken is not used again.

// CHECK-LABEL: func.func @f(
// CHECK:         plan.invoke @[[NAME:f_0.+]](%{{.*}})
// CHECK:       func.func private @[[NAME]](
// CHECK-LABEL: func.func @f_0(
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    inlay.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @f_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Ops outside segments stay. A segment may have no inputs and no results.

// CHECK-LABEL: func.func @nothing()
// CHECK:         plan.invoke @nothing_0() {plan.segment = 0 : i64} : () -> ()
// CHECK:       func.func private @nothing_0() attributes {plan.target = #inlay.host}
// CHECK-NEXT:    return
func.func @nothing() {
  inlay.segment #inlay.host() : () -> () {
  }
  return
}
// CHECK:       func.func private @declared(tensor<4xf32>)
func.func private @declared(tensor<4xf32>)
