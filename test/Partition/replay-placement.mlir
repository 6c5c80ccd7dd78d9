// A replayed placement has the same segments, reasons and clones, whatever partitioning would decide now.
// RUN: inlay-opt %s --inlay-partition="fallback-locations=x,y min-block-size=2 strategy=in-order save-placement=%t.json report=%t.report" -o %t.first
// RUN: inlay-opt %s --inlay-partition="placement=%t.json report=%t.again" -o %t.second
// RUN: inlay-partition-diff %t.report %t.again
// RUN: FileCheck %s --input-file=%t.second
// RUN: inlay-compile %s --to=partition --placement=%t.json -o %t.third
// RUN: FileCheck %s --input-file=%t.third
// RUN: inlay-opt %s --inlay-partition-replay-placement=file=%t.json --inlay-partition-verify -o /dev/null

!t = tensor<4xf32>
!l = !inlay.list<!t>
module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @f
  // CHECK: "aten::mul"{{.*}}<"host", "fallback-location", "'x' matches 'x' in fallback-locations">
  // CHECK: scf.if
  // CHECK: "aten::mul"{{.*}}<"host", "fallback-location", "'y' matches 'y' in fallback-locations">
  func.func @f(%x: !t, %c: i1) -> tensor<8xf32> {
    %0 = inlay.opaque "aten::add"(%x) : (!t) -> !t
    %1 = inlay.opaque "aten::mul"(%0) : (!t) -> !t loc("x")
    %2 = inlay.opaque "prim::ListConstruct"(%1, %0) : (!t, !t) -> !l
    %3 = inlay.opaque "aten::cat"(%2) : (!l) -> tensor<8xf32>
    %4 = scf.if %c -> !t {
      %5 = inlay.opaque "aten::add"(%0) : (!t) -> !t
      %6 = inlay.opaque "aten::add"(%5) : (!t) -> !t
      %7 = inlay.opaque "aten::mul"(%6) : (!t) -> !t loc("y")
      scf.yield %7 : !t
    } else {
      scf.yield %0 : !t
    }
    %8 = inlay.opaque "aten::cat"(%2, %3, %4) : (!l, tensor<8xf32>, !t) -> tensor<8xf32>
    return %8 : tensor<8xf32>
  }

  // A list is cloned with its changes as before.
  // CHECK-LABEL: func @changed_list
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: %[[A:.*]] = inlay.opaque "prim::ListConstruct"({{.*}}) {inlay.clone
  // CHECK-NEXT: "aten::append"(%[[A]], {{.*}}inlay.clone
  // CHECK-NEXT: "aten::cat"(%[[A]])
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: %[[B:.*]] = inlay.opaque "prim::ListConstruct"
  // CHECK-NEXT: "aten::append"(%[[B]]
  // CHECK-NEXT: "aten::sum"(%[[B]])
  func.func @changed_list(%x: !t) -> (!t, !t) {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l
    inlay.opaque "aten::append"(%0, %x) writes [0] : (!l, !t) -> ()
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    %2 = inlay.opaque "aten::add"(%1) : (!t) -> !t
    %3 = inlay.opaque "aten::sum"(%0) : (!l) -> !t loc("x")
    return %2, %3 : !t, !t
  }
}
