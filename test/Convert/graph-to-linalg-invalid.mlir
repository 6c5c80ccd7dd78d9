// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file --verify-diagnostics

func.func @quotient_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{can't be converted to linalg: unsupported-type: inlay.div isn't defined on elements of i32}}
  %r = inlay.div %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

func.func @complex_numbers(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{unsupported-type: expected plain tensors of f16, bf16, f32, f64 or signless integers, but got tensor<4xcomplex<f32>>}}
  %r = inlay.neg %x : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

// -----

func.func @unsigned_constant() -> tensor<2xui8> {
  // expected-error @below {{unsupported-type: expected plain tensors}}
  %r = inlay.constant dense<1> : tensor<2xui8>
  return %r : tensor<2xui8>
}

// -----

func.func @mean_of_integers(%x: tensor<4xi64>) -> tensor<i64> {
  // expected-error @below {{unsupported-type: expected floats, but got i64}}
  %r = inlay.mean %x dims [0] : (tensor<4xi64>) -> tensor<i64>
  return %r : tensor<i64>
}

// -----

func.func @sum_of_booleans(%x: tensor<4xi1>) -> tensor<i1> {
  // expected-error @below {{unsupported-type: expected numbers, but got i1}}
  %r = inlay.sum %x dims [0] : (tensor<4xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

// -----

func.func @mean_pool_of_integers(%x: tensor<1x1x4xi32>) -> tensor<1x1x2xi32> {
  // expected-error @below {{unsupported-type: expected floats, but got i32}}
  %r = inlay.avg_pool %x kernel [2] stride [2] padding [0] : (tensor<1x1x4xi32>) -> tensor<1x1x2xi32>
  return %r : tensor<1x1x2xi32>
}

// -----

func.func @weight_of_unknown_size(%x: tensor<1x3x8xf32>, %w: tensor<4x3x?xf32>) -> tensor<1x4x?xf32> {
  // expected-error @below {{unsupported-shape: expected a weight with static dims, but got tensor<4x3x?xf32>}}
  %r = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x3x8xf32>, tensor<4x3x?xf32>) -> tensor<1x4x?xf32>
  return %r : tensor<1x4x?xf32>
}

// -----

func.func @groups_of_unknown_channels(%x: tensor<1x?x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x4x6xf32> {
  // expected-error @below {{unsupported-shape: expected static channels for a grouped convolution, but got tensor<1x?x8xf32>}}
  %r = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 2
    : (tensor<1x?x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return %r : tensor<1x4x6xf32>
}

// -----

func.func @ceil_mode_of_unknown_size(%x: tensor<1x1x?xf32>) -> tensor<1x1x?xf32> {
  // expected-error @below {{unsupported-shape: expected static spatial dims in ceil mode, but got tensor<1x1x?xf32>}}
  %r = inlay.max_pool %x kernel [2] stride [2] padding [0] dilation [1] ceil_mode : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  return %r : tensor<1x1x?xf32>
}

// -----

func.func @reshape_of_unknown_sizes(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  // expected-error @below {{unsupported-shape: expected dims that follow from the dims of inputs, but got tensor<?xf32>}}
  %r = inlay.reshape %x shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @slice_of_unknown_size(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // expected-error @below {{unsupported-shape: expected dims that follow from the dims of inputs, but got tensor<2x?xf32>}}
  %r = inlay.slice %x dim 1 start 0 end 2 step 1 : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// -----

func.func @padding_beyond_counting(%x: tensor<1x1x8x8x8xf32>, %w: tensor<1x1x1x1x1xf32>) -> tensor<1x1x3x3x3xf32> {
  // expected-error @below {{unsupported-shape: expected a padded input of less than 2^63 elements, but got padding for tensor<1x1x8x8x8xf32>}}
  %r = inlay.conv %x, %w stride [1073741824, 1073741824, 1073741824] padding [1073741823, 1073741823, 1073741823] dilation [1, 1, 1] groups 1
    : (tensor<1x1x8x8x8xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x3x3x3xf32>
  return %r : tensor<1x1x3x3x3xf32>
}

// -----

func.func @groups_of_unknown_bias(%x: tensor<1x4x8xf32>, %w: tensor<4x2x3xf32>, %b: tensor<?xf32>) -> tensor<1x4x6xf32> {
  // expected-error @below {{unsupported-shape: expected static channels for a grouped convolution, but got tensor<?xf32>}}
  %r = inlay.conv %x, %w, %b stride [1] padding [0] dilation [1] groups 2
    : (tensor<1x4x8xf32>, tensor<4x2x3xf32>, tensor<?xf32>) -> tensor<1x4x6xf32>
  return %r : tensor<1x4x6xf32>
}

// -----

func.func @cumsum_of_unknown_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{unsupported-shape: expected a dim of bounded size, but got dim 0 of tensor<?xf32>}}
  %r = inlay.cumsum %x dim 0 : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @shift_of_booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @below {{unsupported-type: inlay.bitwise_left_shift isn't defined on elements of i1}}
  %r = inlay.bitwise_left_shift %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// -----

func.func @scales_of_other_rows(%c: tensor<?x4xi8> {inlay.dims = affine_map<()[n, m] -> (n, 4)>},
                                %s: tensor<?x1xf32> {inlay.dims = affine_map<()[n, m] -> (m, 1)>}) -> tensor<?x4xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 4>, #inlay.symbol<"m", 1 to 4>]} {
  // expected-error @below {{unsupported-shape: expected scales and offsets with static dims, or with the dims of the elements}}
  %0 = inlay.dequantize %c, %s code "i8" block [1, -1] to f32 {inlay.dims = [affine_map<()[n, m] -> (n, 4)>]}
    : (tensor<?x4xi8>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
