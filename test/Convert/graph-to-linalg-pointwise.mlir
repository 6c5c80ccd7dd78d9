// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --linalg-fuse-elementwise-ops --split-input-file | FileCheck %s --check-prefix=FUSED

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @missing_dims_repeat(
func.func @missing_dims_repeat(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
  // CHECK: arith.addf
  %r = inlay.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @dims_of_size_one_repeat(
func.func @dims_of_size_one_repeat(%x: tensor<2x1xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ID]], #[[ID]]]
  %0 = inlay.mul %x, %y : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[SCALAR]], #[[ID]]]
  %1 = inlay.mul %0, %z : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// A dim that is 1 in the result too needs no special map.
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @dims_of_size_one_stay(
func.func @dims_of_size_one_stay(%x: tensor<1x3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]]]
  %r = inlay.sub %x, %y : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic_dims(
// CHECK-SAME:    %{{.*}}: tensor<2x?xf32>, %[[Y:.*]]: tensor<?xf32>)
func.func @dynamic_dims(%x: tensor<2x?xf32>, %y: tensor<?xf32>) -> tensor<2x?xf32> {
  // CHECK: %[[DIM:.*]] = tensor.dim %{{.*}}, %{{.*}}
  // CHECK: tensor.empty(%[[DIM]]) : tensor<2x?xf32>
  // CHECK: linalg.generic
  %r = inlay.add %x, %y : (tensor<2x?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// -----

// PyTorch computes 16-bit floats in f32 and rounds the result of each op.
// CHECK-LABEL: func.func @short_floats(
func.func @short_floats(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f16):
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[IN]] : f16 to f32
  // CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[WIDE]] : f32
  // CHECK-NEXT: %[[OUT:.*]] = arith.truncf %[[TANH]] : f32 to f16
  // CHECK-NEXT: linalg.yield %[[OUT]]
  %r = inlay.tanh %x : (tensor<4xf16>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @integers(
func.func @integers(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  // CHECK: arith.addi
  %0 = inlay.add %x, %y : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: arith.maxsi
  %1 = inlay.maximum %0, %y : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// -----

// FUSED-LABEL: func.func @chains_fuse(
// FUSED-COUNT-1: linalg.generic
// FUSED-NOT: linalg.generic
// FUSED: return
func.func @chains_fuse(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf16> {
  %0 = inlay.add %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = inlay.silu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = inlay.mul %1, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = inlay.cast %2 to f16 : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return %3 : tensor<2x3xf16>
}

// -----

// CHECK-LABEL: func.func @casts_of_floats(
func.func @casts_of_floats(%x: tensor<4xf32>, %h: tensor<4xf16>)
    -> (tensor<4xi32>, tensor<4xi1>, tensor<4xf64>, tensor<4xbf16>, tensor<4xf32>) {
  // CHECK: arith.fptosi %{{.*}} : f32 to i32
  %0 = inlay.cast %x to i32 : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : f32
  %1 = inlay.cast %x to i1 : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: arith.extf %{{.*}} : f32 to f64
  %2 = inlay.cast %x to f64 : (tensor<4xf32>) -> tensor<4xf64>
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
  %3 = inlay.cast %h to bf16 : (tensor<4xf16>) -> tensor<4xbf16>
  // CHECK-NOT: linalg.generic
  %4 = inlay.cast %x to f32 : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi1>, tensor<4xf64>, tensor<4xbf16>, tensor<4xf32>
}

// -----

// Values that do not fit 32 bits, and NaN, become the smallest 32-bit integer, truncated to the type.
// CHECK-LABEL: func.func @casts_that_may_not_fit(
func.func @casts_that_may_not_fit(%x: tensor<4xf32>) -> tensor<4xi8> {
  // CHECK: %[[ENOUGH:.*]] = arith.cmpf oge, %[[X:.*]], %{{.*}} : f32
  // CHECK: %[[FITTING:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : f32
  // CHECK: %[[FITS:.*]] = arith.andi %[[ENOUGH]], %[[FITTING]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[FITS]], %[[X]], %{{.*}} : f32
  // CHECK: %[[LEAST:.*]] = arith.constant -2147483648 : i32
  // CHECK: %[[WHOLE:.*]] = arith.fptosi %[[SAFE]] : f32 to i32
  // CHECK: %[[NUMBER:.*]] = arith.select %[[FITS]], %[[WHOLE]], %[[LEAST]] : i32
  // CHECK: arith.trunci %[[NUMBER]] : i32 to i8
  %r = inlay.cast %x to i8 : (tensor<4xf32>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @casts_to_short_floats(
func.func @casts_to_short_floats(%x: tensor<4xf64>, %n: tensor<4xi64>) -> (tensor<4xf16>, tensor<4xbf16>) {
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
  %0 = inlay.cast %x to f16 : (tensor<4xf64>) -> tensor<4xf16>
  // CHECK: arith.sitofp %{{.*}} : i64 to f32
  // CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
  %1 = inlay.cast %n to bf16 : (tensor<4xi64>) -> tensor<4xbf16>
  return %0, %1 : tensor<4xf16>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @comparisons(
func.func @comparisons(%x: tensor<4xf32>, %n: tensor<4xi8>, %b: tensor<4xi1>)
    -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : f32
  %0 = inlay.ne %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i8
  %1 = inlay.lt %n, %n : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  // CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i1
  %2 = inlay.lt %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : f32
  // CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : f32
  // CHECK: arith.xori
  %3 = inlay.logical_xor %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @where(
func.func @where(%c: tensor<3xi1>, %x: tensor<2x3xi16>, %y: tensor<i16>) -> tensor<2x3xi16> {
  // CHECK: ^bb0(%[[C:.*]]: i1, %[[X:.*]]: i16, %[[Y:.*]]: i16, %{{.*}}: i16):
  // CHECK-NEXT: arith.select %[[C]], %[[X]], %[[Y]] : i16
  %r = inlay.where %c, %x, %y : (tensor<3xi1>, tensor<2x3xi16>, tensor<i16>) -> tensor<2x3xi16>
  return %r : tensor<2x3xi16>
}

// -----

// Hardware may trap on a division by 0, or of the smallest integer by -1.
// CHECK-LABEL: func.func @integer_division(
func.func @integer_division(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[UNSAFE:.*]] = arith.cmpi ule
  // CHECK: %[[SAFE:.*]] = arith.select %[[UNSAFE]]
  // CHECK: arith.divsi %{{.*}}, %[[SAFE]] : i32
  %r = inlay.trunc_div %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @logic_of_booleans(
func.func @logic_of_booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: arith.ori
  %0 = inlay.add %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: arith.andi
  %1 = inlay.mul %0, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @empty(
func.func @empty(%x: tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<3xf32>) {
  // CHECK-NOT: linalg.generic
  // CHECK: tensor.empty() : tensor<0x3xf32>
  %0 = inlay.exp %x : (tensor<0x3xf32>) -> tensor<0x3xf32>
  // CHECK: linalg.fill
  %1 = inlay.sum %x dims [0] : (tensor<0x3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<0x3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @casts_of_integers(
func.func @casts_of_integers(%x: tensor<4xi32>, %b: tensor<4xi1>)
    -> (tensor<4xi64>, tensor<4xi8>, tensor<4xi1>, tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) {
  // CHECK: arith.extsi %{{.*}} : i32 to i64
  %0 = inlay.cast %x to i64 : (tensor<4xi32>) -> tensor<4xi64>
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %1 = inlay.cast %x to i8 : (tensor<4xi32>) -> tensor<4xi8>
  // CHECK: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
  %2 = inlay.cast %x to i1 : (tensor<4xi32>) -> tensor<4xi1>
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  %3 = inlay.cast %x to f32 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK: arith.extui %{{.*}} : i1 to i64
  %4 = inlay.cast %b to i64 : (tensor<4xi1>) -> tensor<4xi64>
  // CHECK: arith.uitofp %{{.*}} : i1 to f32
  %5 = inlay.cast %b to f32 : (tensor<4xi1>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5
    : tensor<4xi64>, tensor<4xi8>, tensor<4xi1>, tensor<4xf32>, tensor<4xi64>, tensor<4xf32>
}
