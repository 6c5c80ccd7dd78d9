// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=TABLE

// The packed weight is used twice and in two segments, and counts once. Codes are found behind ops on bytes. Bytes that are no
// codes and small constants keep the types of their elements.

// JSON: "weights": {
// JSON-NEXT: "bf16": 8,
// JSON-NEXT: "f32": 64,
// JSON-NEXT: "i2": 6,
// JSON-NEXT: "i8": 5,
// JSON-NEXT: "u4": 32
// JSON-NEXT: },

// TABLE: weights: 8 B bf16, 64 B f32, 6 B i2, 5 B i8, 32 B u4

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::x"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @forward(%x: tensor<1x8xf32>, %ids: tensor<2xi64>) -> (tensor<1x8xf32>, tensor<2x8xf32>, tensor<5xi8>, tensor<4xf32>) {
    %codes = inlay.constant dense_resource<codes> : tensor<8x4xi8>
    %scales = inlay.constant dense_resource<scales> : tensor<8x1xf32>
    %table = inlay.constant dense_resource<table> : tensor<3x2xi8>
    %shared = inlay.constant dense_resource<shared> : tensor<8xf32>
    %short = inlay.constant dense_resource<short> : tensor<4xbf16>
    %bytes = inlay.constant dense_resource<bytes> : tensor<5xi8>
    %small = inlay.constant dense<1.0> : tensor<1x1xf32>
    %w = inlay.dequantize %codes, %scales code "u4" block [1, -1] to f32 : (tensor<8x4xi8>, tensor<8x1xf32>) -> tensor<8x8xf32>
    %y = inlay.linear %x, %w, %shared : (tensor<1x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %o = "inlay.opaque"(%y) <{name = "aten::x"}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %v = inlay.dequantize %codes, %scales code "u4" block [1, -1] to f32 : (tensor<8x4xi8>, tensor<8x1xf32>) -> tensor<8x8xf32>
    %z = inlay.linear %o, %v, %shared : (tensor<1x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %rows = inlay.index_select %table, %ids dim 0 : (tensor<3x2xi8>, tensor<2xi64>) -> tensor<2x2xi8>
    %e = inlay.dequantize %rows, %small code "i2" block [-1, -1] to f32 : (tensor<2x2xi8>, tensor<1x1xf32>) -> tensor<2x8xf32>
    %b = inlay.add %bytes, %bytes : (tensor<5xi8>, tensor<5xi8>) -> tensor<5xi8>
    %s = inlay.cast %short to f32 : (tensor<4xbf16>) -> tensor<4xf32>
    return %z, %e, %b, %s : tensor<1x8xf32>, tensor<2x8xf32>, tensor<5xi8>, tensor<4xf32>
  }
}
{-# dialect_resources: { builtin: {
  codes: "0x040000000000000000000000000000000000000000000000000000000000000000000000",
  scales: "0x040000000000000000000000000000000000000000000000000000000000000000000000",
  table: "0x04000000000000000000",
  shared: "0x040000000000000000000000000000000000000000000000000000000000000000000000",
  short: "0x040000000000000000000000",
  bytes: "0x040000000000000000"
} } #-}
