// RUN: inlay-opt %s --inlay-shape-infer --split-input-file | FileCheck %s

// Ops need sizes that the symbols do not show. The function gets them as conditions, once each, behind its own.
// CHECK-DAG: #[[OWN:.*]] = affine_set<()[s0, s1, s2] : (s1 - 4 >= 0)>
// CHECK-DAG: #[[INNER:.*]] = affine_set<()[s0, s1, s2] : (s1 - s2 == 0)>
// CHECK-DAG: #[[STATIC:.*]] = affine_set<()[s0, s1, s2] : (s0 - 8 == 0)>
// CHECK-LABEL: func.func @products(
// CHECK-SAME:    inlay.conditions = {{\[\[}}#[[OWN]]], [#[[INNER]]], [#[[STATIC]]]],
func.func @products(%x: tensor<?x?xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s0, s1)>},
                    %y: tensor<?x8xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s2, 8)>})
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>)
    attributes {inlay.symbols = [#inlay.symbol<"a", 1 to 8>, #inlay.symbol<"b", 2 to 64>, #inlay.symbol<"c", 2 to 64>],
                inlay.conditions = [[affine_set<()[s0, s1, s2] : (s1 - 4 >= 0)>]]} {
  %0 = inlay.matmul %x, %y : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = inlay.matmul %x, %y : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = inlay.matmul %x, %y : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// Sizes that can't be equal leave the dims of the result unknown.
// CHECK-LABEL: func.func @never(
// CHECK-NOT:     inlay.conditions
// CHECK:         inlay.matmul %{{.*}} : (tensor
func.func @never(%x: tensor<4x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (4, s0)>},
                 %y: tensor<?x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0 + 1, s1)>}) -> tensor<4x?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"a", 1 to 8>, #inlay.symbol<"b", 1 to 8>]} {
  %0 = inlay.matmul %x, %y : (tensor<4x?xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// Each op that reads several tensors at one position.
// CHECK-DAG: affine_set<()[s0, s1] : (s0 - 8 == 0)>
// CHECK-DAG: affine_set<()[s0, s1] : (-s0 + 8 == 0)>
// CHECK-DAG: affine_set<()[s0, s1] : (s0 mod 2 == 0)>
// CHECK-DAG: affine_set<()[s0, s1] : (s0 - s1 == 0)>
// CHECK-DAG: affine_set<()[s0, s1] : (s0 - s1 >= 0)>
// CHECK-DAG: affine_set<()[s0, s1] : (s0 * 4 - (s0 floordiv 2) * 8 == 0)>
// CHECK-LABEL: func.func @kinds(
// CHECK-SAME:    inlay.conditions = {{\[\[#[a-z0-9]+\](, \[#[a-z0-9]+\]){5}\]}},
func.func @kinds(%x: tensor<4x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (4, s0)>},
                 %y: tensor<4x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (4, s1)>},
                 %i: tensor<4x?xi64> {inlay.dims = affine_map<()[s0, s1] -> (4, s1)>},
                 %b: tensor<1x?x2x2xf32> {inlay.dims = affine_map<()[s0, s1] -> (1, s0, 2, 2)>},
                 %w: tensor<8xf32>, %k: tensor<3x8x1x1xf32>)
    attributes {inlay.symbols = [#inlay.symbol<"a", 1 to 64>, #inlay.symbol<"b", 1 to 64>]} {
  %0 = inlay.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<4x?xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x?xf32>
  %1 = inlay.rms_norm %x, %w eps 1.0e-5 : (tensor<4x?xf32>, tensor<8xf32>) -> tensor<4x?xf32>
  %2 = inlay.batch_norm %b, %w, %w, %w, %w eps 1.0e-5 : (tensor<1x?x2x2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x?x2x2xf32>
  %3 = inlay.group_norm %b, %w, %w groups 2 eps 1.0e-5 : (tensor<1x?x2x2xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x?x2x2xf32>
  %4 = inlay.conv %b, %k stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<1x?x2x2xf32>, tensor<3x8x1x1xf32>) -> tensor<1x3x2x2xf32>
  %5 = inlay.cat %x, %y dim 0 : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  %6 = inlay.gather %x, %i dim 0 : (tensor<4x?xf32>, tensor<4x?xi64>) -> tensor<4x?xf32>
  %7 = inlay.add %x, %w : (tensor<4x?xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %8 = inlay.reshape %x shape [4, 2, -1] : (tensor<4x?xf32>) -> tensor<4x2x?xf32>
  return
}

// -----

// What is assumed in a loop does not count if its iterations change the sizes.
// CHECK-LABEL: func.func @loop(
// CHECK-NOT:     inlay.conditions
// CHECK:         scf.for
func.func @loop(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0)>},
                %y: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1)>}, %n: index) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"a", 1 to 64>, #inlay.symbol<"b", 1 to 64>]} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> (tensor<?xf32>) {
    %0 = inlay.reshape %v shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
    %1 = inlay.reshape %y shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
    %2 = inlay.cat %0, %1 dim 0 : (tensor<1x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
    %3 = inlay.reshape %2 shape [-1] : (tensor<2x?xf32>) -> tensor<?xf32>
    scf.yield %3 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// The mask has the sizes of the scores, or 1. Heads of keys serve a whole number of heads of queries.
// CHECK-DAG: affine_set<()[s0, s1, s2] : (-s1 + s2 == 0)>
// CHECK-DAG: affine_set<()[s0, s1, s2] : (s0 mod 2 == 0)>
// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    inlay.conditions = {{\[\[#[a-z0-9]+\], \[#[a-z0-9]+\]\]}},
func.func @attention(%q: tensor<1x?x4x8xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (1, s0, 4, 8)>},
                     %k: tensor<1x2x?x8xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (1, 2, s1, 8)>},
                     %m: tensor<1x1x?xi1> {inlay.dims = affine_map<()[s0, s1, s2] -> (1, 1, s2)>})
    attributes {inlay.symbols = [#inlay.symbol<"h", 1 to 64>, #inlay.symbol<"k", 1 to 64>, #inlay.symbol<"m", 1 to 64>]} {
  %0 = inlay.scaled_dot_product_attention %q, %k, %k, %m scale 0.25 enable_gqa : (tensor<1x?x4x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x1x?xi1>) -> tensor<1x?x4x8xf32>
  return
}

// -----

// A static result type requires sizes for which the op has such a result.
// CHECK-DAG: affine_set<()[s0] : (s0 - 4 >= 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 8 == 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 3 == 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 3 >= 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 6 == 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 2 == 0)>
// CHECK-DAG: affine_set<()[s0] : (s0 - 1 >= 0)>
// CHECK-LABEL: func.func @static(
// CHECK-SAME:    inlay.conditions = {{\[\[#[a-z0-9]+\](, \[#[a-z0-9]+\]){6}\]}},
func.func @static(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>},
                  %i: tensor<1x2x?x4xf32> {inlay.dims = affine_map<()[s0] -> (1, 2, s0, 4)>}, %w: tensor<3x2x3x1xf32>,
                  %y: tensor<1x2x4x4xf32>, %k: tensor<3x2x1x1xf32>, %m: tensor<5x2xf32>, %z: tensor<2x2xf32>)
    attributes {inlay.symbols = [#inlay.symbol<"n", 0 to 64>]} {
  %0 = inlay.slice %x dim 0 start 0 end 4 step 1 : (tensor<?xf32>) -> tensor<4xf32>
  %1 = inlay.expand %x shape [8] : (tensor<?xf32>) -> tensor<8xf32>
  %2 = inlay.conv %y, %k, %x stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<?xf32>) -> tensor<1x3x4x4xf32>
  %3 = inlay.conv %i, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<1x2x?x4xf32>, tensor<3x2x3x1xf32>) -> tensor<1x3x4x4xf32>
  %4 = inlay.linear %z, %z, %x : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<?xf32>) -> tensor<2x2xf32>
  %5 = inlay.amax %x dims [0] : (tensor<?xf32>) -> tensor<f32>
  %6 = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  return
}

