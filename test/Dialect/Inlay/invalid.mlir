// One case for each error that the inference of a graph op reports.
// RUN: inlay-opt %s -split-input-file -verify-diagnostics

//===-- Any op ----------------------------------------------------------------------------------------------------===//

func.func @result_of_another_type(%x: tensor<2xf32>) {
  // expected-error @+2 {{'inlay.relu' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.relu %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @result_of_another_shape(%x: tensor<2xf32>) {
  // expected-error @+2 {{'inlay.relu' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.relu %x : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @no_tensor(%x: f32) {
  // expected-error @+1 {{operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = inlay.relu %x : (f32) -> tensor<f32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = inlay.relu %x : (tensor<*xf32>) -> tensor<2xf32>
  return
}

// -----

//===-- Pointwise -------------------------------------------------------------------------------------------------===//

func.func @where_condition(%x: tensor<2xf32>) {
  // expected-error @+2 {{'inlay.where' op expected a condition of i1, but got 'tensor<2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.where %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @where_element_types(%c: tensor<2xi1>, %x: tensor<2xf32>) {
  // expected-error @+2 {{'inlay.where' op expected operands of one element type, but got 'tensor<2xi1>' and 'tensor<2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.where %c, %c, %x : (tensor<2xi1>, tensor<2xi1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @comparison_of_types(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+2 {{'inlay.lt' op expected operands of one element type, but got 'tensor<2xf32>' and 'tensor<2xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.lt %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @element_types(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+2 {{'inlay.add' op expected operands of one element type, but got 'tensor<2xf32>' and 'tensor<2xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.add %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_broadcast(%x: tensor<4x2xf32>, %y: tensor<3x1xf32>) {
  // expected-error @+2 {{'inlay.mul' op expected operands that broadcast, but got 'tensor<4x2xf32>' and 'tensor<3x1xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.mul %x, %y : (tensor<4x2xf32>, tensor<3x1xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @too_many_elements(%x: tensor<1x4294967296xi8>, %y: tensor<4294967296x1xi8>) {
  // expected-error @+2 {{'inlay.maximum' op expected tensors of less than 2^63 elements, but got dims [4294967296, 4294967296]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.maximum %x, %y : (tensor<1x4294967296xi8>, tensor<4294967296x1xi8>) -> tensor<?x?xi8>
  return
}

// -----

//===-- Convolution -----------------------------------------------------------------------------------------------===//

