// RUN: inlay-opt %s --inlay-shape-infer --split-input-file | FileCheck %s

// The result of a branch has dims if both sides agree on them.
// CHECK: #[[N2:.*]] = affine_map<()[s0] -> (s0 * 2)>
// CHECK-LABEL: func.func @branch(
func.func @branch(%c: i1, %x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  // CHECK: scf.if
  %r = scf.if %c -> tensor<?xf32> {
    %0 = inlay.cat %x, %x dim 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  } else {
    %0 = inlay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
    %1 = inlay.cat %0, %x dim 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  // CHECK: } {inlay.dims = [#[[N2]]]}
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @disagree(
func.func @disagree(%c: i1, %x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %r = scf.if %c -> tensor<?xf32> {
    %0 = inlay.cat %x, %x dim 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  // CHECK: scf.yield %arg1
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  return %r : tensor<?xf32>
}

// -----

// A loop-carried value keeps the dims of its initial value.
// CHECK: #[[N:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @loop(
func.func @loop(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %r = scf.while (%a = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %c = inlay.opaque "c"(%a) : (tensor<?xf32>) -> i1
    scf.condition(%c) %a : tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>):
    // CHECK: inlay.relu {{.*}}inlay.dims = [#[[N]]]
    %0 = inlay.relu %a : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  // CHECK: } attributes {inlay.dims = [#[[N]]]}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = scf.for %k = %c0 to %c9 step %c1 iter_args(%a = %r) -> tensor<?xf32> {
    // CHECK: inlay.tanh {{.*}}inlay.dims = [#[[N]]]
    %0 = inlay.tanh %a : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  // CHECK: } {inlay.dims = [#[[N]]]}
  return %s : tensor<?xf32>
}

// -----

// If the dims change from iteration to iteration, nothing is known about the values in the loop.
// CHECK-LABEL: func.func @growing(
func.func @growing(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // CHECK: scf.for
  // CHECK-NOT: inlay.dims
  %s = scf.for %k = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %0 = inlay.cat %a, %x dim 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  return %s : tensor<?xf32>
}

// -----

// The dims of a function's arguments get new symbols even if no op of the function is from the inlay dialect.
// CHECK-LABEL: func.func @foreign(
// CHECK-SAME:    inlay.symbols = [#inlay.symbol<"arg1[0]"
func.func @foreign(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
