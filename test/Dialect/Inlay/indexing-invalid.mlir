// RUN: inlay-opt %s -split-input-file -verify-diagnostics

func.func @embedding_floats(%w: tensor<9x4xf32>, %i: tensor<4xf32>) {
  // expected-error @+2 {{'inlay.embedding' op expected indices of integers, but got 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.embedding %w, %i : (tensor<9x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @embedding_scalar(%w: tensor<f32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected a table of rank 1 or more, but got 'tensor<f32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.embedding %w, %i : (tensor<f32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @embedding_of_nothing(%w: tensor<0x4xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected indices for a dim that has elements, but its size is 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.embedding %w, %i : (tensor<0x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @index_select_matrix(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+2 {{'inlay.index_select' op expected a vector of indices, but got 'tensor<3x1xi64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index_select %x, %i dim 1 : (tensor<4x5x6xf32>, tensor<3x1xi64>) -> tensor<4x3x6xf32>
  return
}

// -----

func.func @index_select_booleans(%x: tensor<4x5x6xf32>, %i: tensor<3xi1>) {
  // expected-error @+2 {{expected an index of integers, but got 'tensor<3xi1>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index_select %x, %i dim 1 : (tensor<4x5x6xf32>, tensor<3xi1>) -> tensor<4x3x6xf32>
  return
}

// -----

