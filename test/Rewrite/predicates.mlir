// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/predicates.pdl.mlir" | FileCheck %s

// CHECK-LABEL: @dtype
func.func @dtype(%a: tensor<4xf16>, %b: tensor<4xbf16>, %c: tensor<4xf32>) {
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.dtype
  %0 = "t.dtype"(%a) : (tensor<4xf16>) -> i1
  %1 = "t.dtype"(%b) : (tensor<4xbf16>) -> i1
  %2 = "t.dtype"(%c) : (tensor<4xf32>) -> i1
  return
}

// CHECK-LABEL: @rank
func.func @rank(%a: tensor<4xf32>, %b: tensor<?x4xf32>, %c: tensor<4x4x4xf32>, %d: f32) {
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.rank
  // CHECK-NEXT: t.rank
  %0 = "t.rank"(%a) : (tensor<4xf32>) -> i1
  %1 = "t.rank"(%b) : (tensor<?x4xf32>) -> i1
  %2 = "t.rank"(%c) : (tensor<4x4x4xf32>) -> i1
  %3 = "t.rank"(%d) : (f32) -> i1
  return
}

// CHECK-LABEL: @multiple_of
func.func @multiple_of(%a: tensor<3x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x?xf32>, %d: tensor<f32>) {
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.multiple
  // CHECK-NEXT: t.multiple
  // CHECK-NEXT: t.multiple
  %0 = "t.multiple"(%a) : (tensor<3x16xf32>) -> i1
  %1 = "t.multiple"(%b) : (tensor<16x4xf32>) -> i1
  %2 = "t.multiple"(%c) : (tensor<8x?xf32>) -> i1
  %3 = "t.multiple"(%d) : (tensor<f32>) -> i1
  return
}

// CHECK-LABEL: @dims
func.func @dims(%a: tensor<4xf32>, %b: tensor<3xf32>, %c: tensor<5xf32>) {
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.dim
  // CHECK-NEXT: t.yes
  // CHECK-NEXT: t.between
  %0 = "t.dim"(%a) : (tensor<4xf32>) -> i1
  %1 = "t.dim"(%b) : (tensor<3xf32>) -> i1
  %2 = "t.between"(%b) : (tensor<3xf32>) -> i1
  %3 = "t.between"(%c) : (tensor<5xf32>) -> i1
  return
}

// CHECK-LABEL: @constants
func.func @constants(%x: tensor<2xf32>) {
  %two = inlay.constant dense<2.0> : tensor<2xf32>
  %other = inlay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %int = inlay.constant dense<2> : tensor<2xi32>
  // CHECK: t.yes
  // CHECK-NEXT: t.splat
  // CHECK-NEXT: t.splat
  // CHECK-NEXT: t.yes
  %0 = "t.splat"(%two) : (tensor<2xf32>) -> i1
  %1 = "t.splat"(%other) : (tensor<2xf32>) -> i1
  %2 = "t.splat"(%x) : (tensor<2xf32>) -> i1
  %3 = "t.splat"(%int) : (tensor<2xi32>) -> i1
  %sum = inlay.add %two, %other : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %not = inlay.add %two, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[SUM:.*]] = inlay.add
  // CHECK: "t.yes"(%[[SUM]])
  // CHECK-NEXT: t.foldable
  // CHECK-NEXT: t.variable
  // CHECK-NEXT: t.yes
  %4 = "t.foldable"(%sum) : (tensor<2xf32>) -> i1
  %5 = "t.foldable"(%not) : (tensor<2xf32>) -> i1
  %6 = "t.variable"(%two) : (tensor<2xf32>) -> i1
  %7 = "t.variable"(%x) : (tensor<2xf32>) -> i1
  return
}

// CHECK-LABEL: @uses
func.func @uses(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  // CHECK-NEXT: "t.yes"(%arg0)
  // CHECK-NEXT: "t.uses"(%arg1)
  // CHECK-NEXT: "t.uses"(%arg2)
  %0 = "t.uses"(%a) : (tensor<2xf32>) -> i1
  %1 = "t.uses"(%b) : (tensor<2xf32>) -> i1
  %2 = "t.uses"(%c) : (tensor<2xf32>) -> i1
  "t.use"(%a, %c, %c) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
