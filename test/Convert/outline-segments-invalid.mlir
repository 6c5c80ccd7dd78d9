// RUN: inlay-opt %s --inlay-convert-outline-segments -split-input-file -verify-diagnostics

func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a closed segment, but its body uses values from around it}}
  %r = inlay.segment #inlay.host() : () -> tensor<4xf32> {
    inlay.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @in_control_flow(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    // expected-error @+1 {{expected segments at the top of a function: segments inside control flow can't be converted yet}}
    %0 = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      inlay.yield %a : tensor<4xf32>
    }
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @in_a_segment(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected segments at the top of a function}}
    %0 = inlay.segment #inlay.host(%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb1(%b: tensor<4xf32>):
      inlay.yield %b : tensor<4xf32>
    }
    inlay.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
