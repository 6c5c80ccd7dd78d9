// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --mlir-print-op-generic | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --emit-bytecode | inlay-opt | FileCheck %s

// CHECK-LABEL: func @embedding
func.func @embedding(%w: tensor<9x4xf32>, %i: tensor<2x3xi32>) {
  // CHECK: inlay.embedding %{{.*}}, %{{.*}} : (tensor<9x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  %0 = inlay.embedding %w, %i : (tensor<9x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @embedding_of_one
func.func @embedding_of_one(%w: tensor<9x4xf32>, %i: tensor<i64>) {
  // CHECK: inlay.embedding %{{.*}}, %{{.*}} : (tensor<9x4xf32>, tensor<i64>) -> tensor<4xf32>
  %0 = inlay.embedding %w, %i : (tensor<9x4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func @index_select
func.func @index_select(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>) {
  // CHECK: inlay.index_select %{{.*}}, %{{.*}} dim -2 : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<4x3x6xf32>
  %0 = inlay.index_select %x, %i dim -2 : (tensor<4x5x6xf32>, tensor<3xi64>) -> tensor<4x3x6xf32>
  return
}

// CHECK-LABEL: func @gather
func.func @gather(%x: tensor<4x5xf32>, %i: tensor<2x9xi64>) {
  // CHECK: inlay.gather %{{.*}}, %{{.*}} dim 1 : (tensor<4x5xf32>, tensor<2x9xi64>) -> tensor<2x9xf32>
  %0 = inlay.gather %x, %i dim 1 : (tensor<4x5xf32>, tensor<2x9xi64>) -> tensor<2x9xf32>
  return
}

// CHECK-LABEL: func @index_together
func.func @index_together(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>, %j: tensor<2x1xi32>) {
  // CHECK: inlay.index %{{.*}}, %{{.*}}, %{{.*}} dims [1, 2] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<4x2x3xf32>
  %0 = inlay.index %x, %i, %j dims [1, 2] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<4x2x3xf32>
  return
}

// CHECK-LABEL: func @index_apart
func.func @index_apart(%x: tensor<4x5x6xf32>, %i: tensor<3xi64>, %j: tensor<2x1xi32>) {
  // CHECK: inlay.index %{{.*}}, %{{.*}}, %{{.*}} dims [0, 2] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<2x3x5xf32>
  %0 = inlay.index %x, %i, %j dims [0, 2] : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<2x3x5xf32>
  return
}

// CHECK-LABEL: func @index_of_unknown_sizes
func.func @index_of_unknown_sizes(%x: tensor<?x5xf32>, %i: tensor<?xi64>) {
  // CHECK: inlay.index %{{.*}}, %{{.*}} dims [1] : (tensor<?x5xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %0 = inlay.index %x, %i dims [1] : (tensor<?x5xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func @index_put
func.func @index_put(%x: tensor<4x5x6xf32>, %v: tensor<5xf32>, %i: tensor<3xi64>, %j: tensor<2x1xi32>) {
  // CHECK: inlay.index_put %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} dims [0, 2] : (tensor<4x5x6xf32>, tensor<5xf32>, tensor<3xi64>, tensor<2x1xi32>) -> tensor<4x5x6xf32>
  %0 = inlay.index_put %x, %v, %i, %j dims [0, 2] : (tensor<4x5x6xf32>, tensor<5xf32>, tensor<3xi64>, tensor<2x1xi32>)
    -> tensor<4x5x6xf32>
  return
}

// CHECK-LABEL: func @index_put_accumulate
func.func @index_put_accumulate(%x: tensor<4x5x6xf32>, %v: tensor<3x1x6xf32>, %i: tensor<3xi64>) {
  // CHECK: inlay.index_put %{{.*}}, %{{.*}}, %{{.*}} dims [0] accumulate : (tensor<4x5x6xf32>, tensor<3x1x6xf32>, tensor<3xi64>) -> tensor<4x5x6xf32>
  %0 = inlay.index_put %x, %v, %i dims [0] accumulate : (tensor<4x5x6xf32>, tensor<3x1x6xf32>, tensor<3xi64>)
    -> tensor<4x5x6xf32>
  return
}

// CHECK-LABEL: func @scatter
func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<2x9xi64>, %s: tensor<3x9xf32>) {
  // CHECK: inlay.scatter %{{.*}}, %{{.*}}, %{{.*}} dim 1 : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<3x9xf32>) -> tensor<4x5xf32>
  %0 = inlay.scatter %x, %i, %s dim 1 : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<3x9xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func @scatter_amax
func.func @scatter_amax(%x: tensor<4x5xf32>, %i: tensor<2x9xi64>, %s: tensor<2x9xf32>) {
  // CHECK: inlay.scatter %{{.*}}, %{{.*}}, %{{.*}} dim -1 reduce "amax" : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<2x9xf32>) -> tensor<4x5xf32>
  %0 = inlay.scatter %x, %i, %s dim -1 reduce "amax" : (tensor<4x5xf32>, tensor<2x9xi64>, tensor<2x9xf32>)
    -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func @argsort
func.func @argsort(%x: tensor<4x5xi1>) {
  // CHECK: inlay.argsort %{{.*}} dim 0 : (tensor<4x5xi1>) -> tensor<4x5xi64>
  %0 = inlay.argsort %x dim 0 : (tensor<4x5xi1>) -> tensor<4x5xi64>
  return
}

// CHECK-LABEL: func @argsort_descending
func.func @argsort_descending(%x: tensor<4x?xf32>) {
  // CHECK: inlay.argsort %{{.*}} dim -1 descending : (tensor<4x?xf32>) -> tensor<4x?xi64>
  %0 = inlay.argsort %x dim -1 descending : (tensor<4x?xf32>) -> tensor<4x?xi64>
  return
}

// CHECK-LABEL: func @pad
func.func @pad(%x: tensor<2x?xf32>, %v: tensor<f32>) {
  // CHECK: inlay.pad %{{.*}}, %{{.*}} low [0, 1] high [2, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %0 = inlay.pad %x, %v low [0, 1] high [2, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func @flip
func.func @flip(%x: tensor<2x3xf32>) {
  // CHECK: inlay.flip %{{.*}} dims [1, -2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = inlay.flip %x dims [1, -2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @slice_scatter
func.func @slice_scatter(%x: tensor<4x8xf32>, %s: tensor<4x3xf32>) {
  // CHECK: inlay.slice_scatter %{{.*}}, %{{.*}} dim -1 start 1 end -1 step 2 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %0 = inlay.slice_scatter %x, %s dim -1 start 1 end -1 step 2 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @grouped_matmul
func.func @grouped_matmul(%x: tensor<7x4xf32>, %w: tensor<3x4x5xf32>, %o: tensor<3xi32>) {
  // CHECK: inlay.grouped_matmul %{{.*}}, %{{.*}}, %{{.*}} : (tensor<7x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<7x5xf32>
  %0 = inlay.grouped_matmul %x, %w, %o : (tensor<7x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<7x5xf32>
  return
}

// CHECK-LABEL: func @conv_transpose
func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<6xf32>) {
  // CHECK: inlay.conv_transpose %{{.*}}, %{{.*}}, %{{.*}} stride [2, 1] padding [1, 0] output_padding [1, 0] dilation [1, 2] groups 2 : (tensor<1x4x5x5xf32>, tensor<4x3x3x2xf32>, tensor<6xf32>) -> tensor<1x6x10x7xf32>
  %0 = inlay.conv_transpose %x, %w, %b stride [2, 1] padding [1, 0] output_padding [1, 0] dilation [1, 2] groups 2 : (tensor<1x4x5x5xf32>, tensor<4x3x3x2xf32>, tensor<6xf32>)
    -> tensor<1x6x10x7xf32>
  return
}

// CHECK-LABEL: func @conv_transpose_without_bias
func.func @conv_transpose_without_bias(%x: tensor<1x4x?xf32>, %w: tensor<4x3x3xf32>) {
  // CHECK: inlay.conv_transpose %{{.*}}, %{{.*}} stride [2] padding [1] output_padding [1] dilation [1] groups 1 : (tensor<1x4x?xf32>, tensor<4x3x3xf32>) -> tensor<1x3x?xf32>
  %0 = inlay.conv_transpose %x, %w stride [2] padding [1] output_padding [1] dilation [1] groups 1 : (tensor<1x4x?xf32>, tensor<4x3x3xf32>)
    -> tensor<1x3x?xf32>
  return
}
