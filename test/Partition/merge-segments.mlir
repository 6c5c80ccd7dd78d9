// RUN: inlay-opt %s --inlay-partition-merge-segments --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-partition-merge-segments --remarks-filter=inlay-partition --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] Merge | Category:inlay-partition | ops=2, target=npu

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
!t = tensor<4xf32>
!l = !inlay.list<!t>

// A value that only the second segment reads is no result. A value that both read is one input.
// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]]:2 = inlay.segment #inlay.declared<"npu", ["*"]>(%[[X]], %[[Y]]) : {{.*}} -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[N:.*]] = inlay.neg %[[A]]
// CHECK-NEXT: %[[E:.*]] = inlay.exp %[[A]]
// CHECK-NEXT: %[[S:.*]] = inlay.add %[[N]], %[[A]]
// CHECK-NEXT: %[[M:.*]] = inlay.mul %[[S]], %[[B]]
// CHECK-NEXT: inlay.yield %[[E]], %[[M]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @chain(%x: !t, %y: !t) -> (!t, !t) {
  %0:2 = inlay.segment #npu(%x) : (!t) -> (!t, !t) {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    %2 = inlay.exp %a : (!t) -> !t
    inlay.yield %1, %2 : !t, !t
  }
  %3 = inlay.segment #npu(%0#0, %x, %y) : (!t, !t, !t) -> !t {
  ^bb0(%a: !t, %b: !t, %c: !t):
    %1 = inlay.add %a, %b : (!t, !t) -> !t
    %2 = inlay.mul %1, %c : (!t, !t) -> !t
    inlay.yield %2 : !t
  }
  return %0#1, %3 : !t, !t
}

// CHECK-LABEL: func @three
// CHECK-COUNT-1: inlay.segment
// CHECK: inlay.neg
// CHECK-NEXT: inlay.exp
// CHECK-NEXT: inlay.sin
// CHECK-NEXT: inlay.yield
// CHECK-NOT: inlay.segment
func.func @three(%x: !t) -> !t {
  %0 = inlay.segment #npu(%x) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %2 = inlay.segment #npu(%0) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.exp %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %3 = inlay.segment #npu(%2) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.sin %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  return %3 : !t
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
!t = tensor<4xf32>

// Open segments keep their captures. An input that is passed through stays one input.
// CHECK-LABEL: func @open
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = inlay.segment #inlay.declared<"npu", ["*"]>(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[N:.*]] = inlay.add %[[A]], %[[Y]]
// CHECK-NEXT: %[[M:.*]] = inlay.mul %[[N]], %[[A]]
// CHECK-NEXT: %[[S:.*]] = inlay.add %[[M]], %[[Y]]
// CHECK-NEXT: inlay.yield %[[S]]
// CHECK: return %[[R]]
func.func @open(%x: !t, %y: !t) -> !t {
  %0:2 = inlay.segment #npu(%x) : (!t) -> (!t, !t) {
  ^bb0(%a: !t):
    %1 = inlay.add %a, %y : (!t, !t) -> !t
    inlay.yield %1, %a : !t, !t
  }
  %2 = inlay.segment #npu(%0#1) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.mul %0#0, %a : (!t, !t) -> !t
    %3 = inlay.add %1, %y : (!t, !t) -> !t
    inlay.yield %3 : !t
  }
  return %2 : !t
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
!t = tensor<4xf32>

// Segments are not merged if they have different targets, `do_not_merge`, or an op between them.
// CHECK-LABEL: func @apart
// CHECK-COUNT-5: inlay.segment
func.func @apart(%x: !t) -> !t {
  %0 = inlay.segment #npu(%x) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %2 = inlay.segment #host(%0) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %3 = inlay.segment #host(%2) do_not_merge : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %4 = inlay.segment #host(%3) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  %5 = inlay.neg %4 : (!t) -> !t
  %6 = inlay.segment #host(%5) : (!t) -> !t {
  ^bb0(%a: !t):
    %1 = inlay.neg %a : (!t) -> !t
    inlay.yield %1 : !t
  }
  return %6 : !t
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
!t = tensor<4xf32>
!l = !inlay.list<!t>
module attributes {inlay.targets = [#npu, #host]} {
  // A constant of both segments is merged, and so is the clone of a list whose original is in the same segment now.
  // CHECK-LABEL: func @copies
  // CHECK: inlay.segment
  // CHECK-COUNT-1: arith.constant
  // CHECK-NEXT: %[[L:.*]] = inlay.opaque "prim::ListConstruct"
  // CHECK-NEXT: "aten::cat"(%[[L]],
  // CHECK-NEXT: "aten::cat"(%[[L]],
  // CHECK-NEXT: inlay.yield
  // CHECK-NOT: inlay.clone
  func.func @copies(%x: !t) -> !t {
    %0 = inlay.segment #npu(%x) : (!t) -> !t {
    ^bb0(%a: !t):
      %k = arith.constant 1 : i64
      %1 = inlay.opaque "prim::ListConstruct"(%a) {inlay.clone} : (!t) -> !l
      %2 = inlay.opaque "aten::cat"(%1, %k) : (!l, i64) -> !t
      inlay.yield %2 : !t
    }
    %c = arith.constant 7 : i64
    %3 = inlay.segment #npu(%0, %x) : (!t, !t) -> !t {
    ^bb0(%a: !t, %b: !t):
      %k = arith.constant 1 : i64
      %1 = inlay.opaque "prim::ListConstruct"(%b) {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (!t) -> !l
      %2 = inlay.opaque "aten::cat"(%1, %a, %k) : (!l, !t, i64) -> !t
      inlay.yield %2 : !t
    }
    return %3 : !t
  }

  // Segments in regions of control flow are merged too. Unused results are removed.
  // CHECK-LABEL: func @regions
  // CHECK: do_not_merge
  // CHECK: scf.if
  // CHECK-COUNT-1: inlay.segment #inlay.declared<"npu", ["*"]>({{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: else
  func.func @regions(%x: !t, %c: i1) -> !t {
    %0 = inlay.segment #host(%x, %c) do_not_merge : (!t, i1) -> !t {
    ^bb0(%a: !t, %d: i1):
      %1 = scf.if %d -> !t {
        %2:2 = inlay.segment #npu(%a) : (!t) -> (!t, !t) {
        ^bb0(%b: !t):
          %3 = inlay.neg %b : (!t) -> !t
          inlay.yield %3, %b : !t, !t
        }
        %4 = inlay.segment #npu(%2#0) : (!t) -> !t {
        ^bb0(%b: !t):
          %3 = inlay.neg %b : (!t) -> !t
          inlay.yield %3 : !t
        }
        scf.yield %4 : !t
      } else {
        scf.yield %a : !t
      }
      inlay.yield %1 : !t
    }
    return %0 : !t
  }
}
