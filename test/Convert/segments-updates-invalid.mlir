// RUN: inlay-opt %s --inlay-convert-segments --split-input-file --verify-diagnostics

// The slice ends beyond the tensor for some sizes.
func.func private @beyond(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1)>}, %s: tensor<64xf32>) -> tensor<64xf32>
    attributes {plan.target = #inlay.host,
                inlay.symbols = [#inlay.symbol<"past", 0 to 33>, #inlay.symbol<"count", 1 to 32>]} {
  // expected-error @below {{expected a slice that is known to lie in the input and to have the dims of the source}}
  %0 = inlay.slice_scatter %s, %x dim 0 start ? end ? step 1 sizes affine_map<()[s0, s1] -> (s0, s0 + s1)>
    : (tensor<64xf32>, tensor<?xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// The source has other dims than the slice.
func.func private @other(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0)>}, %s: tensor<64xf32>) -> tensor<64xf32>
    attributes {plan.target = #inlay.host,
                inlay.symbols = [#inlay.symbol<"past", 0 to 32>, #inlay.symbol<"count", 1 to 32>]} {
  // expected-error @below {{expected a slice that is known to lie in the input and to have the dims of the source}}
  %0 = inlay.slice_scatter %s, %x dim 0 start ? end ? step 1 sizes affine_map<()[s0, s1] -> (s0, s0 + s1)>
    : (tensor<64xf32>, tensor<?xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
