// RUN: inlay-opt %s --inlay-partition-inline-segments | FileCheck %s

#npu = #inlay.declared<"npu", ["*"]>
!t = tensor<4xf32>
!l = !inlay.list<!t>
module {
  // Segments that are open, that yield their inputs, and that are nested.
  // CHECK-LABEL: func @open_and_nested
  // CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
  // CHECK-NEXT: %[[A:.*]] = inlay.add %[[X]], %[[Y]]
  // CHECK-NEXT: %[[B:.*]] = inlay.neg %[[A]]
  // CHECK-NEXT: return %[[B]], %[[Y]]
  func.func @open_and_nested(%x: !t, %y: !t) -> (!t, !t) {
    %0:2 = inlay.segment #npu(%y) : (!t) -> (!t, !t) {
    ^bb0(%a: !t):
      %1 = inlay.segment #npu(%a) : (!t) -> !t {
      ^bb0(%b: !t):
        %2 = inlay.add %x, %b : (!t, !t) -> !t
        inlay.yield %2 : !t
      }
      %3 = inlay.neg %1 : (!t) -> !t
      inlay.yield %3, %a : !t, !t
    }
    return %0#0, %0#1 : !t, !t
  }

  // Equal constants of two branches are merged before both. Clones without an original are merged.
  // CHECK-LABEL: func @copies_alone
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.0
  // CHECK-NEXT: %[[R:.*]] = scf.if
  // CHECK-NEXT: inlay.neg %[[C]]
  // CHECK: else
  // CHECK-NEXT: inlay.exp %[[C]]
  // CHECK: %[[L:.*]] = inlay.opaque "prim::ListConstruct"(%{{.*}}) : (tensor<4xf32>)
  // CHECK-NEXT: inlay.opaque "f"(%[[L]], %[[L]], %[[R]])
  func.func @copies_alone(%x: !t, %c: i1) -> !t {
    %r = scf.if %c -> !t {
      %k = arith.constant dense<1.0> : !t
      %0 = inlay.neg %k : (!t) -> !t
      scf.yield %0 : !t
    } else {
      %k = arith.constant dense<1.0> : !t
      %0 = inlay.exp %k : (!t) -> !t
      scf.yield %0 : !t
    }
    %1 = inlay.opaque "prim::ListConstruct"(%x) {inlay.clone} : (!t) -> !l
    %2 = inlay.opaque "prim::ListConstruct"(%x) {inlay.clone} : (!t) -> !l
    %3 = inlay.opaque "f"(%1, %2, %r) : (!l, !l, !t) -> !t
    return %3 : !t
  }

  // Marks of unpacking and repacking only count if the ops really do so.
  // CHECK-LABEL: func @unpacked_elsewhere
  // CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
  // CHECK-NEXT: %[[R:.*]] = inlay.relu %[[X]]
  // CHECK-NEXT: %[[L:.*]] = inlay.list %[[R]]
  // CHECK-NEXT: return %[[L]]
  func.func @unpacked_elsewhere(%x: !t) -> !l {
    %0 = inlay.relu %x {inlay.unpacked} : (!t) -> !t
    %1 = inlay.list %0 {inlay.clone, inlay.unpacked} : (!t) -> !l
    return %1 : !l
  }

  // CHECK-LABEL: func @unpacked_argument
  // CHECK: inlay.list %arg0
  func.func @unpacked_argument(%x: !t) -> !l {
    %0 = inlay.list %x {inlay.clone, inlay.unpacked} : (!t) -> !l
    return %0 : !l
  }
}
