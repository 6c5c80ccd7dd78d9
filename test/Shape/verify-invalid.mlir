// RUN: inlay-opt %s --inlay-shape-verify --split-input-file --verify-diagnostics

#npu = #inlay.declared<"npu", ["*"]>

func.func @dim_of_an_input(%x: tensor<2x?xf32>) {
  %e = inlay.segment #npu() : () -> tensor<f32> {
    %c = inlay.constant dense<1.0> : tensor<f32>
    inlay.yield %c : tensor<f32>
  }
  // expected-note @below {{defined here}}
  %0 = inlay.neg %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // expected-error @below {{expected dims that follow from those of the inputs at the border of segment 1 on 'npu', but got input 1 of type 'tensor<2x?xf32>' with dim 1 unknown}}
  inlay.segment #npu(%e, %0) : (tensor<f32>, tensor<2x?xf32>) -> () {
  ^bb0(%a: tensor<f32>, %b: tensor<2x?xf32>):
    inlay.yield
  }
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>

func.func @dim_of_an_output(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @below {{expected dims that follow from those of the inputs at the border of segment 0 on 'npu', but got output 0 of type 'tensor<?xf32>' with dim 0 unknown}}
  %r = inlay.segment #npu(%x) : (tensor<4xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = inlay.relu %a : (tensor<4xf32>) -> tensor<?xf32>
    inlay.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

#npu = #inlay.declared<"npu", ["*"]>

func.func @rank_of_an_input(%x: tensor<*xf32>) {
  // expected-error @below {{with the rank unknown}}
  inlay.segment #npu(%x) : (tensor<*xf32>) -> () {
  ^bb0(%a: tensor<*xf32>):
    inlay.yield
  }
  return
}
