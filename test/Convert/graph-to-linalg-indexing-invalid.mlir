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
