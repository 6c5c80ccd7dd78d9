// RUN: inlay-opt %s --inlay-partition-form-segments --split-input-file --verify-diagnostics
// RUN: not inlay-opt %s --inlay-partition-form-segments="min-block-size=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not inlay-opt %s --inlay-partition-form-segments="strategy=best" 2>&1 | FileCheck %s --check-prefix=STRATEGY

// SIZE: error: expected min-block-size to be at least 1, but got 0
// STRATEGY: Cannot find option named 'best'!

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func @no_verdict(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 'inlay.verdict', but got none: run inlay-partition-annotate-targets first}}
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func @unknown_target(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a verdict for a target of the module, but got 'npu'}}
    %0 = inlay.relu %x {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected a function that is not partitioned, but got a segment}}
  func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{segment here}}
    %0 = inlay.segment #inlay.declared<"host", ["*"]>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      inlay.yield %a : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}
