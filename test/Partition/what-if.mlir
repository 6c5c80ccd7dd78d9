// The what-if analysis for more ops on the first target, and the sweep of minimum block sizes. what-if-random.test
// compares them with real partitions.
// RUN: inlay-opt %s --inlay-partition="what-if=true sweep=true report=%t.json" -o /dev/null
// RUN: %python -m json.tool %t.json | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition="what-if=true sweep=true" --inlay-partition-report=format=table -o /dev/null | FileCheck %s --check-prefix=TABLE
// RUN: inlay-opt %s --inlay-partition="what-if=true sweep=true report=%t.html" -o /dev/null
// RUN: %python %S/Inputs/check_page.py %t.html sorts=5
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: inlay-opt %s --inlay-partition="what-if=true sweep=true" | FileCheck %s --check-prefix=IR
// RUN: inlay-opt %s --inlay-partition="what-if=true sweep=true" --inlay-partition-inline-segments | FileCheck %s --check-prefix=DISSOLVED
// RUN: inlay-opt %s --inlay-partition=report=- -o /dev/null | FileCheck %s --implicit-check-not=what_if --implicit-check-not=min_block_sizes --check-prefix=NOT

// The chain is a u a v a w a: each kind alone saves two segments, and the others add to this. The forced kind is not
// considered.
// JSON: "what_if": {
// JSON-NEXT: "target": "npu",
// JSON-NEXT: "now": {
// JSON-NEXT: "segments": 9,
// JSON-NEXT: "accelerated_segments": 5,
// JSON-NEXT: "ops": 9,
// JSON-NEXT: "accelerated_ops": 5,
// JSON-NEXT: "border_bytes": 160
// JSON-NEXT: },
// JSON: "kinds": [
// JSON: "w"
// JSON-NEXT: ],
// JSON-NEXT: "count": 2,
// JSON-NEXT: "segments": 5,
// JSON-NEXT: "accelerated_segments": 3,
// JSON-NEXT: "ops": 9,
// JSON-NEXT: "accelerated_ops": 7,
// JSON-NEXT: "border_bytes": 96,
// JSON-NEXT: "segments_saved": 4
// JSON: "together": [
// JSON: "pairs": [
// JSON: "pairs_tried": 3,
// JSON-NEXT: "pairs_there_are": 3
// JSON: "min_block_sizes": [
// JSON: "min_block_size": 2,
// JSON-NEXT: "segments": 1,

// TABLE: what if 'npu' ran more:
// TABLE-NEXT: segments accelerated its ops borders
// TABLE-NEXT: 9 5 5 160 B current
// TABLE-NEXT: by itself:
// TABLE-NEXT: 5 3 7 96 B 2x w
// TABLE-NEXT: 7 4 6 128 B 1x u
// TABLE-NEXT: 7 4 6 128 B 1x v
// TABLE-NEXT: together, a further kind each time:
// TABLE-NEXT: 3 2 8 64 B 3x u + w
// TABLE-NEXT: 1 1 9 32 B 4x u + v + w
// TABLE-NEXT: the best pairs of 3 tried:
// TABLE-NEXT: 3 2 8 64 B 3x u + w
// TABLE-NEXT: 3 2 8 64 B 3x v + w
// TABLE-NEXT: 5 3 7 96 B 2x u + v
// TABLE-NEXT: min_block_size:
// TABLE-NEXT: size segments accelerated its ops borders
// TABLE-NEXT: 1 9 5 5 160 B
// TABLE-NEXT: 2 1 0 0 0 B

// PAGE: <h2>What if <code>npu</code> ran more?</h2>
// PAGE: <td class="mono">w</td><td class="n" data-v="2">2</td><td class="n" data-v="5">5 <span class="less">−4</span></td>
// PAGE: <td class="n" data-v="7">7 <span class="less">+2</span></td>
// PAGE: <h2>What if segments had another minimum size?</h2>
// PAGE: <td class="n" data-v="2">2</td>{{.*}}<span class="more">−5</span>{{.*}}width:0px

// IR: inlay.partition = {
// IR-SAME: min_block_sizes = [
// IR-SAME: what_if = {
// DISSOLVED-NOT: what_if
// NOT: "witness"

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["a"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @chain(%x: !t) -> !t {
    %0 = inlay.opaque "a"(%x) : (!t) -> !t
    %1 = inlay.opaque "u"(%0) : (!t) -> !t
    %2 = inlay.opaque "a"(%1) : (!t) -> !t
    %3 = inlay.opaque "v"(%2) : (!t) -> !t
    %4 = inlay.opaque "a"(%3) : (!t) -> !t
    %5 = inlay.opaque "w"(%4) : (!t) -> !t
    %6 = inlay.opaque "a"(%5) : (!t) -> !t
    %7 = inlay.opaque "w"(%6) : (!t) -> !t
    %8 = inlay.opaque "a"(%7) : (!t) -> !t
    return %8 : !t
  }
}
