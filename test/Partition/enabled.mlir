// Without partitioning, the first target runs the graph as one segment, or there is an error.
// RUN: inlay-opt %s --inlay-partition="enabled=false min-block-size=9 strategy=in-order" --split-input-file | FileCheck %s

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::relu", "scf.if", "prim::ListConstruct", "aten::cat"]>,
                                    #inlay.declared<"host", ["*"]>]} {
  // The segment contains whole control flow and lists.
  // CHECK-LABEL: func @whole
  // CHECK-COUNT-1: inlay.segment #inlay.declared<"npu"
  // CHECK: "aten::relu"
  // CHECK: scf.if
  // CHECK: "aten::cat"
  // CHECK-NOT: inlay.segment
  func.func @whole(%x: !t, %c: i1) -> tensor<8xf32> {
    %0 = inlay.opaque "aten::relu"(%x) : (!t) -> !t
    %1 = scf.if %c -> !t {
      %2 = inlay.opaque "aten::relu"(%0) : (!t) -> !t
      scf.yield %2 : !t
    } else {
      scf.yield %0 : !t
    }
    %3 = inlay.opaque "prim::ListConstruct"(%1, %0) : (!t, !t) -> !inlay.list<!t>
    %4 = inlay.opaque "aten::cat"(%3) : (!inlay.list<!t>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }

  // CHECK-LABEL: func @empty
  // CHECK-NEXT: return
  func.func @empty(%x: !t) -> !t {
    return %x : !t
  }
}