// -----

// An op that can't run has a result without dims, although its type is static.
// CHECK: #[[NONE:.*]] = affine_map<()[s0] -> ()>
// CHECK-LABEL: func.func @unfit(
// CHECK-NOT:     inlay.conditions
// CHECK:         inlay.slice {{.*}} {inlay.dims = [#[[NONE]]]}
func.func @unfit(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<10xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 0 to 8>]} {
  %0 = inlay.slice %x dim 0 start 0 end 10 step 1 : (tensor<?xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// The dims stay unknown once their expressions are too long. Each step would double them.
// CHECK-LABEL: func.func @outer(
// CHECK:         inlay.reshape {{.*}} shape [-1] {inlay.dims
// CHECK:         %95 = inlay.reshape %94 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    return
func.func @outer(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0 + s1)>}, %y: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1)>})
    attributes {inlay.symbols = [#inlay.symbol<"a", 0 to 8>, #inlay.symbol<"b", 0 to 8>]} {
  %a0 = inlay.reshape %x shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b0 = inlay.reshape %x shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c0 = inlay.add %a0, %b0 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d0 = inlay.reshape %c0 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a1 = inlay.reshape %d0 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b1 = inlay.reshape %d0 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c1 = inlay.add %a1, %b1 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d1 = inlay.reshape %c1 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a2 = inlay.reshape %d1 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b2 = inlay.reshape %d1 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c2 = inlay.add %a2, %b2 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d2 = inlay.reshape %c2 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a3 = inlay.reshape %d2 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b3 = inlay.reshape %d2 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c3 = inlay.add %a3, %b3 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d3 = inlay.reshape %c3 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a4 = inlay.reshape %d3 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b4 = inlay.reshape %d3 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c4 = inlay.add %a4, %b4 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d4 = inlay.reshape %c4 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a5 = inlay.reshape %d4 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b5 = inlay.reshape %d4 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c5 = inlay.add %a5, %b5 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d5 = inlay.reshape %c5 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a6 = inlay.reshape %d5 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b6 = inlay.reshape %d5 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c6 = inlay.add %a6, %b6 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d6 = inlay.reshape %c6 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a7 = inlay.reshape %d6 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b7 = inlay.reshape %d6 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c7 = inlay.add %a7, %b7 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d7 = inlay.reshape %c7 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a8 = inlay.reshape %d7 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b8 = inlay.reshape %d7 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c8 = inlay.add %a8, %b8 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d8 = inlay.reshape %c8 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a9 = inlay.reshape %d8 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b9 = inlay.reshape %d8 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c9 = inlay.add %a9, %b9 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d9 = inlay.reshape %c9 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a10 = inlay.reshape %d9 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b10 = inlay.reshape %d9 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c10 = inlay.add %a10, %b10 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d10 = inlay.reshape %c10 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a11 = inlay.reshape %d10 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b11 = inlay.reshape %d10 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c11 = inlay.add %a11, %b11 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d11 = inlay.reshape %c11 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a12 = inlay.reshape %d11 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b12 = inlay.reshape %d11 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c12 = inlay.add %a12, %b12 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d12 = inlay.reshape %c12 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a13 = inlay.reshape %d12 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b13 = inlay.reshape %d12 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c13 = inlay.add %a13, %b13 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d13 = inlay.reshape %c13 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a14 = inlay.reshape %d13 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b14 = inlay.reshape %d13 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c14 = inlay.add %a14, %b14 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d14 = inlay.reshape %c14 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a15 = inlay.reshape %d14 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b15 = inlay.reshape %d14 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c15 = inlay.add %a15, %b15 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d15 = inlay.reshape %c15 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a16 = inlay.reshape %d15 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b16 = inlay.reshape %d15 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c16 = inlay.add %a16, %b16 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d16 = inlay.reshape %c16 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a17 = inlay.reshape %d16 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b17 = inlay.reshape %d16 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c17 = inlay.add %a17, %b17 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d17 = inlay.reshape %c17 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a18 = inlay.reshape %d17 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b18 = inlay.reshape %d17 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c18 = inlay.add %a18, %b18 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d18 = inlay.reshape %c18 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a19 = inlay.reshape %d18 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b19 = inlay.reshape %d18 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c19 = inlay.add %a19, %b19 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d19 = inlay.reshape %c19 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a20 = inlay.reshape %d19 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b20 = inlay.reshape %d19 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c20 = inlay.add %a20, %b20 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d20 = inlay.reshape %c20 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a21 = inlay.reshape %d20 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b21 = inlay.reshape %d20 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c21 = inlay.add %a21, %b21 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d21 = inlay.reshape %c21 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a22 = inlay.reshape %d21 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b22 = inlay.reshape %d21 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c22 = inlay.add %a22, %b22 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d22 = inlay.reshape %c22 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %a23 = inlay.reshape %d22 shape [-1, 1] : (tensor<?xf32>) -> tensor<?x1xf32>
  %b23 = inlay.reshape %d22 shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %c23 = inlay.add %a23, %b23 : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d23 = inlay.reshape %c23 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  return
}
