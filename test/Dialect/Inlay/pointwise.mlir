// Every pointwise op. Operands broadcast, and the result has their element type or i1.
// RUN: inlay-opt %s | inlay-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<2x?xf32>) {
  // CHECK: inlay.abs %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %abs = inlay.abs %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.acos %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %acos = inlay.acos %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.acosh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %acosh = inlay.acosh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.asin %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %asin = inlay.asin %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.asinh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %asinh = inlay.asinh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.atan %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %atan = inlay.atan %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.atanh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %atanh = inlay.atanh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.ceil %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %ceil = inlay.ceil %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.cos %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %cos = inlay.cos %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.cosh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %cosh = inlay.cosh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.erf %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %erf = inlay.erf %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.erfc %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %erfc = inlay.erfc %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.exp %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %exp = inlay.exp %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.exp2 %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %exp2 = inlay.exp2 %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.expm1 %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %expm1 = inlay.expm1 %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.floor %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %floor = inlay.floor %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.gelu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %gelu = inlay.gelu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.lgamma %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %lgamma = inlay.lgamma %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.log %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %log = inlay.log %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.log10 %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %log10 = inlay.log10 %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.log1p %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %log1p = inlay.log1p %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.log2 %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %log2 = inlay.log2 %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.neg %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %neg = inlay.neg %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.reciprocal %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %reciprocal = inlay.reciprocal %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.relu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %relu = inlay.relu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.round %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %round = inlay.round %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.rsqrt %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %rsqrt = inlay.rsqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sigmoid %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sigmoid = inlay.sigmoid %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sign %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sign = inlay.sign %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.silu %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %silu = inlay.silu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sin %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sin = inlay.sin %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sinh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sinh = inlay.sinh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.sqrt %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %sqrt = inlay.sqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.tan %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %tan = inlay.tan %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.tanh %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %tanh = inlay.tanh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: inlay.trunc %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %trunc = inlay.trunc %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func @unary_predicates
func.func @unary_predicates(%x: tensor<2x?xf32>) {
  // CHECK: inlay.isinf %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %isinf = inlay.isinf %x : (tensor<2x?xf32>) -> tensor<2x?xi1>
  // CHECK: inlay.isnan %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %isnan = inlay.isnan %x : (tensor<2x?xf32>) -> tensor<2x?xi1>
  // CHECK: inlay.logical_not %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %logical_not = inlay.logical_not %x : (tensor<2x?xf32>) -> tensor<2x?xi1>
  // CHECK: inlay.signbit %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %signbit = inlay.signbit %x : (tensor<2x?xf32>) -> tensor<2x?xi1>
  return
}

// CHECK-LABEL: func @bits
func.func @bits(%x: tensor<2x?xi1>) {
  // CHECK: inlay.bitwise_not %{{.*}} : (tensor<2x?xi1>) -> tensor<2x?xi1>
  %bitwise_not = inlay.bitwise_not %x : (tensor<2x?xi1>) -> tensor<2x?xi1>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<2x1xi32>, %y: tensor<5x1x?xi32>) {
  // CHECK: inlay.add %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %add = inlay.add %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.atan2 %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %atan2 = inlay.atan2 %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.bitwise_and %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %bitwise_and = inlay.bitwise_and %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.bitwise_left_shift %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %bitwise_left_shift = inlay.bitwise_left_shift %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.bitwise_or %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %bitwise_or = inlay.bitwise_or %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.bitwise_right_shift %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %bitwise_right_shift = inlay.bitwise_right_shift %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.bitwise_xor %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %bitwise_xor = inlay.bitwise_xor %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.copysign %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %copysign = inlay.copysign %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.div %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %div = inlay.div %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.floor_div %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %floor_div = inlay.floor_div %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.fmax %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %fmax = inlay.fmax %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.fmin %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %fmin = inlay.fmin %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.fmod %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %fmod = inlay.fmod %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.maximum %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %maximum = inlay.maximum %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.minimum %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %minimum = inlay.minimum %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.mul %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %mul = inlay.mul %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.pow %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %pow = inlay.pow %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.remainder %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %remainder = inlay.remainder %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.sub %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %sub = inlay.sub %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  // CHECK: inlay.trunc_div %{{.*}}, %{{.*}} : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  %trunc_div = inlay.trunc_div %x, %y : (tensor<2x1xi32>, tensor<5x1x?xi32>) -> tensor<5x2x?xi32>
  return
}

// CHECK-LABEL: func @binary_predicates
func.func @binary_predicates(%x: tensor<2x1xf16>, %y: tensor<5x1x?xf16>) {
  // CHECK: inlay.eq %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %eq = inlay.eq %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.ge %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %ge = inlay.ge %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.gt %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %gt = inlay.gt %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.le %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %le = inlay.le %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.logical_and %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %logical_and = inlay.logical_and %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.logical_or %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %logical_or = inlay.logical_or %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.logical_xor %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %logical_xor = inlay.logical_xor %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.lt %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %lt = inlay.lt %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  // CHECK: inlay.ne %{{.*}}, %{{.*}} : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  %ne = inlay.ne %x, %y : (tensor<2x1xf16>, tensor<5x1x?xf16>) -> tensor<5x2x?xi1>
  return
}

// CHECK-LABEL: func @where
func.func @where(%c: tensor<?xi1>, %x: tensor<2x1xf16>, %y: tensor<f16>) {
  // CHECK: inlay.where %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?xi1>, tensor<2x1xf16>, tensor<f16>) -> tensor<2x?xf16>
  %where = inlay.where %c, %x, %y : (tensor<?xi1>, tensor<2x1xf16>, tensor<f16>) -> tensor<2x?xf16>
  return
}

// CHECK-LABEL: func @broadcast_of_unknown_sizes
func.func @broadcast_of_unknown_sizes(%x: tensor<?xf32>, %y: tensor<3xf32>, %z: tensor<1xf32>, %scalar: tensor<f32>) {
  // An unknown size paired with a known one must be equal to it or 1.
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
