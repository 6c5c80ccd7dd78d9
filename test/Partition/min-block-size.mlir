// RUN: inlay-opt %s --inlay-partition="min-block-size=5" --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-partition="min-block-size=5 strategy=in-order" --split-input-file | FileCheck %s --check-prefix=ORDER

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  // `a` moves to the later segment, which is large enough with it.
  // CHECK-LABEL: func @room_to_move
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "f"{{.*}}<"host", "min-block-size", "fewer than 5 ops would run together on 'npu'">
  // CHECK-NEXT: "g"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK-COUNT-5: "f"{{.*}}<"npu", "supported", "">
  // CHECK-NOT: inlay.segment
  // ORDER-LABEL: func @room_to_move
  // ORDER: inlay.segment #inlay.declared<"host"
  // ORDER-NOT: inlay.segment
  // ORDER: return
  func.func @room_to_move(%x: !t) -> !t {
    %c0 = inlay.opaque "f"(%x) : (!t) -> !t
    %a = inlay.opaque "f"(%x) : (!t) -> !t
    %h = inlay.opaque "g"(%c0) : (!t) -> !t
    %b1 = inlay.opaque "f"(%h) : (!t) -> !t
    %b2 = inlay.opaque "f"(%b1) : (!t) -> !t
    %b3 = inlay.opaque "f"(%b2) : (!t) -> !t
    %b4 = inlay.opaque "f"(%b3, %a) : (!t, !t) -> !t
    return %b4 : !t
  }
}

// -----

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "h"]>, #inlay.declared<"dsp", ["f", "h"]>, #inlay.declared<"host", ["f"]>]} {
  // Ops go to the next target that can run them, repeatedly. Ops that no other target can run stay.
  // CHECK-LABEL: func @next_target
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "f"{{.*}}"min-block-size"
  func.func @next_target(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    return %0 : !t
  }
  // CHECK-LABEL: func @nowhere_to_go
  // CHECK: "h"{{.*}}<"dsp", "min-block-size"
  func.func @nowhere_to_go(%x: !t) -> !t {
    %0 = inlay.opaque "h"(%x) : (!t) -> !t
    return %0 : !t
  }
  // CHECK-LABEL: func @pinned
  // CHECK: "f"{{.*}}<"npu", "supported", "pinned to 'npu'">
  func.func @pinned(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) {inlay.target = "npu"} : (!t) -> !t
    return %0 : !t
  }
}

// -----

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "scf.if"]>, #inlay.declared<"host", ["*"]>]} {
  // Control flow is split if it is too small to run as a whole.
  // CHECK-LABEL: func @control_flow
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) do_not_merge
  // CHECK: scf.if
  // CHECK-NEXT: inlay.segment #inlay.declared<"host"
  // CHECK: "f"{{.*}}"min-block-size"
  // CHECK: {inlay.verdict = #inlay.verdict<"host", "min-block-size"
  func.func @control_flow(%x: !t, %c: i1) -> !t {
    %0 = scf.if %c -> !t {
      %1 = inlay.opaque "f"(%x) : (!t) -> !t
      scf.yield %1 : !t
    } else {
      scf.yield %x : !t
    }
    return %0 : !t
  }
}
