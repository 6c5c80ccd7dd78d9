// RUN: inlay-opt %s --inlay-rewrite=libraries=cleanup | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="libraries=cleanup check=registration" -o /dev/null

!t = tensor<2x3x4xf32>

// CHECK-LABEL: @permute_of_permute
func.func @permute_of_permute(%x: !t) -> tensor<4x2x3xf32> {
  // CHECK-NEXT: inlay.permute %arg0 dims [2, 0, 1]
  // CHECK-NEXT: return
  %0 = inlay.permute %x dims [1, 2, 0] : (!t) -> tensor<3x4x2xf32>
  %1 = inlay.permute %0 dims [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// CHECK-LABEL: @permute_back
func.func @permute_back(%x: !t) -> !t {
  // CHECK-NEXT: return %arg0
  %0 = inlay.permute %x dims [1, 2, 0] : (!t) -> tensor<3x4x2xf32>
  %1 = inlay.permute %0 dims [2, 0, 1] : (tensor<3x4x2xf32>) -> !t
  return %1 : !t
}

// CHECK-LABEL: @permute_of_equal_sizes_stays
func.func @permute_of_equal_sizes_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: inlay.permute
  %0 = inlay.permute %x dims [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
func.func @reshape_of_reshape(%x: !t) -> (tensor<6x4xf32>, tensor<24xf32>) {
  // CHECK-NEXT: %[[FLAT:.*]] = inlay.reshape %arg0 shape [-1]
  // CHECK-NEXT: inlay.reshape %arg0 shape [6, -1]
  // CHECK-NEXT: return
  %0 = inlay.reshape %x shape [-1] : (!t) -> tensor<24xf32>
  %1 = inlay.reshape %0 shape [6, -1] : (tensor<24xf32>) -> tensor<6x4xf32>
  return %1, %0 : tensor<6x4xf32>, tensor<24xf32>
}

// CHECK-LABEL: @same_type
func.func @same_type(%x: !t) -> (!t, !t, !t, !t, !t) {
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
  %0 = inlay.reshape %x shape [2, 3, 4] : (!t) -> !t
  %1 = inlay.expand %x shape [-1, 3, 4] : (!t) -> !t
  %2 = inlay.slice %x dim 2 start 0 end 9 step 1 : (!t) -> !t
  %3 = inlay.cat %x dim 0 : (!t) -> !t
  %4 = inlay.cast %x to f32 : (!t) -> !t
  return %0, %1, %2, %3, %4 : !t, !t, !t, !t, !t
}

// An unknown size may change even if the type stays the same.
// CHECK-LABEL: @unknown_sizes_stay
func.func @unknown_sizes_stay(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: inlay.slice
  %0 = inlay.slice %x dim 0 start 1 end 9 step 1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @cast_there_and_back
func.func @cast_there_and_back(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  // CHECK-NEXT: %[[NARROW:.*]] = inlay.cast %arg1 to f16
  // CHECK-NEXT: %[[WIDE:.*]] = inlay.cast %[[NARROW]] to f32
  // CHECK-NEXT: return %arg0, %[[WIDE]]
  %0 = inlay.cast %x to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = inlay.cast %0 to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = inlay.cast %y to f16 : (tensor<4xf32>) -> tensor<4xf16>
  %3 = inlay.cast %2 to f32 : (tensor<4xf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: @twice
func.func @twice(%x: !t) -> (!t, !t) {
  // CHECK-NEXT: %[[RELU:.*]] = inlay.relu %arg0
  // CHECK-NEXT: return %arg0, %[[RELU]]
  %0 = inlay.neg %x : (!t) -> !t
  %1 = inlay.neg %0 : (!t) -> !t
  %2 = inlay.relu %1 : (!t) -> !t
  %3 = inlay.relu %2 : (!t) -> !t
  return %1, %3 : !t, !t
}

// CHECK-LABEL: @neutral_numbers
func.func @neutral_numbers(%x: !t) -> !t {
  // CHECK-NEXT: return %arg0
  %one = inlay.constant dense<1.0> : tensor<f32>
  %zero = inlay.constant dense<0.0> : tensor<4xf32>
  %0 = inlay.mul %one, %x : (tensor<f32>, !t) -> !t
  %1 = inlay.div %0, %one : (!t, tensor<f32>) -> !t
  %2 = inlay.add %zero, %1 : (tensor<4xf32>, !t) -> !t
  %3 = inlay.sub %2, %zero : (!t, tensor<4xf32>) -> !t
  return %3 : !t
}

// CHECK-LABEL: @broadcast_by_a_neutral_number_stays
func.func @broadcast_by_a_neutral_number_stays(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: inlay.constant
  // CHECK-NEXT: inlay.add
  %zero = inlay.constant dense<0.0> : tensor<4xf32>
  %0 = inlay.add %zero, %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @powers_and_roots
func.func @powers_and_roots(%x: !t, %y: tensor<4xf32>) -> (!t, !t, !t) {
  // CHECK-NEXT: %[[SQUARE:.*]] = inlay.mul %arg0, %arg0
  // CHECK-NEXT: %[[OVER:.*]] = inlay.rsqrt %arg1
  // CHECK-NEXT: %[[QUOTIENT:.*]] = inlay.mul %arg0, %[[OVER]]
  // CHECK-NEXT: %[[ROOT:.*]] = inlay.rsqrt %arg0
  // CHECK-NEXT: return %[[SQUARE]], %[[QUOTIENT]], %[[ROOT]]
  %two = inlay.constant dense<2.0> : tensor<f32>
  %0 = inlay.pow %x, %two : (!t, tensor<f32>) -> !t
  %1 = inlay.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %2 = inlay.div %x, %1 : (!t, tensor<4xf32>) -> !t
  %3 = inlay.sqrt %x : (!t) -> !t
  %4 = inlay.reciprocal %3 : (!t) -> !t
  return %0, %2, %4 : !t, !t, !t
}
