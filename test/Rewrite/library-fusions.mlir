// RUN: inlay-opt %s --inlay-rewrite=libraries=fusions | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="libraries=fusions check=registration" -o /dev/null
// RUN: inlay-opt %s --inlay-rewrite="libraries=fusions check=each" -o /dev/null

// RUN: not inlay-opt %s --inlay-rewrite=libraries=fusion 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected the name of a rule library, but got 'fusion'; did you mean 'fusions'?

!t = tensor<2x3x4xf32>
!row = tensor<2x3x1xf32>

// CHECK-LABEL: @linear
func.func @linear(%x: !t, %w: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: inlay.linear %arg0, %arg1, %arg2
  // CHECK-NEXT: return
  %0 = inlay.permute %w dims [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = inlay.matmul %x, %0 : (!t, tensor<4x8xf32>) -> tensor<2x3x8xf32>
  %2 = inlay.add %b, %1 : (tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %2 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @linear_with_other_addends_stays
func.func @linear_with_other_addends_stays(%x: !t, %w: tensor<8x4xf32>, %b: tensor<1xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: inlay.linear %arg0, %arg1
  // CHECK-NEXT: inlay.add
  %0 = inlay.linear %x, %w : (!t, tensor<8x4xf32>) -> tensor<2x3x8xf32>
  %1 = inlay.add %0, %b : (tensor<2x3x8xf32>, tensor<1xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

!image = tensor<1x3x6x6xf32>
!features = tensor<1x4x6x6xf32>
!weight = tensor<4x3x3x3xf32>
!v = tensor<4xf32>

// CHECK-LABEL: @conv_batch_norm
func.func @conv_batch_norm(%x: !image) -> !features {
  // CHECK: inlay.rsqrt
  // CHECK: %[[COLUMN:.*]] = inlay.reshape %{{.*}} shape [4, 1, 1, 1]
  // CHECK: %[[WEIGHT:.*]] = inlay.mul %{{.*}}, %[[COLUMN]]
  // CHECK: %[[SHIFT:.*]] = inlay.sub
  // CHECK: inlay.conv %arg0, %[[WEIGHT]], %[[SHIFT]]
  // CHECK-NOT: inlay.batch_norm
  // CHECK: return
  %w = inlay.constant dense<0.5> : !weight
  %g = inlay.constant dense<1.5> : !v
  %b = inlay.constant dense<[1.0, 2.0, 3.0, 4.0]> : !v
  %m = inlay.constant dense<0.25> : !v
  %s = inlay.constant dense<[1.0, 2.0, 1.0, 0.5]> : !v
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (!image, !weight) -> !features
  %1 = inlay.batch_norm %0, %g, %b, %m, %s eps 1.0e-5 : (!features, !v, !v, !v, !v) -> !features
  return %1 : !features
}

// CHECK-LABEL: @conv_bias_batch_norm
func.func @conv_bias_batch_norm(%x: !image) -> !features {
  // CHECK: inlay.sub
  // CHECK: %[[SHIFT:.*]] = inlay.add
  // CHECK: inlay.conv %arg0, %{{.*}}, %[[SHIFT]]
  // CHECK-NOT: inlay.batch_norm
  // CHECK: return
  %w = inlay.constant dense<0.5> : !weight
  %g = inlay.constant dense<1.5> : !v
  %b = inlay.constant dense<[1.0, 2.0, 3.0, 4.0]> : !v
  %m = inlay.constant dense<0.25> : !v
  %s = inlay.constant dense<[1.0, 2.0, 1.0, 0.5]> : !v
  %0 = inlay.conv %x, %w, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (!image, !weight, !v) -> !features
  %1 = inlay.batch_norm %0, %g, %b, %m, %s eps 1.0e-5 : (!features, !v, !v, !v, !v) -> !features
  return %1 : !features
}

// CHECK-LABEL: @conv_of_trained_weights_stays
func.func @conv_of_trained_weights_stays(%x: !image, %w: !weight, %v: !v) -> !features {
  // CHECK-NEXT: inlay.conv
  // CHECK-NEXT: inlay.batch_norm
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (!image, !weight) -> !features
  %1 = inlay.batch_norm %0, %v, %v, %v, %v eps 1.0e-5 : (!features, !v, !v, !v, !v) -> !features
  return %1 : !features
}

// CHECK-LABEL: @activations
func.func @activations(%x: !t) -> (!t, !t, !t) {
  // CHECK-NEXT: %[[SILU:.*]] = inlay.silu %arg0
  // CHECK-NEXT: %[[GELU:.*]] = inlay.gelu %arg0
  // CHECK-NEXT: %[[PRODUCT:.*]] = inlay.gelu %arg0
  // CHECK-NEXT: return %[[SILU]], %[[GELU]], %[[PRODUCT]]
  %0 = inlay.sigmoid %x : (!t) -> !t
  %1 = inlay.mul %0, %x : (!t, !t) -> !t
  %half = inlay.constant dense<0.5> : tensor<f32>
  %one = inlay.constant dense<1.0> : tensor<f32>
  %root = inlay.constant dense<1.4142135381698608> : tensor<f32>
  %over = inlay.constant dense<0.70710676908493042> : tensor<f32>
  %2 = inlay.mul %x, %half : (!t, tensor<f32>) -> !t
  %3 = inlay.div %x, %root : (!t, tensor<f32>) -> !t
  %4 = inlay.erf %3 : (!t) -> !t
  %5 = inlay.add %4, %one : (!t, tensor<f32>) -> !t
  %6 = inlay.mul %2, %5 : (!t, !t) -> !t
  %7 = inlay.mul %x, %half : (!t, tensor<f32>) -> !t
  %8 = inlay.mul %x, %over : (!t, tensor<f32>) -> !t
  %9 = inlay.erf %8 : (!t) -> !t
  %10 = inlay.add %one, %9 : (tensor<f32>, !t) -> !t
  %11 = inlay.mul %7, %10 : (!t, !t) -> !t
  return %1, %6, %11 : !t, !t, !t
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: !t, %y: !t) -> (!t, !t) {
  // CHECK-NEXT: inlay.softmax %arg0 dim 2
  // CHECK-NEXT: inlay.softmax %arg1 dim -1
  // CHECK-NEXT: return
  %0 = inlay.amax %x dims [2] keepdim : (!t) -> !row
  %1 = inlay.sub %x, %0 : (!t, !row) -> !t
  %2 = inlay.exp %1 : (!t) -> !t
  %3 = inlay.sum %2 dims [2] keepdim : (!t) -> !row
  %4 = inlay.div %2, %3 : (!t, !row) -> !t
  %5 = inlay.exp %y : (!t) -> !t
  %6 = inlay.sum %5 dims [-1] keepdim : (!t) -> !row
  %7 = inlay.div %5, %6 : (!t, !row) -> !t
  return %4, %7 : !t, !t
}

// CHECK-LABEL: @attention_scale
func.func @attention_scale(%q: !t, %k: tensor<2x4x3xf32>) -> tensor<2x3x3xf32> {
  // CHECK-NEXT: %[[SCALE:.*]] = inlay.constant
  // CHECK-NEXT: %[[SQUARE:.*]] = inlay.mul %[[SCALE]], %[[SCALE]]
  // CHECK-NEXT: %[[SCALED:.*]] = inlay.mul %arg0, %[[SQUARE]]
  // CHECK-NEXT: inlay.matmul %[[SCALED]], %arg1
  // CHECK-NEXT: return
  %s = inlay.constant dense<0.5> : tensor<f32>
  %0 = inlay.mul %q, %s : (!t, tensor<f32>) -> !t
  %1 = inlay.mul %k, %s : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %2 = inlay.matmul %0, %1 : (!t, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  return %2 : tensor<2x3x3xf32>
}

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: !t, %w: !v, %b: !v) -> !t {
  // CHECK-NEXT: inlay.layer_norm %arg0, %arg1, %arg2 eps 1.000000e+00
  // CHECK-NEXT: return
  %eps = inlay.constant dense<1.0> : tensor<f32>
  %0 = inlay.mean %x dims [2] keepdim : (!t) -> !row
  %1 = inlay.sub %x, %0 : (!t, !row) -> !t
  %2 = inlay.mul %1, %1 : (!t, !t) -> !t
  %3 = inlay.mean %2 dims [2] keepdim : (!t) -> !row
  %4 = inlay.add %3, %eps : (!row, tensor<f32>) -> !row
  %5 = inlay.rsqrt %4 : (!row) -> !row
  %6 = inlay.mul %1, %5 : (!t, !row) -> !t
  %7 = inlay.mul %w, %6 : (!v, !t) -> !t
  %8 = inlay.add %7, %b : (!t, !v) -> !t
  return %8 : !t
}

// CHECK-LABEL: @layer_norm_over_other_dims_stays
func.func @layer_norm_over_other_dims_stays(%x: tensor<4x4xf32>, %w: !v, %b: !v) -> tensor<4x4xf32> {
  // CHECK-NOT: inlay.layer_norm
  // CHECK: return
  %eps = inlay.constant dense<1.0> : tensor<f32>
  %0 = inlay.mean %x dims [0] keepdim : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = inlay.sub %x, %0 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %2 = inlay.mul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = inlay.mean %2 dims [0] keepdim : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %4 = inlay.add %3, %eps : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %5 = inlay.rsqrt %4 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %6 = inlay.mul %1, %5 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %7 = inlay.mul %6, %w : (tensor<4x4xf32>, !v) -> tensor<4x4xf32>
  %8 = inlay.add %7, %b : (tensor<4x4xf32>, !v) -> tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}
