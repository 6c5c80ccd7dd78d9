// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/gpt-attention.pdl.mlir labels=fuse_attention_with_bias" | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/gpt-attention.pdl.mlir labels=remove_input_padding args=hidden_size=12" | FileCheck %s --check-prefix=PACKED

!qkv = tensor<4x8x12xf32>
!out = tensor<4x8x4xf32>
!cache = tensor<4x2x4xf32>

// CHECK-LABEL: @bias_becomes_the_plugins
// CHECK: %[[BIAS:.*]] = inlay.constant dense<1.000000e+00>
// CHECK-NEXT: %[[QKV:.*]] = inlay.matmul
// CHECK-NEXT: inlay.plugin "GPTAttention"(%[[QKV]], %arg1, %[[BIAS]]) {qkv_bias_enabled = 1 : i64}
// PACKED-LABEL: @bias_becomes_the_plugins
// PACKED: %[[SUM:.*]] = inlay.add
// PACKED-NEXT: %[[ROW:.*]] = inlay.reshape %[[SUM]] shape [1, -1, 12] : (tensor<4x8x12xf32>) -> tensor<1x32x12xf32>
// PACKED-NEXT: %[[NEW:.*]]:2 = inlay.plugin "GPTAttention"(%[[ROW]], %arg1)
// PACKED-NEXT: return %[[NEW]]#0, %[[NEW]]#1
func.func @bias_becomes_the_plugins(%x: tensor<4x8x4xf32>, %past: !cache) -> (!out, !cache) {
  %w = inlay.constant dense<0.5> : tensor<4x12xf32>
  %b = inlay.constant dense<1.0> : tensor<12xf32>
  %0 = inlay.matmul %x, %w : (tensor<4x8x4xf32>, tensor<4x12xf32>) -> !qkv
  %1 = inlay.add %b, %0 : (tensor<12xf32>, !qkv) -> !qkv
  %2:2 = inlay.plugin "GPTAttention"(%1, %past) : (!qkv, !cache) -> (!out, !cache)
  return %2#0, %2#1 : !out, !cache
}

// CHECK-LABEL: @sum_with_two_users_stays
// CHECK: inlay.plugin "GPTAttention"(%{{[0-9]+}}, %arg1) :
func.func @sum_with_two_users_stays(%x: !qkv, %past: !cache) -> (!out, !qkv) {
  %b = inlay.constant dense<1.0> : tensor<12xf32>
  %0 = inlay.add %x, %b : (!qkv, tensor<12xf32>) -> !qkv
  %1:2 = inlay.plugin "GPTAttention"(%0, %past) : (!qkv, !cache) -> (!out, !cache)
  return %1#0, %0 : !out, !qkv
}

// CHECK-LABEL: @constants_alone_stay
// CHECK: inlay.plugin "GPTAttention"(%{{[0-9]+}}, %arg0) :
func.func @constants_alone_stay(%past: !cache) -> !out {
  %a = inlay.constant dense<2.0> : !qkv
  %b = inlay.constant dense<1.0> : tensor<12xf32>
  %0 = inlay.add %a, %b : (!qkv, tensor<12xf32>) -> !qkv
  %1:2 = inlay.plugin "GPTAttention"(%0, %past) : (!qkv, !cache) -> (!out, !cache)
  return %1#0 : !out
}

// CHECK-LABEL: @no_constant_stays
// CHECK: inlay.plugin "GPTAttention"(%{{[0-9]+}}, %arg2) :
func.func @no_constant_stays(%x: !qkv, %y: !qkv, %past: !cache) -> !out {
  %0 = inlay.add %x, %y : (!qkv, !qkv) -> !qkv
  %1:2 = inlay.plugin "GPTAttention"(%0, %past) : (!qkv, !cache) -> (!out, !cache)
  return %1#0 : !out
}

// CHECK-LABEL: @bias_is_there_already
// CHECK: inlay.plugin "GPTAttention"(%{{[0-9]+}}, %arg1) {qkv_bias_enabled = 1 : i64} :
func.func @bias_is_there_already(%x: !qkv, %past: !cache) -> !out {
  %b = inlay.constant dense<1.0> : tensor<12xf32>
  %0 = inlay.add %x, %b : (!qkv, tensor<12xf32>) -> !qkv
  %1:2 = inlay.plugin "GPTAttention"(%0, %past) {qkv_bias_enabled = 1 : i64} : (!qkv, !cache) -> (!out, !cache)
  return %1#0 : !out
}

// CHECK-LABEL: @one_output_stays
// CHECK: inlay.plugin "GPTAttention"(%{{[0-9]+}}, %arg1) :
func.func @one_output_stays(%x: !qkv, %past: !cache) -> !out {
  %b = inlay.constant dense<1.0> : tensor<12xf32>
  %0 = inlay.add %x, %b : (!qkv, tensor<12xf32>) -> !qkv
  %1 = inlay.plugin "GPTAttention"(%0, %past) : (!qkv, !cache) -> !out
  return %1 : !out
}

// CHECK-LABEL: @packed_already
// PACKED-LABEL: @packed_already
// PACKED-NEXT: inlay.plugin "GPTAttention"(%arg0, %arg1)
func.func @packed_already(%x: tensor<1x32x12xf32>, %past: !cache) -> tensor<1x32x4xf32> {
  %0:2 = inlay.plugin "GPTAttention"(%x, %past) : (tensor<1x32x12xf32>, !cache) -> (tensor<1x32x4xf32>, !cache)
  return %0#0 : tensor<1x32x4xf32>
}
