// After partitioning and inlining, a graph has the same ops on the same values as before: with labels as names, its
// sorted lines are equal.
// RUN: inlay-opt %s --mlir-use-nameloc-as-prefix | sort > %t.before
// RUN: inlay-opt %s --inlay-partition --inlay-partition-inline-segments --mlir-use-nameloc-as-prefix | sort > %t.after
// RUN: inlay-opt %s --inlay-partition="strategy=in-order" --inlay-partition-inline-segments --mlir-use-nameloc-as-prefix | sort > %t.order
// RUN: inlay-opt %s --inlay-partition="min-block-size=3" --inlay-partition-inline-segments --mlir-use-nameloc-as-prefix | sort > %t.size
// RUN: diff %t.before %t.after
// RUN: diff %t.before %t.order
// RUN: diff %t.before %t.size
// RUN: inlay-opt %s --inlay-partition --mlir-use-nameloc-as-prefix | sort > %t.partitioned
// RUN: not diff %t.before %t.partitioned
// RUN: inlay-opt %s --inlay-partition --inlay-partition-inline-segments | FileCheck %s

// CHECK-NOT: inlay.segment
// CHECK-NOT: inlay.verdict
// CHECK-NOT: inlay.witness
// CHECK-NOT: inlay.clone

!t = tensor<4x4xf32>
!l = !inlay.list<!t>
#npu = #inlay.declared<"npu", ["aten::add", "aten::mul", "aten::cat", "aten::split", "prim::ListConstruct", "scf.if"]>
module attributes {inlay.targets = [#npu, #inlay.declared<"host", ["*"]>]} {
  // There are three segments. Two of them use both constants.
  func.func @dependency_awareness(%x: !t, %y: !t) -> tensor<16x4xf32> {
    %c0 = arith.constant 0 : i64 loc("c0")
    %c1 = arith.constant 1 : i64 loc("c1")
    %a = inlay.opaque "aten::add"(%x, %y, %c1) : (!t, !t, i64) -> !t loc("a")
    %lx = inlay.opaque "aten::lgamma"(%x, %c1) : (!t, i64) -> !t loc("lx")
    %m = inlay.opaque "aten::mul"(%x, %y, %c0) : (!t, !t, i64) -> !t loc("m")
    %ly = inlay.opaque "aten::lgamma"(%y, %c0) : (!t, i64) -> !t loc("ly")
    %l = inlay.opaque "prim::ListConstruct"(%lx, %ly, %a, %m) : (!t, !t, !t, !t) -> !l loc("l")
    %out = inlay.opaque "aten::cat"(%l, %c0) : (!l, i64) -> tensor<16x4xf32> loc("out")
    return %out : tensor<16x4xf32>
  }

  // Lists are cloned: one from the host into two accelerator segments, and one that is made of another.
  func.func @lists(%x: !t) -> (!t, !t, !t) {
    %k = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l loc("k")
    %e = inlay.opaque "prim::ListConstruct"() : () -> !l loc("e")
    %p = inlay.opaque "prim::ListConstruct"(%k, %e) : (!l, !l) -> !inlay.list<!l> loc("p")
    %ca = inlay.opaque "aten::cat"(%k) : (!l) -> !t loc("ca")
    %cb = inlay.opaque "aten::cat"(%p, %ca) : (!inlay.list<!l>, !t) -> !t loc("cb")
    %sa = inlay.opaque "aten::sum"(%p, %cb) : (!inlay.list<!l>, !t) -> !t loc("sa")
    %cc = inlay.opaque "aten::cat"(%p, %sa) : (!inlay.list<!l>, !t) -> !t loc("cc")
    %sb = inlay.opaque "aten::sum"(%k, %e) : (!l, !l) -> !t loc("sb")
    return %ca, %cc, %sb : !t, !t, !t
  }

  // Two equal lists stay separate, also if some op changes them.
  func.func @equal_lists(%x: !t) -> (!t, !t, !t) {
    %k = inlay.opaque "prim::ListConstruct"(%x) : (!t) -> !l loc("k")
    %j = inlay.opaque "prim::ListConstruct"(%x) : (!t) -> !l loc("j")
    %w = inlay.opaque "prim::ListConstruct"(%x) : (!t) -> !l loc("w")
    inlay.opaque "aten::append"(%w, %x) writes [0] : (!l, !t) -> () loc("append")
    %ck = inlay.opaque "aten::cat"(%k) : (!l) -> !t loc("ck")
    %cj = inlay.opaque "aten::cat"(%j) : (!l) -> !t loc("cj")
    %s = inlay.opaque "aten::sum"(%k, %j, %w) : (!l, !l, !l) -> !t loc("s")
    return %ck, %cj, %s : !t, !t, !t
  }

  // Split control flow with captures, a constant that only its regions use, and a constant that all ops use.
  func.func @nested(%x: !t, %c: i1) -> (!t, !t) {
    %i0 = arith.constant 0 : index loc("i0")
    %i1 = arith.constant 1 : index loc("i1")
    %i9 = arith.constant 9 : index loc("i9")
    %w = arith.constant dense<2.0> : !t loc("w")
    %v = arith.constant dense<3.0> : !t loc("v")
    %a = inlay.opaque "aten::mul"(%x, %w) : (!t, !t) -> !t loc("a")
    %b = inlay.opaque "aten::lgamma"(%x) : (!t) -> !t loc("b")
    %f = scf.for %i = %i0 to %i9 step %i1 iter_args(%s = %a) -> !t {
      %d = inlay.opaque "aten::add"(%s, %b) : (!t, !t) -> !t loc("d")
      %r = scf.if %c -> !t {
        %g = inlay.opaque "aten::lgamma"(%d, %w) : (!t, !t) -> !t loc("g")
        %h = inlay.opaque "aten::mul"(%g, %v) : (!t, !t) -> !t loc("h")
        scf.yield %h : !t
      } else {
        %j = inlay.opaque "aten::mul"(%a, %v) : (!t, !t) -> !t loc("j")
        scf.yield %j : !t
      } loc("r")
      %k = inlay.opaque "aten::mul"(%r, %r) : (!t, !t) -> !t loc("k")
      scf.yield %k : !t
    } loc("f")
    %o = scf.if %c -> !t {
      %p = inlay.opaque "aten::mul"(%f, %w) : (!t, !t) -> !t loc("p")
      scf.yield %p : !t
    } else {
      scf.yield %b : !t
    } loc("o")
    %q = inlay.opaque "aten::lgamma"(%o, %v) : (!t, !t) -> !t loc("q")
    return %o, %q : !t, !t
  }

  func.func @nothing_to_do(%x: !t) -> !t {
    return %x : !t
  }

  func.func private @declared(!t) -> !t
}
