// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @sum(
func.func @sum(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  // CHECK: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<3xf32>
  // CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[OUT]]], iterator_types = ["reduction", "parallel", "reduction"]}
  // CHECK-SAME: outs(%[[INIT]]
  // CHECK-NOT: linalg.generic
  %r = inlay.sum %x dims [-1, 0] : (tensor<2x3x4xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @kept_dims(
func.func @kept_dims(%x: tensor<2x3x4x5xf32>) -> tensor<1x3x1x1xf32> {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf32>)
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2, 3]] {{.*}} : tensor<3xf32> into tensor<1x3x1x1xf32>
  %r = inlay.sum %x dims [0, 2, 3] keepdim : (tensor<2x3x4x5xf32>) -> tensor<1x3x1x1xf32>
  return %r : tensor<1x3x1x1xf32>
}

// -----

// CHECK-LABEL: func.func @mean(
func.func @mean(%x: tensor<2x3xf16>) -> tensor<f16> {
  // CHECK: linalg.fill {{.*}} -> tensor<f32>
  // CHECK: arith.addf %{{.*}} : f32
  // CHECK: %[[COUNT:.*]] = arith.constant 6.0
  // CHECK: %[[MEAN:.*]] = arith.divf %{{.*}}, %[[COUNT]]
  // CHECK: arith.truncf %[[MEAN]] : f32 to f16
  %r = inlay.mean %x dims [0, 1] : (tensor<2x3xf16>) -> tensor<f16>
  return %r : tensor<f16>
}

// -----

// CHECK-LABEL: func.func @mean_of_dynamic_dims(
func.func @mean_of_dynamic_dims(%x: tensor<2x?xf32>) -> tensor<2xf32> {
  // CHECK: tensor.dim
  // CHECK: %[[N:.*]] = arith.sitofp
  // CHECK: %[[COUNT:.*]] = arith.mulf %{{.*}}, %[[N]]
  // CHECK: arith.divf %{{.*}}, %[[COUNT]]
  %r = inlay.mean %x dims [1] : (tensor<2x?xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @amax(
func.func @amax(%x: tensor<2x3xf32>, %i: tensor<2x3xi8>, %b: tensor<2x3xi1>) -> (tensor<2xf32>, tensor<2xi8>, tensor<2xi1>) {
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: arith.maximumf
  %0 = inlay.amax %x dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: arith.constant -128 : i8
  // CHECK: arith.maxsi
  %1 = inlay.amax %i dims [1] : (tensor<2x3xi8>) -> tensor<2xi8>
  // CHECK: arith.constant false
  // CHECK: arith.ori
  %2 = inlay.amax %b dims [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xi8>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x5xf32>)
func.func @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]]
  // CHECK: arith.maximumf
  // CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]]
  // CHECK: arith.subf
  // CHECK: math.exp
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]]
  // CHECK: arith.addf
  // CHECK: linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]]
  // CHECK: arith.divf
  %r = inlay.softmax %x dim -1 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x8xf32>, %[[W:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>)
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x8xf32>) outs(%{{.*}} : tensor<2xf32>)
  // CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SUM]] : {{.*}}) outs(%{{.*}} : tensor<2xf32>)
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %[[SUM]], %[[SQUARES]], %[[W]], %[[B]]
  // CHECK: math.rsqrt
  // CHECK-NOT: linalg.generic
  %r = inlay.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// CHECK: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @batch_norm(
func.func @batch_norm(%x: tensor<2x4x8xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>)
    -> tensor<2x4x8xf32> {
  // CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]}
  // CHECK: ^bb0(%[[X:.*]]: f32, %[[W:.*]]: f32, %[[B:.*]]: f32, %[[M:.*]]: f32, %[[V:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[SHIFTED:.*]] = arith.addf %[[V]], %
  // CHECK: %[[RSQRT:.*]] = math.rsqrt %[[SHIFTED]]
  // CHECK: %[[SCALE:.*]] = arith.mulf %[[RSQRT]], %[[W]]
  // CHECK: %[[CENTRED:.*]] = arith.subf %[[X]], %[[M]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[CENTRED]], %[[SCALE]]
  // CHECK: arith.addf %[[SCALED]], %[[B]]
  // CHECK-NOT: linalg.generic
  %r = inlay.batch_norm %x, %w, %b, %m, %v eps 1.0e-5
    : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @tests(
func.func @tests(%x: tensor<2x3xf32>) -> (tensor<2xi1>, tensor<2xi1>) {
  // CHECK: linalg.fill {{.*}} -> tensor<2xi1>
  // CHECK: %[[TRUTH:.*]] = arith.cmpf une
  // CHECK: arith.ori %{{.*}}, %[[TRUTH]] : i1
  %0 = inlay.any %x dims [1] : (tensor<2x3xf32>) -> tensor<2xi1>
  // CHECK: arith.andi
  %1 = inlay.all %x dims [1] : (tensor<2x3xf32>) -> tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func.func @product(
func.func @product(%x: tensor<2x3xf16>) -> tensor<2xf16> {
  // CHECK: arith.constant 1.000000e+00 : f32
  // CHECK: arith.mulf %{{.*}} : f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %r = inlay.prod %x dims [1] : (tensor<2x3xf16>) -> tensor<2xf16>
  return %r : tensor<2xf16>
}

// -----

// The largest element, then its lowest index.
// CHECK-LABEL: func.func @argmax(
func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {
  // CHECK: %[[BEST:.*]] = linalg.generic
  // CHECK: arith.maximumf
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BEST]] : tensor<2x3xf32>, tensor<2xf32>)
  // CHECK: linalg.index 1
  // CHECK: arith.minsi
  // CHECK: arith.cmpf oeq
  // CHECK: arith.cmpf uno
  // CHECK: tensor.expand_shape
  %r = inlay.argmax %x dim -1 keepdim : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return %r : tensor<2x1xi64>
}

// -----

// Three rounds for up to eight elements.
// CHECK-LABEL: func.func @cumsum(
func.func @cumsum(%x: tensor<2x5xi64>) -> tensor<2x5xi64> {
  // CHECK-COUNT-3: tensor.extract
  // CHECK-NOT: tensor.extract
  // CHECK: return
  %r = inlay.cumsum %x dim 1 : (tensor<2x5xi64>) -> tensor<2x5xi64>
  return %r : tensor<2x5xi64>
}

// -----

// A round adds the values, and before that their rounding errors to those of earlier rounds.
// CHECK-LABEL: func.func @cumsum_f32(
func.func @cumsum_f32(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[ERROR:.*]] = linalg.generic
  // CHECK: arith.addf
  // CHECK: arith.subf
  // CHECK: %[[SUM:.*]] = linalg.generic
  // CHECK: tensor.extract
  // CHECK: arith.addf
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[ERROR]]
  // CHECK: arith.cmpf ord
  // CHECK: arith.select
  %r = inlay.cumsum %x dim 0 : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
