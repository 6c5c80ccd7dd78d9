// RUN: inlay-opt %s --inlay-convert-outline-segments --inlay-convert-segments --split-input-file --verify-diagnostics

// A reduction of unbounded length would exceed the 2^16 iterations after which drivers stop.
func.func @endless(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<f32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 9223372036854775807>]} {
  %0 = inlay.segment #inlay.vulkan(%x) : (tensor<?xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<?xf32>):
    // expected-error @below {{unsupported-shape: expected at most 65534 steps of a reduction per element}}
    %r = inlay.sum %a dims [0] : (tensor<?xf32>) -> tensor<f32>
    inlay.yield %r : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @unsaid(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{unsupported-shape: expected tensors whose dims follow from the dims of inputs, but got tensor<?xf32>}}
  %0 = inlay.segment #inlay.host(%x) : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %r = inlay.relu %a : (tensor<?xf32>) -> tensor<?xf32>
    inlay.yield %r : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
