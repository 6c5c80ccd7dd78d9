// RUN: inlay-opt %s --inlay-partition --split-input-file | FileCheck %s

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "scf.if", "scf.for", "scf.while"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @wholly_on_the_accelerator
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "f"
  // CHECK: scf.if
  // CHECK-NOT: inlay.segment
  // CHECK: {inlay.verdict = #inlay.verdict<"npu", "supported", "">}
  // CHECK-NOT: inlay.segment
  func.func @wholly_on_the_accelerator(%x: !t, %c: i1) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = scf.if %c -> !t {
      %2 = inlay.opaque "f"(%0) : (!t) -> !t
      scf.yield %2 : !t
    } else {
      scf.yield %0 : !t
    }
    return %1 : !t
  }

  // Captures are inputs of the segment. The regions are split into segments.
  // CHECK-LABEL: func @split
  // CHECK: %[[A:.*]] = inlay.segment #inlay.declared<"npu"
  // CHECK: %[[IF:.*]] = inlay.segment #inlay.declared<"host", ["*"]>(%arg1, %[[A]]) do_not_merge
  // CHECK-NEXT: ^bb0(%[[C:.*]]: i1, %[[V:.*]]: tensor<4xf32>):
  // CHECK-NEXT: scf.if %[[C]]
  // CHECK-NEXT: inlay.segment #inlay.declared<"npu", {{.*}}>(%[[V]])
  // CHECK: "f"
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "g"{{.*}}"no-converter"
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[V]]
  // CHECK: <"host", "control-flow", "g is not among the ops that 'npu' declares", "blocker">
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>(%[[IF]])
  func.func @split(%x: !t, %c: i1) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = scf.if %c -> !t {
      %2 = inlay.opaque "f"(%0) : (!t) -> !t
      %3 = inlay.opaque "g"(%2) : (!t) -> !t loc("blocker")
      scf.yield %3 : !t
    } else {
      scf.yield %0 : !t
    }
    %4 = inlay.opaque "f"(%1) : (!t) -> !t
    return %4 : !t
  }

  // CHECK-LABEL: func @nested
  // CHECK: do_not_merge
  // CHECK: scf.for
  // CHECK: inlay.segment {{.*}} do_not_merge
  // CHECK: scf.if
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: arith.constant
  // CHECK: "g"
  func.func @nested(%x: !t, %c: i1) -> !t {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %w = arith.constant dense<2.0> : !t
    %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> !t {
      %1 = scf.if %c -> !t {
        %2 = inlay.opaque "g"(%a, %w) : (!t, !t) -> !t
        scf.yield %2 : !t
      } else {
        scf.yield %a : !t
      }
      scf.yield %1 : !t
    }
    return %0 : !t
  }

  // CHECK-LABEL: func @while
  // CHECK: scf.while
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "cond"
  // CHECK: scf.condition
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "f"
  // CHECK: scf.yield
  func.func @while(%x: !t) -> !t {
    %0 = scf.while (%a = %x) : (!t) -> !t {
      %1 = inlay.opaque "cond"(%a) : (!t) -> i1
      scf.condition(%1) %a : !t
    } do {
    ^bb0(%a: !t):
      %1 = inlay.opaque "f"(%a) : (!t) -> !t
      scf.yield %1 : !t
    }
    return %0 : !t
  }

  // An isolated op is not merged with adjacent ops of the same target.
  // CHECK-LABEL: func @not_merged
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>(%arg0) :
  // CHECK: "g"
  // CHECK: inlay.segment {{.*}} do_not_merge
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) :
  // CHECK: "g"
  func.func @not_merged(%x: !t, %c: i1) -> !t {
    %0 = inlay.opaque "g"(%x) : (!t) -> !t
    %1 = scf.if %c -> !t {
      %2 = inlay.opaque "g"(%0) : (!t) -> !t
      scf.yield %2 : !t
    } else {
      scf.yield %0 : !t
    }
    %3 = inlay.opaque "g"(%1) : (!t) -> !t
    return %3 : !t
  }

  // The terminator of scf.forall contains ops. Values that they read leave their segments.
  // CHECK-LABEL: func @ends_with_ops
  // CHECK: = scf.forall
  // CHECK: %[[S:.*]] = inlay.segment #inlay.declared<"host", ["*"]>(
  // CHECK: %[[F:.*]] = inlay.segment #inlay.declared<"npu", {{.*}}>(%[[S]]) :
  // CHECK: scf.forall.in_parallel
  // CHECK-NEXT: tensor.parallel_insert_slice %[[F]]
  func.func @ends_with_ops(%x: !t) -> !t {
    %0 = scf.forall (%i) in (4) shared_outs(%o = %x) -> !t {
      %1 = tensor.extract_slice %x[%i] [1] [1] : !t to tensor<1xf32>
      %2 = inlay.opaque "f"(%1) : (tensor<1xf32>) -> tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %2 into %o[%i] [1] [1] : tensor<1xf32> into !t
      }
    }
    return %0 : !t
  }
}
