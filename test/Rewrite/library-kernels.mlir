// RUN: inlay-opt %s --inlay-rewrite=libraries=kernels | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="libraries=kernels meanings=expansions check=registration" -o /dev/null
// RUN: inlay-opt %s --inlay-rewrite=libraries=kernels --inlay-rewrite=libraries=expansions | FileCheck %s --check-prefix=EXPANDED

// The library cannot be checked without the rules that expand its plugins.
// RUN: not inlay-opt %s --inlay-rewrite="libraries=kernels labels=swiglu check=registration" 2>&1 | FileCheck %s --check-prefix=NO-MEANING
// NO-MEANING: error: pattern 'swiglu' can't be checked: {{.*}}no target can run 'swiglu'

!t = tensor<2x6x8xf32>
!half = tensor<2x6x4xf32>
!row = tensor<2x6x1xf32>
!table = tensor<6x8xf32>
!v = tensor<8xf32>

// EXPANDED-NOT: inlay.plugin

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: !t, %w: !v) -> !t {
  // CHECK-NEXT: inlay.plugin "rms_norm"(%arg0, %arg1) {eps = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %eps = inlay.constant dense<1.0> : tensor<f32>
  %0 = inlay.mul %x, %x : (!t, !t) -> !t
  %1 = inlay.mean %0 dims [2] keepdim : (!t) -> !row
  %2 = inlay.add %1, %eps : (!row, tensor<f32>) -> !row
  %3 = inlay.rsqrt %2 : (!row) -> !row
  %4 = inlay.mul %x, %3 : (!t, !row) -> !t
  %5 = inlay.mul %4, %w : (!t, !v) -> !t
  return %5 : !t
}

// CHECK-LABEL: @rotary
func.func @rotary(%x: !t, %cos: !table, %sin: !table) -> !t {
  // CHECK-NEXT: inlay.plugin "rotary"(%arg0, %arg1, %arg2)
  // CHECK-NEXT: return
  %0 = inlay.mul %x, %cos : (!t, !table) -> !t
  %1 = inlay.slice %x dim 2 start 4 end 8 step 1 : (!t) -> !half
  %2 = inlay.neg %1 : (!half) -> !half
  %3 = inlay.slice %x dim 2 start 0 end 4 step 1 : (!t) -> !half
  %4 = inlay.cat %2, %3 dim 2 : (!half, !half) -> !t
  %5 = inlay.mul %4, %sin : (!t, !table) -> !t
  %6 = inlay.add %0, %5 : (!t, !t) -> !t
  return %6 : !t
}

// CHECK-LABEL: @swiglu
func.func @swiglu(%gate: !t, %x: !t) -> !t {
  // CHECK-NEXT: inlay.plugin "swiglu"(%arg0, %arg1)
  // CHECK-NEXT: return
  %0 = inlay.silu %gate : (!t) -> !t
  %1 = inlay.mul %x, %0 : (!t, !t) -> !t
  return %1 : !t
}

!scores = tensor<2x6x6xf32>

// CHECK-LABEL: @attention
func.func @attention(%q: !t, %k: tensor<2x8x6xf32>, %v: !t) -> !t {
  // CHECK-NEXT: %[[ROOT:.*]] = inlay.constant
  // CHECK-NEXT: %[[SCALED:.*]] = inlay.div %arg0, %[[ROOT]]
  // CHECK-NEXT: inlay.plugin "attention"(%[[SCALED]], %arg1, %arg2)
  // CHECK-NEXT: return
  %root = inlay.constant dense<2.5> : tensor<f32>
  %0 = inlay.matmul %q, %k : (!t, tensor<2x8x6xf32>) -> !scores
  %1 = inlay.div %0, %root : (!scores, tensor<f32>) -> !scores
  %2 = inlay.softmax %1 dim -1 : (!scores) -> !scores
  %3 = inlay.matmul %2, %v : (!scores, !t) -> !t
  return %3 : !t
}

// CHECK-LABEL: @attention_masked
func.func @attention_masked(%q: !t, %k: tensor<2x8x6xf32>, %v: !t, %mask: tensor<6x6xf32>) -> !t {
  // CHECK-NEXT: inlay.plugin "attention"(%arg0, %arg1, %arg2, %arg3)
  // CHECK-NEXT: return
  %0 = inlay.matmul %q, %k : (!t, tensor<2x8x6xf32>) -> !scores
  %1 = inlay.add %0, %mask : (!scores, tensor<6x6xf32>) -> !scores
  %2 = inlay.softmax %1 dim 2 : (!scores) -> !scores
  %3 = inlay.matmul %2, %v : (!scores, !t) -> !t
  return %3 : !t
}

// CHECK-LABEL: @softmax_over_queries_stays
func.func @softmax_over_queries_stays(%q: !t, %k: tensor<2x8x6xf32>, %v: !t) -> !t {
  // CHECK-NOT: inlay.plugin
  // CHECK: return
  %0 = inlay.matmul %q, %k : (!t, tensor<2x8x6xf32>) -> !scores
  %1 = inlay.softmax %0 dim 1 : (!scores) -> !scores
  %2 = inlay.matmul %1, %v : (!scores, !t) -> !t
  return %2 : !t
}
