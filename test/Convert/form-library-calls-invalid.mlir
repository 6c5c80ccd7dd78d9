// RUN: inlay-opt %s --inlay-convert-form-library-calls | FileCheck %s
// CHECK-NOT: plan.library_call

// Ops that the library does not support, or does not compute faster, stay.

// CHECK: inlay.linear
func.func @elements(%x: tensor<32x64xf16>, %w: tensor<16x64xf16>) -> tensor<32x16xf16> {
  %0 = inlay.linear %x, %w : (tensor<32x64xf16>, tensor<16x64xf16>) -> tensor<32x16xf16>
  return %0 : tensor<32x16xf16>
}

// 4095 multiplications.
// CHECK: inlay.matmul
func.func @tiny(%x: tensor<63x5xf32>, %y: tensor<5x13xf32>) -> tensor<63x13xf32> {
  %0 = inlay.matmul %x, %y : (tensor<63x5xf32>, tensor<5x13xf32>) -> tensor<63x13xf32>
  return %0 : tensor<63x13xf32>
}

// CHECK: inlay.matmul
func.func @empty(%x: tensor<64x0xf32>, %y: tensor<0x64xf32>) -> tensor<64x64xf32> {
  %0 = inlay.matmul %x, %y : (tensor<64x0xf32>, tensor<0x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK: inlay.matmul
func.func @dims(%x: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %0 = inlay.matmul %x, %y : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK: inlay.conv
func.func @spatial(%x: tensor<1x4x8x8x8xf32>, %w: tensor<4x4x3x3x3xf32>) -> tensor<1x4x6x6x6xf32> {
  %0 = inlay.conv %x, %w stride [1, 1, 1] padding [0, 0, 0] dilation [1, 1, 1] groups 1
    : (tensor<1x4x8x8x8xf32>, tensor<4x4x3x3x3xf32>) -> tensor<1x4x6x6x6xf32>
  return %0 : tensor<1x4x6x6x6xf32>
}

// CHECK: inlay.conv_transpose
func.func @transposed(%x: tensor<1x8x8x8xf32>, %w: tensor<8x8x2x2xf32>) -> tensor<1x8x16x16xf32> {
  %0 = inlay.conv_transpose %x, %w stride [2, 2] padding [0, 0] output_padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x8x8x8xf32>, tensor<8x8x2x2xf32>) -> tensor<1x8x16x16xf32>
  return %0 : tensor<1x8x16x16xf32>
}

// CHECK: inlay.scaled_dot_product_attention
func.func @leading(%q: tensor<2x2x2x8x16xf32>) -> tensor<2x2x2x8x16xf32> {
  %0 = inlay.scaled_dot_product_attention %q, %q, %q scale 0.25
    : (tensor<2x2x2x8x16xf32>, tensor<2x2x2x8x16xf32>, tensor<2x2x2x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  return %0 : tensor<2x2x2x8x16xf32>
}

// A mask for each batch, where heads share keys.
// CHECK: inlay.scaled_dot_product_attention
func.func @masks(%q: tensor<2x6x8x16xf32>, %k: tensor<2x2x8x16xf32>, %m: tensor<2x1x8x8xf32>) -> tensor<2x6x8x16xf32> {
  %0 = inlay.scaled_dot_product_attention %q, %k, %k, %m scale 0.25 enable_gqa
    : (tensor<2x6x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x1x8x8xf32>) -> tensor<2x6x8x16xf32>
  return %0 : tensor<2x6x8x16xf32>
}

// A depthwise convolution of codes is one of floats, and so is a product whose input has a scale for each column.
// CHECK: inlay.conv
func.func @integer_groups(%x: tensor<1x16x4x4xi8>, %w: tensor<16x1x3x3xi8>, %s: tensor<1x1x1x1xf32>) -> tensor<1x16x4x4xf64> {
  %0 = inlay.dequantize %x, %s code "u8" block [-1, -1, -1, -1] to f64 : (tensor<1x16x4x4xi8>, tensor<1x1x1x1xf32>) -> tensor<1x16x4x4xf64>
  %1 = inlay.dequantize %w, %s code "i8" block [-1, -1, -1, -1] to f64 : (tensor<16x1x3x3xi8>, tensor<1x1x1x1xf32>) -> tensor<16x1x3x3xf64>
  %2 = inlay.conv %0, %1 stride [1, 1] padding [1, 1] dilation [1, 1] groups 16
    : (tensor<1x16x4x4xf64>, tensor<16x1x3x3xf64>) -> tensor<1x16x4x4xf64>
  return %2 : tensor<1x16x4x4xf64>
}

// CHECK: inlay.matmul
func.func @integer_columns(%x: tensor<32x64xi8>, %w: tensor<64x16xi8>, %s: tensor<1x64xf32>, %t: tensor<1x1xf32>) -> tensor<32x16xf64> {
  %0 = inlay.dequantize %x, %s code "i8" block [-1, 1] to f64 : (tensor<32x64xi8>, tensor<1x64xf32>) -> tensor<32x64xf64>
  %1 = inlay.dequantize %w, %t code "i8" block [-1, -1] to f64 : (tensor<64x16xi8>, tensor<1x1xf32>) -> tensor<64x16xf64>
  %2 = inlay.matmul %0, %1 : (tensor<32x64xf64>, tensor<64x16xf64>) -> tensor<32x16xf64>
  return %2 : tensor<32x16xf64>
}
