// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition="report=%t.json" -o /dev/null && %python -m json.tool %t.json | FileCheck %s --check-prefix=FILE
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=TABLE
// RUN: inlay-opt %s --inlay-partition --remarks-filter=inlay-partition -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: inlay-opt %s --inlay-partition="strategy=in-order report=-" -o /dev/null | FileCheck %s --check-prefix=ORDER

// FILE: "version": 1

// JSON: "version": 1,
// JSON-NEXT: "function": "forward",
// JSON-NEXT: "segments": [
// JSON-NEXT: {
// JSON-NEXT: "id": 0,
// JSON-NEXT: "target": "npu",
// JSON-NEXT: "parent": null,
// JSON-NEXT: "ops": [
// JSON-NEXT: "a"
// JSON-NEXT: ],
// JSON-NEXT: "clones": [
// JSON-NEXT: "l"
// JSON-NEXT: ],
// JSON-NEXT: "do_not_merge": false,
// JSON-NEXT: "inputs": [
// JSON-NEXT: {
// JSON-NEXT: "type": "tensor<4x4xf32>",
// JSON-NEXT: "from": "arg#0",
// JSON-NEXT: "segment": null
// JSON-NEXT: }
// JSON-NEXT: ],
// JSON-NEXT: "outputs": [
// JSON-NEXT: {
// JSON-NEXT: "type": "tensor<4x4xf32>",
// JSON-NEXT: "from": "a"
// JSON-NEXT: }
// JSON-NEXT: ],
// JSON-NEXT: "bytes_in": 64,
// JSON-NEXT: "bytes_out": 64
// JSON: "id": 1,
// JSON-NEXT: "target": "host",
// JSON: "ops": [
// JSON-NEXT: "l",
// JSON-NEXT: "s"
// JSON-NEXT: ],
// JSON-NEXT: "clones": [],
// JSON: "from": "a",
// JSON-NEXT: "segment": 0
// JSON: "from": "s:1"
// JSON: "bytes_in": 128,
// JSON-NEXT: "bytes_out": null
// JSON: "id": 2,
// JSON: "ops": [
// JSON-NEXT: "if"
// JSON-NEXT: ],
// JSON: "do_not_merge": true,
// JSON: "id": 3,
// JSON-NEXT: "target": "npu",
// JSON-NEXT: "parent": {
// JSON-NEXT: "op": "if",
// JSON-NEXT: "region": 0
// JSON-NEXT: },
// JSON: "from": "s:1"
// JSON: "id": 4,
// JSON: ],
// JSON: "label": "a",
// JSON-NEXT: "name": "aten::cat",
// JSON-NEXT: "target": "npu",
// JSON-NEXT: "segment": 0,
// JSON-NEXT: "reason": {
// JSON-NEXT: "code": "supported",
// JSON-NEXT: "text": "",
// JSON-NEXT: "caused_by": null
// JSON: "label": "l",
// JSON: "code": "non-tensor",
// JSON: "caused_by": "s"
// JSON: "summary": {
// JSON-NEXT: "ops": 6,
// JSON-NEXT: "accelerated_ops": 2,
// JSON-NEXT: "segments": 5,
// JSON-NEXT: "accelerated_segments": 2,
// JSON-NEXT: "lower_bound": 3,

// TABLE: @forward: 6 ops in 5 segments
// TABLE: 0 npu 1 64 B 64 B a + clones of l
// TABLE-NEXT: 1 host 2 128 B ? l s
// TABLE-NEXT: 2 host 1 ? ? if (not merged)
// TABLE-NEXT: 3 npu 1 ? ? t (in region 0 of if)
// TABLE: npu: 2 ops in 2 segments
// TABLE: across accelerator borders: at least 128 B
// TABLE: fallback:
// TABLE: 1x control-flow: scf.if: scf.if is not among the ops that 'npu' declares [if]
// TABLE: 1x non-tensor: prim::ListConstruct: its result is needed outside of accelerators [l<-s]
// TABLE: lower bound: 3 segments, so no fewer are possible

// REMARK-DAG: loc("l"): [Missed] Fallback | Category:inlay-partition | Reason="prim::ListConstruct: its result is needed outside of accelerators", caused_by=s, code=non-tensor, target=host
// REMARK-DAG: loc("a"): [Passed] Segment | Category:inlay-partition | clones=1, ops=1, target=npu

// ORDER: "lower_bound": 3,
// ORDER: "witness": []

!t = tensor<4x4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["prim::ListConstruct", "aten::cat", "f"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @forward(%x: !t, %c: i1) -> (tensor<?xf32>, !t) {
    %l = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !inlay.list<!t> loc("l")
    %a = inlay.opaque "aten::cat"(%l) : (!inlay.list<!t>) -> !t loc("a")
    %s:2 = inlay.opaque "g"(%l, %a) : (!inlay.list<!t>, !t) -> (!t, tensor<?xf32>) loc("s")
    %i = scf.if %c -> tensor<?xf32> {
      %t = inlay.opaque "f"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("t")
      scf.yield %t : tensor<?xf32>
    } else {
      %e = inlay.opaque "g"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("e")
      scf.yield %e : tensor<?xf32>
    } loc("if")
    return %i, %s#0 : tensor<?xf32>, !t
  }
}
