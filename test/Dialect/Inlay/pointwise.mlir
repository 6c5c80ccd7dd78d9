// Every pointwise op: operands broadcast, the result has their element type.
// RUN: inlay-opt %s | inlay-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<2x?xf32>) {
  // CHECK: inlay.abs %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %abs = inlay.abs %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.ceil %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %ceil = inlay.ceil %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.cos %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %cos = inlay.cos %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.erf %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %erf = inlay.erf %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.exp %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %exp = inlay.exp %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.floor %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %floor = inlay.floor %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.gelu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %gelu = inlay.gelu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.lgamma %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %lgamma = inlay.lgamma %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.log %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %log = inlay.log %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.neg %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %neg = inlay.neg %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.reciprocal %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %reciprocal = inlay.reciprocal %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.relu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %relu = inlay.relu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.rsqrt %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %rsqrt = inlay.rsqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sigmoid %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sigmoid = inlay.sigmoid %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.silu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %silu = inlay.silu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sin %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sin = inlay.sin %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sqrt %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sqrt = inlay.sqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.tanh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %tanh = inlay.tanh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<2x1xi32>, %y: tensor<5x1x?xi32>) {
  // CHECK: inlay.add %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %add = inlay.add %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.div %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %div = inlay.div %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.maximum %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %maximum = inlay.maximum %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.minimum %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %minimum = inlay.minimum %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.mul %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %mul = inlay.mul %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.pow %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %pow = inlay.pow %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.sub %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %sub = inlay.sub %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  return
}

// CHECK-LABEL: func @broadcast_of_unknown_sizes
func.func @broadcast_of_unknown_sizes(%x: tensor<?xf32>, %y: tensor<3xf32>, %z: tensor<1xf32>, %scalar: tensor<f32>) {
  // An unknown size beside a known one must be that or 1.
  // CHECK: -> tensor<3xf32>
  %0 = inlay.add %x, %y : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: -> tensor<?xf32>
  %1 = inlay.add %z, %x : (tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: -> tensor<?xf32>
  %2 = inlay.add %scalar, %x : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: -> tensor<0xf32>
  %empty = inlay.slice %y dim 0 start 0 end 0 step 1 : (tensor<3xf32>) -> tensor<0xf32>
  // CHECK: inlay.add {{.*}} -> tensor<0xf32>
  %3 = inlay.add %z, %empty : (tensor<1xf32>, tensor<0xf32>) -> tensor<0xf32>
  return
}
