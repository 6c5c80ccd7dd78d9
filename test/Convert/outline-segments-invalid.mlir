// RUN: inlay-opt %s --inlay-convert-outline-segments -split-input-file -verify-diagnostics

func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a closed segment, but its body uses values from around it}}
  %r = inlay.segment #inlay.host() : () -> tensor<4xf32> {
    inlay.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @in_a_segment(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected segments at the top level of a function or in control flow that is alone in a segment}}
    %0 = inlay.segment #inlay.host(%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb1(%b: tensor<4xf32>):
      inlay.yield %b : tensor<4xf32>
    }
    inlay.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @beside_control_flow(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %p: i1):
    %0 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = scf.if %p -> tensor<4xf32> {
      // expected-error @+1 {{expected segments at the top level of a function or in control flow that is alone in a segment}}
      %2 = inlay.segment #inlay.host(%0) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb1(%b: tensor<4xf32>):
        inlay.yield %b : tensor<4xf32>
      }
      scf.yield %2 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    inlay.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @other_control_flow(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x, %i) do_not_merge : (tensor<4xf32>, index) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %n: index):
    // expected-error @+1 {{expected control flow with segments to be scf.if, scf.for or scf.while}}
    %0 = scf.index_switch %n -> tensor<4xf32>
    default {
      scf.yield %a : tensor<4xf32>
    }
    inlay.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
