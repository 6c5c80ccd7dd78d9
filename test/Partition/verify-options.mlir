// RUN: inlay-opt %s --inlay-partition-verify
// RUN: not inlay-opt %s --inlay-partition-verify="min-block-size=2" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not inlay-opt %s --inlay-partition-verify="fallback-ops=aten::f" 2>&1 | FileCheck %s --check-prefix=FORCED
// SIZE: expected at least 2 ops on 'npu', but got 1
// FORCED: expected an op that must fall back on 'host', but got it on 'npu'

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #npu(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "aten::f"(%a) {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}
