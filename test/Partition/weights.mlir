// Ops that only change the layout of a weight are cloned to its users, so no border carries it.
// RUN: inlay-opt %s --inlay-partition="report=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.json

!t = tensor<4x4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "mm", "aten::permute", "aten::reshape"]>,
                                    #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @shared
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: "aten::permute"({{.*}}) {inlay.verdict
  // CHECK-NEXT: "mm"
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: "aten::permute"({{.*}}) {inlay.clone}
  // CHECK-NEXT: "h"
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: "aten::permute"({{.*}}) {inlay.clone}
  // CHECK-NEXT: "mm"
  // CHECK-NOT: inlay.segment
  // REPORT: "segments": [
  // REPORT: "clones": [{{$}}
  // REPORT-NEXT: "p"
  // REPORT: "clones": [{{$}}
  // REPORT-NEXT: "p"
  // REPORT: "ops": [
  // REPORT: "label": "p"
  // REPORT-NEXT: "name": "aten::permute"
  // REPORT-NEXT: "target": "npu"
  // REPORT-NOT: "label": "p"
  func.func @shared(%x: !t) -> !t {
    %w = arith.constant dense<2.0> : !t
    %p = inlay.opaque "aten::permute"(%w) : (!t) -> !t loc("p")
    %0 = inlay.opaque "mm"(%x, %p) : (!t, !t) -> !t loc("a")
    %1 = inlay.opaque "h"(%0, %p) : (!t, !t) -> !t loc("b")
    %2 = inlay.opaque "mm"(%1, %p) : (!t, !t) -> !t loc("c")
    return %2 : !t
  }
}
