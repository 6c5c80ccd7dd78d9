// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --mlir-print-op-generic | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --emit-bytecode | inlay-opt | FileCheck %s

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>) {
  // CHECK: inlay.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x8x3xf32>
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 2.500000e-01 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// CHECK-LABEL: func @attention_causal
func.func @attention_causal(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>) {
  // CHECK: inlay.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 is_causal : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x8x3xf32>
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.000000e+00 is_causal : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// CHECK-LABEL: func @attention_masked
func.func @attention_masked(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>, %m: tensor<4x1x6xi1>) {
  // CHECK: inlay.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>, tensor<4x1x6xi1>) -> tensor<2x4x8x3xf32>
  %0 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 2.500000e-01 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>, tensor<4x1x6xi1>)
    -> tensor<2x4x8x3xf32>
  return
}

// CHECK-LABEL: func @attention_grouped
func.func @attention_grouped(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x6x16xf32>, %v: tensor<2x1x6x3xf32>, %m: tensor<8x6xf32>) {
  // CHECK: inlay.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 enable_gqa : (tensor<2x4x8x16xf32>, tensor<2x2x6x16xf32>, tensor<2x1x6x3xf32>, tensor<8x6xf32>) -> tensor<2x4x8x3xf32>
  %0 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 2.500000e-01 enable_gqa : (tensor<2x4x8x16xf32>, tensor<2x2x6x16xf32>, tensor<2x1x6x3xf32>, tensor<8x6xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// CHECK-LABEL: func @attention_of_unknown_sizes
func.func @attention_of_unknown_sizes(%q: tensor<?x8x?xf32>, %k: tensor<?x?x16xf32>, %v: tensor<2x?x3xf32>) {
  // CHECK: inlay.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 : (tensor<?x8x?xf32>, tensor<?x?x16xf32>, tensor<2x?x3xf32>) -> tensor<2x8x3xf32>
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 2.500000e-01 : (tensor<?x8x?xf32>, tensor<?x?x16xf32>, tensor<2x?x3xf32>)
    -> tensor<2x8x3xf32>
  return
}

// CHECK-LABEL: func @group_norm
func.func @group_norm(%x: tensor<2x6x5xf32>, %w: tensor<6xf32>, %b: tensor<6xf32>) {
  // CHECK: inlay.group_norm %{{.*}}, %{{.*}}, %{{.*}} groups 3 eps 1.000000e-05 : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  %0 = inlay.group_norm %x, %w, %b groups 3 eps 1.000000e-05 : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>)
    -> tensor<2x6x5xf32>
  return
}

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<2x6x5xf32>, %w: tensor<6x5xf32>) {
  // CHECK: inlay.rms_norm %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x6x5xf32>, tensor<6x5xf32>) -> tensor<2x6x5xf32>
  %0 = inlay.rms_norm %x, %w eps 1.000000e-05 : (tensor<2x6x5xf32>, tensor<6x5xf32>) -> tensor<2x6x5xf32>
  return
}
