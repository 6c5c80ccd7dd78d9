// Unregistered ops, of which only attributes are known.
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-partition | FileCheck %s

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["hlo.add", "hlo.dot", "hlo.constant"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  // They may have any effects, so they stay in order.
  // CHECK-LABEL: func @unknown
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "hlo.add"
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: "hlo.exp"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "hlo.dot"
  // CHECK-NOT: inlay.segment
  func.func @unknown(%a: !t, %b: !t) -> (!t, !t, !t) {
    %0 = "hlo.add"(%a, %b) : (!t, !t) -> !t
    %1 = "hlo.exp"(%a) : (!t) -> !t
    %2 = "hlo.dot"(%a, %b) : (!t, !t) -> !t
    return %0, %1, %2 : !t, !t, !t
  }

  // They state that they write nothing, so only uses order them. The constant is in no segment.
  // CHECK-LABEL: func @stated
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "hlo.exp"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "hlo.constant"
  // CHECK: "hlo.add"
  // CHECK: "hlo.dot"
  // CHECK-NOT: inlay.segment
  func.func @stated(%a: !t, %b: !t) -> (!t, !t, !t) {
    %c = "hlo.constant"() {inlay.constant, value = dense<1.0> : !t} : () -> !t
    %0 = "hlo.add"(%a, %c) {inlay.writes = array<i64>} : (!t, !t) -> !t
    %1 = "hlo.exp"(%a) {inlay.writes = array<i64>} : (!t) -> !t
    %2 = "hlo.dot"(%a, %c) {inlay.writes = array<i64>} : (!t, !t) -> !t
    return %0, %1, %2 : !t, !t, !t
  }

  // A write through a view is a write of its source.
  // CHECK-LABEL: func @written_through_a_view
  // CHECK: "hlo.add"
  // CHECK: "hlo.set"
  // CHECK: "hlo.dot"
  func.func @written_through_a_view(%a: !t, %b: !t) -> (!t, !t) {
    %0 = "hlo.add"(%a, %b) {inlay.writes = array<i64>} : (!t, !t) -> !t
    %v = "hlo.view"(%a) {inlay.writes = array<i64>, inlay.aliases = array<i64: 0>} : (!t) -> !t
    "hlo.set"(%v) {inlay.writes = array<i64: 0>} : (!t) -> ()
    %1 = "hlo.dot"(%a, %b) {inlay.writes = array<i64>} : (!t, !t) -> !t
    return %0, %1 : !t, !t
  }

  // CHECK-LABEL: func @neutral
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "hlo.add"
  // CHECK: "hlo.dot"
  // CHECK-NOT: inlay.segment
  func.func @neutral(%a: !t, %b: !t) -> !t {
    %0 = "hlo.add"(%a, %b) {inlay.neutral, inlay.writes = array<i64>} : (!t, !t) -> !t
    %1 = "hlo.dot"(%0, %b) {inlay.writes = array<i64>} : (!t, !t) -> !t
    return %1 : !t
  }
}
