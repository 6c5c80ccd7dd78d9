// With a cost model, the report has the modeled time of each segment, for any strategy.
// RUN: inlay-opt %s --inlay-partition="cost-model=%S/Inputs/cost-model.json report=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition="cost-model=%S/Inputs/cost-model.json" --inlay-partition-report="format=text" -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: inlay-opt %s --inlay-partition="cost-model=%S/Inputs/cost-model.json" --inlay-partition-report="format=html" -o /dev/null | FileCheck %s --check-prefix=HTML
// HTML: <i>modeled time</i><b>{{[0-9.]+ us}}</b>
// HTML: 17.0 us
// RUN: inlay-opt %s --inlay-partition="cost-model=%S/Inputs/cost-model.json" | FileCheck %s --check-prefix=ATTRIBUTE
// The module carries the model afterwards, so another pass can read it.
// RUN: inlay-opt %s --inlay-partition="cost-model=%S/Inputs/cost-model.json" | inlay-opt --inlay-partition-report -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition="cost-model=default report=-" -o /dev/null | FileCheck %s --check-prefix=DEFAULT
// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s --check-prefix=NONE

// 2000 bytes are 2 us and each op 1 us; a value of 1000 bytes takes 1 us and 1 us to the accelerator and back.
// JSON: "id": 0,
// JSON: "modelled_ns": {
// JSON-NEXT: "compute": 3000,
// JSON-NEXT: "launch": 10000,
// JSON-NEXT: "transfer_in": 2000,
// JSON-NEXT: "transfer_out": 2000,
// JSON-NEXT: "total": 17000
// JSON: "id": 1,
// JSON: "modelled_ns": {
// JSON-NEXT: "compute": 3000,
// JSON-NEXT: "launch": 1000,
// JSON-NEXT: "transfer_in": 0,
// JSON-NEXT: "transfer_out": 0,
// JSON-NEXT: "total": 4000
// JSON: "id": 2,
// JSON: "total": 17000
// JSON: "summary": {
// JSON: "modelled_ns": 38000,
// JSON-NEXT: "placements_ns": {
// JSON-NEXT: "all_accelerated": 38000,
// JSON-NEXT: "all_host": 10000,
// JSON-NEXT: "chosen": 38000,
// JSON-NEXT: "min_block_5": 10000
// JSON-NEXT: }

// TEXT: Segment Block @0:
// TEXT-NEXT: Target: npu
// TEXT-NEXT: Time: 17.0 us (compute 3.00 us, launch 10.0 us, in 2.00 us, out 2.00 us)
// TEXT: modeled time: 38.0 us (all_accelerated 38.0 us, all_host 10.0 us, chosen 38.0 us, min_block_5 10.0 us)

// ATTRIBUTE: inlay.cost_model = {targets = {host = {launch_seconds = {{.*}}, op_seconds = {{.*}}, throughput = {

// DEFAULT: "modelled_ns"
// NONE-NOT: modelled_ns
// NONE-NOT: placements_ns

!t = tensor<250xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @forward(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t loc("f1")
    %1 = inlay.opaque "g"(%0) : (!t) -> !t loc("g")
    %2 = inlay.opaque "f"(%1) : (!t) -> !t loc("f2")
    return %2 : !t
  }
}