func.func @index_select_dim(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected dim in [-3, 3), but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index_select %x, %i dim 3 : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<4x3x6xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{'inlay.gather' op expected an index no larger than 'tensor<4x5x6xf32>' in dims other than 1, but got 'tensor<3xi64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.gather %x, %i dim 1 : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_size(%x: tensor<4x5xf32>, %i: tensor<5x2xi64>) {
  // expected-error @+2 {{expected an index no larger than 'tensor<4x5xf32>' in dims other than 1, but got 'tensor<5x2xi64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.gather %x, %i dim 1 : (tensor<4x5xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
  return
}

// -----

func.func @index_without_indices(%x: tensor<4x5x6xf32>) {
  // expected-error @+2 {{expected a dim for each of at least one tensor of indices, but got 0 and 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index %x,  dims [] : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @index_counts(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected a dim for each of at least one tensor of indices, but got 2 and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index %x, %i dims [0, 1] : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  return
}

// -----

func.func @index_dims_fall(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>, %j: tensor<2x1xi32>) {
  // expected-error @+2 {{expected increasing dims in [0, 3), but got [2, 0]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index %x, %i, %j dims [2, 0] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @index_dims_beyond(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected increasing dims in [0, 3), but got [3]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index %x, %i dims [3] : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @index_broadcast(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>, %j: tensor<2xi64>) {
  // expected-error @+2 {{expected indices that broadcast, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index %x, %i, %j dims [0, 1] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2xi64>) -> tensor<3x6xf32>
  return
}

// -----

func.func @index_put_values(%x: tensor<4x5x6xf32>, %v: tensor<4x6xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{'inlay.index_put' op expected values of 'f32' that broadcast to dims [3, 5, 6], but got 'tensor<4x6xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4x5x6xf32>, tensor<4x6xf32>, tensor<3xi64>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @index_put_types(%x: tensor<4x5x6xf32>, %v: tensor<6xf64>, %i: tensor<3xi64>) {
  // expected-error @+2 {{expected values of 'f32' that broadcast to dims [3, 5, 6], but got 'tensor<6xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.index_put %x, %v, %i dims [0] : (tensor<4x5x6xf32>, tensor<6xf64>, tensor<3xi64>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @scatter_source(%x: tensor<4x5xf32>, %i: tensor<2x9xi64>, %s: tensor<2x8xf32>) {
  // expected-error @+2 {{expected a source of 'f32' no smaller than 'tensor<2x9xi64>', but got 'tensor<2x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scatter %x, %i, %s dim 1 : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<2x8xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_reduce(%x: tensor<4x5xf32>, %i: tensor<2x9xi64>, %s: tensor<2x9xf32>) {
  // expected-error @+2 {{expected reduce to be sum, prod, amax or amin, but got mean}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scatter %x, %i, %s dim 1 reduce "mean" : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<2x9xf32>)
    -> tensor<4x5xf32>
  return
}

// -----

func.func @argsort_dim(%x: tensor<4x5x6xf32>) {
  // expected-error @+2 {{expected dim in [-3, 3), but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.argsort %x dim 3 : (tensor<4x5x6xf32>) -> tensor<4x5x6xi64>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+2 {{'inlay.pad' op expected a value of rank 0 with the input's element type, but got 'tensor<1xf32>' for 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.pad %x, %v low [0] high [1] : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_counts(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{expected one number of low per dim (1), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.pad %x, %v low [0, 1] high [1] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{expected high of at least 0, but got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.pad %x, %v low [0] high [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_overflow(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{expected dims of less than 2^63, but got 'tensor<4xf32>' and low of 9223372036854775807}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.pad %x, %v low [9223372036854775807] high [0] : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @flip_twice(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{expected each dim once, but got dim 1 twice}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.flip %x dims [1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @flip_dim(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{expected dim in [-2, 2), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.flip %x dims [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_scatter_step(%x: tensor<4x8xf32>, %s: tensor<4x3xf32>) {
  // expected-error @+2 {{expected a positive step, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.slice_scatter %x, %s dim 1 start 0 end 3 step 0 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_scatter_source(%x: tensor<4x8xf32>, %s: tensor<4x3xf32>) {
  // expected-error @+2 {{expected a source of dims [4, 4] and 'f32', but got 'tensor<4x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.slice_scatter %x, %s dim 1 start 0 end 4 step 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @grouped_matmul_rows(%x: tensor<7x4xf32>, %w: tensor<3x5x5xf32>, %o: tensor<3xi32>) {
  // expected-error @+2 {{expected a matrix and matrices with as many rows as it has columns, of one element type, but got 'tensor<7x4xf32>' and 'tensor<3x5x5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.grouped_matmul %x, %w, %o : (tensor<7x4xf32>, tensor<3x5x5xf32>, tensor<3xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @grouped_matmul_offsets(%x: tensor<7x4xf32>, %w: tensor<3x4x5xf32>, %o: tensor<2xi32>) {
  // expected-error @+2 {{expected an integer offset for each matrix of 'tensor<3x4x5xf32>', but got 'tensor<2xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.grouped_matmul %x, %w, %o : (tensor<7x4xf32>, tensor<3x4x5xf32>, tensor<2xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @conv_transpose_ranks(%x: tensor<1x4x5xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+2 {{expected input and weight of one element type and one rank of at least 3, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [0] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<4x3xf32>)
    -> tensor<1x3x5xf32>
  return
}

// -----

func.func @conv_transpose_no_groups(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected at least one group, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [0] dilation [1] groups 0 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_channels(%x: tensor<1x4x5xf32>, %w: tensor<3x3x2xf32>) {
  // expected-error @+2 {{expected weight to have 4 input channels, but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [0] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<3x3x2xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_groups(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected input channels (4) to be a multiple of groups (3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [0] dilation [1] groups 3 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>)
    -> tensor<1x9x6xf32>
  return
}

// -----

func.func @conv_transpose_bias(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{expected bias to be a vector of 3 x 'f32', but got 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w, %b stride [1] padding [0] output_padding [0] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>, tensor<4xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_stride(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected stride to be positive and at most 2^30, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [0] padding [0] output_padding [0] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_output_paddings(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected one number of output_padding per spatial dim (1), but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_output_padding(%x: tensor<1x4x5xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected output_padding of at least 0 and less than stride or dilation, but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [2] padding [0] output_padding [2] dilation [1] groups 1 : (tensor<1x4x5xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x6xf32>
  return
}

// -----

func.func @conv_transpose_empty(%x: tensor<1x4x0xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected spatial dims of at least 1 and at most 2^30, but got 'tensor<1x4x0xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [0] output_padding [0] dilation [1] groups 1 : (tensor<1x4x0xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x1xf32>
  return
}

// -----

func.func @conv_transpose_cut(%x: tensor<1x4x2xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error @+2 {{expected padding that leaves an element of each dim, but dim 2 would have -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.conv_transpose %x, %w stride [1] padding [2] output_padding [0] dilation [1] groups 1 : (tensor<1x4x2xf32>, tensor<4x3x2xf32>)
    -> tensor<1x3x1xf32>
  return
}
