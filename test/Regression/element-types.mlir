// Element types that the runtime does not support are refused before anything is computed from their width.
// RUN: not inlay-opt %s --inlay-partition --split-input-file 2>&1 | FileCheck %s
// CHECK: 'vulkan': expected tensors of bool, i8-i64, f16, bf16, f32 or f64, but got tensor<16xindex>
// CHECK: 'host': expected tensors of bool, i8-i64, f16, bf16, f32 or f64, but got tensor<16xi24>
func.func @index(%x: tensor<16xi32>) -> tensor<16xi32> {
  %0 = arith.index_cast %x : tensor<16xi32> to tensor<16xindex>
  %1 = arith.index_cast %0 : tensor<16xindex> to tensor<16xi32>
  return %1 : tensor<16xi32>
}

// -----

func.func @odd_width(%x: tensor<16xi32>) -> tensor<16xi32> {
  %0 = inlay.cast %x to i24 : (tensor<16xi32>) -> tensor<16xi24>
  %1 = inlay.cast %0 to i32 : (tensor<16xi24>) -> tensor<16xi32>
  return %1 : tensor<16xi32>
}
