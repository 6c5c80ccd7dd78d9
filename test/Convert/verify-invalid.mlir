// RUN: inlay-opt %s --inlay-convert-verify -split-input-file -verify-diagnostics

func.func @segment(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'inlay.segment' op expected every segment to be converted, but this op remains}}
  %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    inlay.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @graph_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'inlay.relu' op expected every segment to be converted, but this op remains}}
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @control_flow(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    // expected-error @+1 {{'inlay.relu' op expected every segment to be converted, but this op remains}}
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @declared(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected @segment to be an engine, a foreign engine, a host function or a function of framework calls}}
  %0 = plan.invoke @segment(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @unconverted(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected @segment to be an engine, a foreign engine, a host function or a function of framework calls}}
  %0 = plan.invoke @segment(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.host} {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
