// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file --verify-diagnostics

func.func @unknown_sizes(%w: tensor<5x4xf32>, %i: tensor<?xi64>) -> tensor<?x4xf32> {
  // expected-error @below {{unsupported-shape: expected dims that follow from the dims of inputs, but got tensor<?x4xf32>}}
  %0 = inlay.embedding %w, %i : (tensor<5x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @sums_of_booleans(%x: tensor<4xi1>, %i: tensor<3xi64>, %s: tensor<3xi1>) -> tensor<4xi1> {
  // expected-error @below {{unsupported-type: expected numbers, but got i1}}
  %0 = inlay.scatter %x, %i, %s dim 0 reduce "sum" : (tensor<4xi1>, tensor<3xi64>, tensor<3xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @booleans_added(%x: tensor<4xi1>, %i: tensor<3xi64>, %s: tensor<3xi1>) -> tensor<4xi1> {
  // expected-error @below {{unsupported-type: expected numbers, but got i1}}
  %0 = inlay.index_put %x, %s, %i dims [0] accumulate : (tensor<4xi1>, tensor<3xi1>, tensor<3xi64>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @heads(%q: tensor<4x3x2xf32>, %k: tensor<2x3x2xf32>, %v: tensor<1x3x2xf32>) -> tensor<4x3x2xf32> {
  // expected-error @below {{unsupported-shape: expected values with as many heads as keys, but got tensor<1x3x2xf32> and tensor<2x3x2xf32>}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 0.5 enable_gqa
    : (tensor<4x3x2xf32>, tensor<2x3x2xf32>, tensor<1x3x2xf32>) -> tensor<4x3x2xf32>
  return %0 : tensor<4x3x2xf32>
}

// -----

func.func @values_of_another_size(%x: tensor<4xf32>, %v: tensor<?xf32> {inlay.dims = affine_map<()[n, m] -> (m)>},
                                  %i: tensor<?xi64> {inlay.dims = affine_map<()[n, m] -> (n)>}) -> tensor<4xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 4>, #inlay.symbol<"m", 1 to 4>]} {
  // expected-error @below {{unsupported-shape: expected indices and values that are known to broadcast, but got tensor<?xi64> and tensor<?xf32>}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4xf32>, tensor<?xf32>, tensor<?xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @places_of_unknown_size(%x: tensor<4xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<4xf32> {
  // expected-error @below {{unsupported-shape: expected dims that follow from the dims of inputs, but got tensor<?xf32>}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4xf32>, tensor<?xf32>, tensor<?xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_places(%x: tensor<4xf32>, %v: tensor<f32>, %i: tensor<?xi64> {inlay.dims = affine_map<()[n] -> (n)>})
    -> tensor<4xf32> attributes {inlay.symbols = [#inlay.symbol<"n", 0 to 4>]} {
  // expected-error @below {{unsupported-shape: expected indices that are known not to be empty}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4xf32>, tensor<f32>, tensor<?xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @many_places(%x: tensor<4xf32>, %v: tensor<f32>, %i: tensor<?xi64> {inlay.dims = affine_map<()[n] -> (n)>})
    -> tensor<4xf32> attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 2147483648>]} {
  // expected-error @below {{unsupported-shape: expected fewer than 2^31 indexed elements}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4xf32>, tensor<f32>, tensor<?xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @larger_index(%x: tensor<4x2xf32>, %i: tensor<3x?xi64> {inlay.dims = affine_map<()[n] -> (3, n)>},
                        %s: tensor<3x?xf32> {inlay.dims = affine_map<()[n] -> (3, n)>}) -> tensor<4x2xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 3>]} {
  // expected-error @below {{unsupported-shape: expected an index that is known to be no larger than input and source, but got tensor<3x?xi64>}}
  %0 = inlay.scatter %x, %i, %s dim 0 : (tensor<4x2xf32>, tensor<3x?xi64>, tensor<3x?xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
