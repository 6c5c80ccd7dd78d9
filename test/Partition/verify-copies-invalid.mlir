// Locations that are names alone, as notes have them.
// RUN: not inlay-opt %s --inlay-partition-verify --split-input-file 2>&1 | FileCheck %s

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @other_operands(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    %3 = inlay.segment #host(%0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // CHECK: loc("one"): 'inlay.opaque' op expected a copy with the operands of its original
      // CHECK: loc("one"): original here
      %1 = inlay.opaque "f"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      %2 = inlay.opaque "g"(%1) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("two")
      inlay.yield %2 : tensor<4xf32>
    }
    return %3 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @other_name(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      // CHECK: loc("one"): 'inlay.opaque' op expected a copy with the attributes of its original
      // CHECK: loc("one"): original here
      %2 = inlay.opaque "g"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}
