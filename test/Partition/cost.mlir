// The cost strategy places ops such that compute, transfers and launches take the least time together.
// RUN: inlay-opt %s --split-input-file --inlay-partition="strategy=cost cost-model=%S/Inputs/cost-model.json" | FileCheck %s
// RUN: inlay-opt %s --split-input-file --inlay-partition="strategy=cost cost-model=%S/Inputs/cost-model.json report=-" -o /dev/null | FileCheck %s --check-prefix=JSON

// A launch and two transfers are not worth 3 us of work.
// CHECK-LABEL: func @small_segments_stay_on_the_host
// CHECK-COUNT-1: inlay.segment #inlay.declared<"host"
// CHECK: #inlay.verdict<"host", "cost", "host 3.00 us here, npu 3.00 us + 14.0 us of launch and transfers">
// CHECK: #inlay.verdict<"host", "no-converter"
// CHECK: #inlay.verdict<"host", "cost", "host 3.00 us here, npu 3.00 us + 14.0 us of launch and transfers">
// CHECK-NOT: inlay.segment
// JSON: "function": "small_segments_stay_on_the_host"
// JSON: "modelled_ns": 10000,
// JSON-NEXT: "placements_ns": {
// JSON-NEXT: "all_accelerated": 38000,
// JSON-NEXT: "all_host": 10000,
// JSON-NEXT: "chosen": 10000,
// JSON-NEXT: "lower_bound": 10000,
// JSON-NEXT: "min_block_5": 10000
!t = tensor<250xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @small_segments_stay_on_the_host(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "g"(%0) : (!t) -> !t
    %2 = inlay.opaque "f"(%1) : (!t) -> !t
    return %2 : !t
  }
}

// -----

// A product of 268 million FLOP is worth them. The op before it only moves along because its result is needed there.
// CHECK-LABEL: func @products_go_to_the_accelerator
// CHECK: inlay.segment #inlay.declared<"npu"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: aten::mm
// CHECK-NEXT: aten::relu
// CHECK-NEXT: inlay.yield
// JSON: "function": "products_go_to_the_accelerator"
!m = tensor<512x512xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @products_go_to_the_accelerator(%x: !m, %y: !m) -> !m {
    %0 = inlay.opaque "aten::mm"(%x, %y) : (!m, !m) -> !m
    %1 = inlay.opaque "aten::relu"(%0) : (!m) -> !m
    return %1 : !m
  }
}

// -----

// Ops that the user or a rule placed stay there at any cost.
// CHECK-LABEL: func @pins_stay
// CHECK: inlay.segment #inlay.declared<"npu"
// CHECK: f
// CHECK: inlay.segment #inlay.declared<"host"
// CHECK: aten::mm
!p = tensor<512x512xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @pins_stay(%x: !p) -> !p {
    %0 = inlay.opaque "f"(%x) {inlay.target = "npu"} : (!p) -> !p
    %1 = inlay.opaque "aten::mm"(%0, %x) {inlay.target = "host"} : (!p, !p) -> !p
    return %1 : !p
  }
}

// -----

// A list never crosses a border. Ops that pass a list move together or not at all.
// CHECK-LABEL: func @lists_stay_together
// CHECK-COUNT-1: inlay.segment #inlay.declared<"host"
// CHECK-NOT: inlay.segment
!l = tensor<250xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["split", "join", "inlay.list"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @lists_stay_together(%x: !l) -> !l {
    %0 = inlay.opaque "split"(%x) : (!l) -> !inlay.list<!l>
    %1 = inlay.opaque "join"(%0) : (!inlay.list<!l>) -> !l
    return %1 : !l
  }
}

// -----

// A loop counts as often as it runs. Ten iterations of a product are worth the transfers; one iteration is not.
// CHECK-LABEL: func @one_round
// CHECK: inlay.segment #inlay.declared<"host"
// CHECK-LABEL: func @ten_rounds
// CHECK: inlay.segment #inlay.declared<"npu"
// CHECK: scf.for
!r = tensor<96x96xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @one_round(%x: !r) -> !r {
    %1 = inlay.opaque "aten::mm"(%x, %x) : (!r, !r) -> !r
    return %1 : !r
  }
  func.func @ten_rounds(%x: !r) -> !r {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %ten = arith.constant 10 : index
    %0 = scf.for %i = %zero to %ten step %one iter_args(%v = %x) -> !r {
      %1 = inlay.opaque "aten::mm"(%v, %v) : (!r, !r) -> !r
      scf.yield %1 : !r
    }
    return %0 : !r
  }
}
