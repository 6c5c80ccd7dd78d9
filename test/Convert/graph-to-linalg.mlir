// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// The conversion as a whole. Each family of ops has a separate test file.

// CHECK: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @relu(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel"]}
  // CHECK-SAME: ins(%[[X]] : tensor<4xf32>) outs(%[[EMPTY]] : tensor<4xf32>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[IN]], %[[ZERO]] : f32
  // CHECK-NEXT: linalg.yield %[[MAX]] : f32
  %r = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @constants()
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>, tensor<3xi64>) {
  // CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = inlay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: arith.constant dense_resource<weight> : tensor<2xf32>
  %1 = inlay.constant dense_resource<weight> : tensor<2xf32>
  // CHECK: arith.constant dense<7> : tensor<3xi64>
  %2 = inlay.constant dense<7> : tensor<3xi64>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<3xi64>
}

{-#
  dialect_resources: { builtin: { weight: "0x040000000000803F00000040" } }
#-}

// -----

#npu = #inlay.declared<"npu", ["*"]>

// CHECK-LABEL: func.func @segments_and_foreign_calls_stay(
func.func @segments_and_foreign_calls_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = inlay.segment
  %r = inlay.segment #npu(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // CHECK: %[[NEG:.*]] = linalg.generic
    // CHECK: arith.negf
    // CHECK: inlay.yield %[[NEG]] : tensor<4xf32>
    %0 = inlay.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0 : tensor<4xf32>
  }
  // CHECK: %[[L:.*]] = inlay.list %[[R]]
  %l = inlay.list %r : (tensor<4xf32>) -> !inlay.list<tensor<4xf32>>
  // CHECK: inlay.opaque "aten::foo"(%[[L]])
  %o = inlay.opaque "aten::foo"(%l) : (!inlay.list<tensor<4xf32>>) -> tensor<4xf32>
  // CHECK: inlay.plugin "bar"
  %p = inlay.plugin "bar"(%o) : (tensor<4xf32>) -> tensor<4xf32>
  return %p : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @ops_nested_in_control_flow(
func.func @ops_nested_in_control_flow(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  // CHECK: scf.if
  %r = scf.if %p -> tensor<4xf32> {
    // CHECK: linalg.generic
    %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @result_type_is_kept(
func.func @result_type_is_kept(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
  // CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<4xf32> to tensor<?xf32>
  // CHECK: return %[[C]]
  %r = inlay.neg %x : (tensor<4xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// All calls share one declaration in the enclosing module.
// CHECK-LABEL: module
// CHECK-DAG:   func.func private @lgammaf(f32) -> f32
// CHECK-DAG:   func.func private @lgamma(f64) -> f64
// CHECK-LABEL: func.func @library_call(
func.func @library_call(%x: tensor<4xf32>, %y: tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) {
  // CHECK: func.call @lgammaf(
  // CHECK: func.call @lgammaf(
  // CHECK: func.call @lgamma(
  %0 = inlay.lgamma %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.lgamma %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = inlay.lgamma %y : (tensor<4xf64>) -> tensor<4xf64>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
}