func.func @conv_rank(%x: tensor<4x8xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+2 {{expected input and weight of one rank of at least 3, but got 'tensor<4x8xf32>' and 'tensor<6x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [] padding [] dilation [] groups 1
    : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @conv_ranks_differ(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected input and weight of one rank of at least 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_element_types(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf16>) {
  // expected-error @+2 {{expected input and weight of one element type, but got 'tensor<1x4x8xf32>' and 'tensor<6x4x3xf16>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf16>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_no_groups(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected at least one group, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 0
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_input_channels(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected weight to have 4 / 2 input channels, but got 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 2
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_output_channels(%x: tensor<1x4x8xf32>, %w: tensor<5x2x3xf32>) {
  // expected-error @+2 {{expected output channels (5) to be a multiple of groups (2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 2
    : (tensor<1x4x8xf32>, tensor<5x2x3xf32>) -> tensor<1x5x6xf32>
  return
}

// -----

func.func @conv_bias(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{expected bias to be a vector of 6 x 'f32', but got 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w, %b stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>, tensor<4xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_numbers_per_dim(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected one number of stride per spatial dim (1), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1, 1] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_stride(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected stride to be positive and at most 2^30, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [0] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_padding(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected padding to be at least 0 and at most 2^30, but got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [-1] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_dilation(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected dilation to be positive and at most 2^30, but got 1073741825}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1073741825] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_empty_kernel(%x: tensor<1x4x8xf32>, %w: tensor<6x4x0xf32>) {
  // expected-error @+2 {{expected kernel to be positive and at most 2^30, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x0xf32>) -> tensor<1x6x9xf32>
  return
}

// -----

// The number that represents an unknown size is not a valid stride.
func.func @conv_unknown_stride(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected stride to be positive and at most 2^30, but got -9223372036854775808}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [-9223372036854775808] padding [0] dilation [1] groups 1
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @conv_window_too_large(%x: tensor<1x4x2xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{expected a window no larger than the padded input, but dim 2 of 'tensor<1x4x2xf32>' is too small for a kernel of 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<1x4x2xf32>, tensor<6x4x3xf32>) -> tensor<1x6x1xf32>
  return
}

// -----

func.func @conv_spatial_overflow(%x: tensor<1x1x9223372036854775807xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @+2 {{expected spatial dims of at most 2^60, but got 'tensor<1x1x9223372036854775807xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [2] dilation [1] groups 1
    : (tensor<1x1x9223372036854775807xf32>, tensor<1x1x3xf32>) -> tensor<1x1x?xf32>
  return
}

// -----

func.func @conv_too_many_elements(%x: tensor<4294967296x1x8xf32>, %w: tensor<4294967296x1x3xf32>) {
  // expected-error @+2 {{expected tensors of less than 2^63 elements, but got dims [4294967296, 4294967296, 6]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv %x, %w stride [1] padding [0] dilation [1] groups 1
    : (tensor<4294967296x1x8xf32>, tensor<4294967296x1x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

func.func @conv_groups_attribute(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "inlay.conv"(%x, %w) <{stride = array<i64: 1>, padding = array<i64: 0>, dilation = array<i64: 1>, groups = 1 : i32}>
    : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

//===-- Pooling ---------------------------------------------------------------------------------------------------===//

func.func @pool_rank(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{'inlay.max_pool' op expected an input of rank 3 or more (N x C x spatial), but got 'tensor<4x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.max_pool %x kernel [] stride [] padding [] dilation [] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pool_numbers_per_dim(%x: tensor<1x4x8xf32>) {
  // expected-error @+2 {{'inlay.avg_pool' op expected one number of kernel per spatial dim (1), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.avg_pool %x kernel [2, 2] stride [2, 2] padding [0, 0] : (tensor<1x4x8xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @pool_kernel(%x: tensor<1x4x8xf32>) {
  // expected-error @+2 {{expected kernel to be positive and at most 2^30, but got -9223372036854775808}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.max_pool %x kernel [-9223372036854775808] stride [1] padding [0] dilation [1]
    : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @pool_padding(%x: tensor<1x4x8xf32>) {
  // expected-error @+2 {{expected padding of at most half the kernel (3), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.max_pool %x kernel [3] stride [1] padding [2] dilation [1] : (tensor<1x4x8xf32>) -> tensor<1x4x10xf32>
  return
}

// -----

func.func @pool_window_too_large(%x: tensor<1x4x2xf32>) {
  // expected-error @+2 {{expected a window no larger than the padded input, but dim 2 of 'tensor<1x4x2xf32>' is too small for a kernel of 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.avg_pool %x kernel [3] stride [1] padding [0] ceil_mode : (tensor<1x4x2xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

//===-- Normalization ---------------------------------------------------------------------------------------------===//

func.func @batch_norm_rank(%x: tensor<4xf32>) {
  // expected-error @+2 {{'inlay.batch_norm' op expected an input of floats of rank 2 or more, but got 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.batch_norm %x, %x, %x, %x, %x eps 1.0e-5
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @batch_norm_integers(%x: tensor<2x4xi32>, %c: tensor<4xi32>) {
  // expected-error @+2 {{'inlay.batch_norm' op expected an input of floats of rank 2 or more, but got 'tensor<2x4xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.batch_norm %x, %c, %c, %c, %c eps 1.0e-5
    : (tensor<2x4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @batch_norm_vectors(%x: tensor<2x4xf32>, %c: tensor<4xf32>, %d: tensor<4xf64>) {
  // expected-error @+2 {{expected variance to be a vector of 4 x 'f32', but got 'tensor<4xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.batch_norm %x, %c, %c, %c, %d eps 1.0e-5
    : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @layer_norm_integers(%x: tensor<4xi32>) {
  // expected-error @+2 {{'inlay.layer_norm' op expected an input of floats, but got 'tensor<4xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.layer_norm %x, %x, %x eps 1.0e-5 : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @layer_norm_dims(%x: tensor<2x4xf32>, %w: tensor<2xf32>) {
  // expected-error @+2 {{expected weight and bias to have the trailing dims of 'tensor<2x4xf32>', but got 'tensor<2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @layer_norm_bias_of_another_rank(%x: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+2 {{expected weight and bias to have the trailing dims of 'tensor<2x4xf32>', but got 'tensor<2x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.layer_norm %x, %w, %x eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @layer_norm_of_a_scalar(%x: tensor<f32>) {
  // expected-error @+2 {{expected weight and bias to have the trailing dims of 'tensor<f32>', but got 'tensor<f32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.layer_norm %x, %x, %x eps 1.0e-5 : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @softmax_integers(%x: tensor<4xi32>) {
  // expected-error @+2 {{'inlay.softmax' op expected an input of floats, but got 'tensor<4xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.softmax %x dim 0 : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @softmax_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected dim in [-2, 2), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.softmax %x dim 2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

//===-- Products --------------------------------------------------------------------------------------------------===//

func.func @matmul_rank(%x: tensor<4xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+2 {{'inlay.matmul' op expected operands of one element type and rank 2 or more, but got 'tensor<4xf32>' and 'tensor<4x2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.matmul %x, %y : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul_element_types(%x: tensor<4x4xf32>, %y: tensor<4x4xf16>) {
  // expected-error @+2 {{'inlay.matmul' op expected operands of one element type and rank 2 or more}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_inner(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+2 {{expected the last dim of 'tensor<4x3xf32>' to equal the last but one of 'tensor<4x2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.matmul %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_leading(%x: tensor<2x4x3xf32>, %y: tensor<3x3x2xf32>) {
  // expected-error @+2 {{expected leading dims that broadcast, but got 'tensor<2x4x3xf32>' and 'tensor<3x3x2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.matmul %x, %y : (tensor<2x4x3xf32>, tensor<3x3x2xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

func.func @matmul_too_many_elements(%x: tensor<4294967296x1xf32>, %y: tensor<1x4294967296xf32>) {
  // expected-error @+2 {{expected tensors of less than 2^63 elements, but got dims [4294967296, 4294967296]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.matmul %x, %y : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @linear_weight_rank(%x: tensor<4xf32>) {
  // expected-error @+2 {{'inlay.linear' op expected weight to be a matrix of input's element type with as many columns as input's last dim, but got 'tensor<4xf32>' and 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.linear %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @linear_of_a_scalar(%x: tensor<f32>, %w: tensor<2x1xf32>) {
  // expected-error @+2 {{'inlay.linear' op expected weight to be a matrix}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.linear %x, %w : (tensor<f32>, tensor<2x1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @linear_columns(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+2 {{'inlay.linear' op expected weight to be a matrix}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.linear %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @linear_bias(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<1x3xf32>) {
  // expected-error @+2 {{expected bias to be a vector of 3 x 'f32', but got 'tensor<1x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.linear %x, %w, %b : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

//===-- Reductions ------------------------------------------------------------------------------------------------===//

func.func @reduce_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.sum' op expected dims in [-2, 2), but got -3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.sum %x dims [-3] : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_dim_twice(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.mean' op expected each dim once, but got dim 1 twice}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.mean %x dims [1, -1] : (tensor<2x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @argmax_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.argmax' op expected dims in [-2, 2), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.argmax %x dim 2 : (tensor<2x4xf32>) -> tensor<2x4xi64>
  return
}

// -----

func.func @cumsum_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.cumsum' op expected dim in [-2, 2), but got -3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cumsum %x dim -3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @any_of_floats_is_boolean(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.any' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.any %x dims [1] : (tensor<2x4xf32>) -> tensor<2xf32>
  return
}

// -----

// PyTorch would take them for all dims.
func.func @reduce_no_dims(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.amax' op expected at least one dim to reduce}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.amax %x dims [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

//===-- Layout ----------------------------------------------------------------------------------------------------===//

func.func @reshape_two_open(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.reshape' op expected dims of at least 0 and at most one -1, but got [-1, -1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [-1, -1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_negative(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected dims of at least 0 and at most one -1, but got [-2, 4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [-2, 4] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_count(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected a shape of 8 elements, but got [3, 3]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [3, 3] : (tensor<2x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reshape_open_count(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected a shape of 8 elements, but got [3, -1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [3, -1] : (tensor<2x4xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @reshape_open_beside_zero(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{expected no -1 together with a dim of 0, because its size would be ambiguous, but got [0, -1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [0, -1] : (tensor<?x3xf32>) -> tensor<0x?xf32>
  return
}

// -----

func.func @reshape_shape_overflow(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected less than 2^63 elements, but got [4294967296, 4294967296]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [4294967296, 4294967296] : (tensor<2x4xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_input_overflow(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+2 {{expected tensors of less than 2^63 elements, but got dims [4294967296, 4294967296]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.reshape %x shape [-1] : (tensor<4294967296x4294967296xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @permute_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.permute' op expected a permutation of the dims of 'tensor<2x4xf32>', but got [0, 2]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.permute %x dims [0, 2] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @permute_dim_twice(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected a permutation of the dims of 'tensor<2x4xf32>', but got [0, -2]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.permute %x dims [0, -2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @permute_too_few(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected a permutation of the dims of 'tensor<2x4xf32>', but got [1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.permute %x dims [1] : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @expand_rank(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.expand' op expected at least the rank of 'tensor<2x4xf32>', but got [4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.expand %x shape [4] : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @expand_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected to repeat only dims of size 1, but got [4, 4] for 'tensor<2x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.expand %x shape [4, 4] : (tensor<2x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @expand_new_dim_kept(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected to repeat only dims of size 1, but got [-1, 2, 4] for 'tensor<2x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.expand %x shape [-1, 2, 4] : (tensor<2x4xf32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @expand_overflow(%x: tensor<1x9223372036854775807xf32>) {
  // expected-error @+2 {{expected tensors of less than 2^63 elements, but got dims [2, 9223372036854775807]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.expand %x shape [2, -1] : (tensor<1x9223372036854775807xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @slice_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'inlay.slice' op expected dim in [-2, 2), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.slice %x dim 2 start 0 end 1 step 1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @slice_step(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expected a positive step, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.slice %x dim 0 start 0 end 1 step 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @cat_nothing() {
  // expected-error @+2 {{'inlay.cat' op expected at least one input}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat dim 0 : () -> tensor<1xf32>
  return
}

// -----

func.func @cat_dim(%x: tensor<f32>) {
  // expected-error @+2 {{expected dim in [0, 0), but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat %x, %x dim 0 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @cat_ranks(%x: tensor<2xf32>, %y: tensor<2x1xf32>) {
  // expected-error @+2 {{expected inputs that differ only in dim 0, but got 'tensor<2xf32>' and 'tensor<2x1xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat %x, %y dim 0 : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cat_element_types(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @+2 {{expected inputs that differ only in dim 0, but got 'tensor<2xf32>' and 'tensor<2xf16>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat %x, %y dim 0 : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

// The other dim of the first input is open. The later inputs contradict each other.
func.func @cat_later_inputs(%x: tensor<1x?xf32>, %y: tensor<1x3xf32>, %z: tensor<1x4xf32>) {
  // expected-error @+2 {{expected inputs that differ only in dim 0, but got 'tensor<1x?xf32>' and 'tensor<1x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat %x, %y, %z dim 0 : (tensor<1x?xf32>, tensor<1x3xf32>, tensor<1x4xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @cat_overflow(%x: tensor<9223372036854775807xf32>) {
  // expected-error @+2 {{expected sizes of dim 0 that sum to less than 2^63, but got 'tensor<9223372036854775807xf32>' and 'tensor<9223372036854775807xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cat %x, %x dim 0 : (tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @cast_type(%x: tensor<2xf32>) {
  // expected-error @+2 {{'inlay.cast' op expected an integer or float type to cast to, but got 'index'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.cast %x to index : (tensor<2xf32>) -> tensor<2xindex>
  return
}

// -----

func.func @list_of_nothing() {
  // expected-error @+2 {{'inlay.list' op expected at least one element, since an empty list has no element type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.list : () -> !inlay.list<tensor<2xf32>>
  return
}

// -----

func.func @list_of_types(%x: tensor<2xf32>, %y: i64) {
  // expected-error @+2 {{expected elements of one type, but got 'tensor<2xf32>' and 'i64'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.list %x, %y : (tensor<2xf32>, i64) -> !inlay.list<tensor<2xf32>>
  return
}

// -----

func.func @list_result(%x: tensor<2xf32>) {
  // expected-error @+2 {{inferred type(s) '!inlay.list<tensor<2xf32>>' are incompatible with return type(s) of operation '!inlay.list<tensor<3xf32>>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.list %x : (tensor<2xf32>) -> !inlay.list<tensor<3xf32>>
  return
}

// -----

func.func @dequantize_code(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{'inlay.dequantize' op expected code to be i2, u2, i4, u4, i8 or u8, but got i3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i3" block [1, -1] to f32 : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_bytes(%c: tensor<4x8xi32>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected codes of i8 with at least one dim, but got 'tensor<4x8xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i8" block [1, -1] to f32 : (tensor<4x8xi32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_result(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected a result of f16, bf16, f32 or f64, but got 'i32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i8" block [1, -1] to i32 : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @dequantize_scale_type(%c: tensor<4x8xi8>, %s: tensor<4x1xf64>) {
  // expected-error @+2 {{expected scales of f16, bf16 or f32, but got 'tensor<4x1xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i8" block [1, -1] to f32 : (tensor<4x8xi8>, tensor<4x1xf64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_block(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected a positive size of a block, or -1, for each dim of 'tensor<4x8xi8>', but got [1, 0]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i8" block [1, 0] to f32 : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_block_rank(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected a positive size of a block, or -1, for each dim of 'tensor<4x8xi8>', but got [8]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "i8" block [8] to f32 : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_size(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected a size in [15, 16] for 8 bytes in the last dim, but got 14}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "u4" block [1, -1] size 14 to f32
    : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x14xf32>
  return
}

// -----

func.func @dequantize_scales(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected scales of dims [4, 2], one for each block, but got 'tensor<4x1xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "u4" block [1, 12] to f32 : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @dequantize_offsets(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>, %o: tensor<4xi8>) {
  // expected-error @+2 {{expected offsets of dims [4, 1], one for each block, but got 'tensor<4xi8>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s, %o code "u4" block [1, -1] to f32
    : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4xi8>) -> tensor<4x16xf32>
  return
}

// -----

func.func @dequantize_offset_type(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>, %o: tensor<4x1xi32>) {
  // expected-error @+2 {{expected offsets of f16, bf16, f32 or i8, but got 'tensor<4x1xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s, %o code "u4" block [1, -1] to f32
    : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @dequantize_minima_type(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>, %o: tensor<4x1xi8>) {
  // expected-error @+2 {{expected offsets of f16, bf16 or f32, but got 'tensor<4x1xi8>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s, %o code "u4" block [1, -1] minima to f32
    : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi8>) -> tensor<4x16xf32>
  return
}

// -----

func.func @dequantize_no_minima(%c: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @+2 {{expected offsets, which are the minima, but got none}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.dequantize %c, %s code "u4" block [1, -1] minima to f32
    : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @quantize_code(%x: tensor<4x8xf32>, %s: tensor<1x1xf32>) {
  // expected-error @+2 {{'inlay.quantize' op expected code to be i8 or u8, but got u4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s code "u4" block [-1, -1] from 0 to 15 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_input(%x: tensor<4x8xf64>, %s: tensor<1x1xf32>) {
  // expected-error @+2 {{expected an input of f16, bf16 or f32, but got 'tensor<4x8xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s code "u8" block [-1, -1] from 0 to 255 : (tensor<4x8xf64>, tensor<1x1xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_limits(%x: tensor<4x8xf32>, %s: tensor<1x1xf32>) {
  // expected-error @+2 {{expected limits in [-128, 127], but got 0 to 255}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s code "i8" block [-1, -1] from 0 to 255 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_order(%x: tensor<4x8xf32>, %s: tensor<1x1xf32>) {
  // expected-error @+2 {{expected limits in [0, 255], but got 9 to 8}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s code "u8" block [-1, -1] from 9 to 8 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_scales(%x: tensor<4x8xf32>, %s: tensor<1x4xf32>) {
  // expected-error @+2 {{expected scales of dims [4, 1], one for each block, but got 'tensor<1x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s code "u8" block [1, -1] from 0 to 255 : (tensor<4x8xf32>, tensor<1x4xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_offsets(%x: tensor<4x8xf32>, %s: tensor<1x1xf32>, %o: tensor<1x1xi32>) {
  // expected-error @+2 {{expected offsets of f16, bf16, f32 or i8, but got 'tensor<1x1xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.quantize %x, %s, %o code "u8" block [-1, -1] from 0 to 255 : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1x1xi32>) -> tensor<4x8xi8>
  return
}
