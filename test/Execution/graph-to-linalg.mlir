// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | mlir-runner -e main -entry-point-result=void \
// RUN:     -shared-libs=%mlir_libs/libmlir_runner_utils.so,%mlir_libs/libmlir_c_runner_utils.so \
// RUN: | FileCheck %s

// Runs the result of the conversion to linalg with MLIR's passes only. The expected numbers are PyTorch's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

// CHECK: sizes = [1, 2, 3, 4]
// CHECK-NEXT: {{^ *\[+}}-3, -23, 29, 22]
// CHECK-NEXT: {{^ *\[+}}-17, 55, 8, -5]
// CHECK-NEXT: {{^ *\[+}}6, -7, 20, -23]
// CHECK-NEXT: {{^ *\[+}}-11, -32, -11, 4]
// CHECK-NEXT: {{^ *\[+}}-20, 43, -8, 11]
// CHECK-NEXT: {{^ *\[+}}-8, -5, 12, -6]
func.func @padded_strided_convolution() {
  %0 = inlay.constant dense<[[[[0.0, 1.0, -4.0, 1.0], [3.0, -3.0, -2.0, 1.0], [4.0, -4.0, -2.0, -1.0], [-3.0, 4.0, 0.0, -4.0], [-1.0, 2.0, -2.0, 3.0]], [[2.0, 2.0, 4.0, 3.0], [2.0, -4.0, 3.0, 4.0], [4.0, 0.0, 1.0, -2.0], [2.0, 2.0, 3.0, 2.0], [4.0, 2.0, -2.0, -2.0]]]]> : tensor<1x2x5x4xf32>
  %1 = inlay.constant dense<[[[[2.0, 1.0, 1.0], [1.0, -4.0, 2.0], [-4.0, 2.0, -2.0]], [[0.0, -1.0, -1.0], [0.0, 2.0, -4.0], [3.0, 1.0, 4.0]]], [[[-1.0, -1.0, 0.0], [3.0, -1.0, 1.0], [-1.0, -1.0, 3.0]], [[1.0, -3.0, 3.0], [0.0, -2.0, -2.0], [4.0, 3.0, -1.0]]]]> : tensor<2x2x3x3xf32>
  %2 = inlay.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %r = inlay.conv %0, %1, %2 stride [2, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x4xf32>
  %print = tensor.cast %r : tensor<1x2x3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 4, 1, 5]
// CHECK-NEXT: {{^ *\[+}}-18, -28, -16, 0, 0]
// CHECK-NEXT: {{^ *\[+}}3, 3, -8, -33, 3]
// CHECK-NEXT: {{^ *\[+}}18, -7, -26, 41, -2]
// CHECK-NEXT: {{^ *\[+}}19, 6, -13, 29, 5]
func.func @grouped_dilated_convolution() {
  %0 = inlay.constant dense<[[[[-2.0, -1.0, 4.0, 3.0], [-1.0, -4.0, 4.0, -4.0], [-3.0, 2.0, 3.0, 0.0]], [[3.0, 2.0, 1.0, 0.0], [-3.0, 2.0, -4.0, -4.0], [-4.0, -2.0, -2.0, 3.0]], [[1.0, 1.0, 2.0, 3.0], [0.0, 2.0, -3.0, 1.0], [2.0, 3.0, -3.0, 0.0]], [[4.0, 2.0, -3.0, 4.0], [2.0, -3.0, 1.0, -1.0], [0.0, 3.0, -2.0, -2.0]]]]> : tensor<1x4x3x4xf32>
  %1 = inlay.constant dense<[[[[-2.0, -2.0], [3.0, 1.0]], [[-3.0, -1.0], [2.0, 4.0]]], [[[-1.0, -1.0], [-3.0, 1.0]], [[-1.0, -4.0], [2.0, -4.0]]], [[[2.0, 0.0], [1.0, 1.0]], [[-4.0, 4.0], [-4.0, -2.0]]], [[[-1.0, 3.0], [-4.0, 4.0]], [[2.0, 2.0], [0.0, -4.0]]]]> : tensor<4x2x2x2xf32>
  %r = inlay.conv %0, %1 stride [1, 1] padding [0, 1] dilation [2, 1] groups 2
    : (tensor<1x4x3x4xf32>, tensor<4x2x2x2xf32>) -> tensor<1x4x1x5xf32>
  %print = tensor.cast %r : tensor<1x4x1x5xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 1, 2, 3]
// CHECK-NEXT: {{^ *\[+}}{{-?}}nan, {{-?}}nan, -4]
// CHECK-NEXT: {{^ *\[+}}{{-?}}nan, {{-?}}nan, -1]
func.func @max_pool_with_padding() {
  %0 = inlay.constant dense<[[[[-4.0, -5.0, -4.0, -4.0, -4.0], [-5.0, 0x7FC00000, -2.0, -5.0, -4.0], [-3.0, -3.0, -1.0, -3.0, -4.0], [-5.0, -2.0, -2.0, -2.0, -1.0]]]]> : tensor<1x1x4x5xf32>
  %r = inlay.max_pool %0 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1]
    : (tensor<1x1x4x5xf32>) -> tensor<1x1x2x3xf32>
  %print = tensor.cast %r : tensor<1x1x2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 1, 3, 3]
// CHECK-NEXT: {{^ *\[+}}0, -0.5, -1.25]
// CHECK-NEXT: {{^ *\[+}}-0.75, 1.75, 0.75]
// CHECK-NEXT: {{^ *\[+}}-0.5, 1, -3.5]
func.func @avg_pool_in_ceil_mode() {
  %0 = inlay.constant dense<[[[[-1.0, -4.0, 4.0, -1.0, 3.0], [1.0, -1.0, -1.0, -3.0, -4.0], [-4.0, 3.0, 1.0, -4.0, 4.0], [1.0, 2.0, 1.0, 1.0, 2.0], [-1.0, -2.0, 4.0, -4.0, -3.0]]]]> : tensor<1x1x5x5xf32>
  %r = inlay.avg_pool %0 kernel [2, 2] stride [2, 2] padding [0, 1] ceil_mode count_include_pad
    : (tensor<1x1x5x5xf32>) -> tensor<1x1x3x3xf32>
  %print = tensor.cast %r : tensor<1x1x3x3xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 1, 3, 3]
// CHECK-NEXT: {{^ *\[+}}-1, 0, 1]
// CHECK-NEXT: {{^ *\[+}}-1.5, 0.5, -1.75]
// CHECK-NEXT: {{^ *\[+}}0, 1.25, -1]
func.func @avg_pool_without_padding() {
  %0 = inlay.constant dense<[[[[-1.0, -4.0, 4.0, -1.0, 3.0], [1.0, -1.0, -1.0, -3.0, -4.0], [-4.0, 3.0, 1.0, -4.0, 4.0], [1.0, 2.0, 1.0, 1.0, 2.0], [-1.0, -2.0, 4.0, -4.0, -3.0]]]]> : tensor<1x1x5x5xf32>
  %r = inlay.avg_pool %0 kernel [2, 2] stride [2, 2] padding [1, 1]
    : (tensor<1x1x5x5xf32>) -> tensor<1x1x3x3xf32>
  %print = tensor.cast %r : tensor<1x1x3x3xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [2, 4]
// CHECK-NEXT: {{^ *\[+}}0.002{{[0-9]*}}, 0.006{{[0-9]*}}, 0.989{{[0-9]*}}, 0.000{{[0-9]*}}]
// CHECK-NEXT: {{^ *\[+}}0.174{{[0-9]*}}, 0.475{{[0-9]*}}, 0.174{{[0-9]*}}, 0.174{{[0-9]*}}]
func.func @softmax() {
  %0 = inlay.constant dense<[[-2.0, -1.0, 4.0, -3.0], [2.0, 3.0, 2.0, 2.0]]> : tensor<2x4xf32>
  %r = inlay.softmax %0 dim -1
    : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %print = tensor.cast %r : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [2, 2, 3]
// CHECK-NEXT: {{^ *\[+}}-2, 4.618{{[0-9]*}}, -3.963{{[0-9]*}}]
// CHECK-NEXT: {{^ *\[+}}-2, 0, 8.237{{[0-9]*}}]
// CHECK-NEXT: {{^ *\[+}}-3.093{{[0-9]*}}, -2.372{{[0-9]*}}, -0.750{{[0-9]*}}]
// CHECK-NEXT: {{^ *\[+}}-2.624{{[0-9]*}}, -2.498{{[0-9]*}}, 4.249{{[0-9]*}}]
func.func @layer_norm_over_two_dims() {
  %0 = inlay.constant dense<[[[-2.0, -3.0, 1.0], [-2.0, -2.0, -4.0]], [[1.0, 1.0, -4.0], [0.0, -4.0, -2.0]]]> : tensor<2x2x3xf32>
  %1 = inlay.constant dense<[[-1.0, -4.0, -1.0], [-1.0, 2.0, -4.0]]> : tensor<2x3xf32>
  %2 = inlay.constant dense<[[-2.0, 2.0, -2.0], [-2.0, 0.0, 3.0]]> : tensor<2x3xf32>
  %r = inlay.layer_norm %0, %1, %2 eps 1.0e-5
    : (tensor<2x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
  %print = tensor.cast %r : tensor<2x2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 2, 3]
// CHECK-NEXT: {{^ *\[+}}-3, -2, -2.5]
// CHECK-NEXT: {{^ *\[+}}-13, -1, -11]
func.func @batch_norm() {
  %0 = inlay.constant dense<[[[2.0, 0.0, 1.0], [-3.0, 3.0, -2.0]]]> : tensor<1x2x3xf32>
  %1 = inlay.constant dense<[-1.0, 1.0]> : tensor<2xf32>
  %2 = inlay.constant dense<[-4.0, -1.0]> : tensor<2xf32>
  %3 = inlay.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %4 = inlay.constant dense<[4.0, 0.25]> : tensor<2xf32>
  %r = inlay.batch_norm %0, %1, %2, %3, %4 eps 0.0
    : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  %print = tensor.cast %r : tensor<1x2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [2, 2, 2, 2]
// CHECK-NEXT: {{^ *\[+}}0, 12]
// CHECK-NEXT: {{^ *\[+}}11, -17]
// CHECK-NEXT: {{^ *\[+}}6, -1]
// CHECK-NEXT: {{^ *\[+}}7, -8]
// CHECK-NEXT: {{^ *\[+}}9, -27]
// CHECK-NEXT: {{^ *\[+}}-9, 21]
// CHECK-NEXT: {{^ *\[+}}-3, 0]
// CHECK-NEXT: {{^ *\[+}}-3, 8]
func.func @matmul_of_broadcast_matrices() {
  %0 = inlay.constant dense<[[[[-1.0, -2.0, 0.0], [1.0, 1.0, 3.0]]], [[[3.0, 3.0, 1.0], [-1.0, -2.0, -3.0]]]]> : tensor<2x1x2x3xf32>
  %1 = inlay.constant dense<[[[4.0, -4.0], [-2.0, -4.0], [3.0, -3.0]], [[2.0, 1.0], [-4.0, 0.0], [3.0, -3.0]]]> : tensor<2x3x2xf32>
  %r = inlay.matmul %0, %1
    : (tensor<2x1x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2x2xf32>
  %print = tensor.cast %r : tensor<2x2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [2, 2]
// CHECK-NEXT: {{^ *\[+}}-19, 36]
// CHECK-NEXT: {{^ *\[+}}-6, 22]
func.func @linear() {
  %0 = inlay.constant dense<[[-4.0, 4.0, 2.0], [-3.0, 0.0, 3.0]]> : tensor<2x3xf32>
  %1 = inlay.constant dense<[[0.0, -4.0, -3.0], [-2.0, 4.0, 4.0]]> : tensor<2x3xf32>
  %2 = inlay.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %r = inlay.linear %0, %1, %2
    : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %print = tensor.cast %r : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [1, 3, 1]
// CHECK-NEXT: {{^ *\[+}}1]
// CHECK-NEXT: {{^ *\[+}}0.75]
// CHECK-NEXT: {{^ *\[+}}0.5]
func.func @mean_of_outer_dims() {
  %0 = inlay.constant dense<[[[1.0, 3.0], [4.0, 0.0], [0.0, 3.0]], [[-3.0, 3.0], [3.0, -4.0], [-3.0, 2.0]]]> : tensor<2x3x2xf32>
  %r = inlay.mean %0 dims [0, -1] keepdim
    : (tensor<2x3x2xf32>) -> tensor<1x3x1xf32>
  %print = tensor.cast %r : tensor<1x3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%print) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  call @padded_strided_convolution() : () -> ()
  call @grouped_dilated_convolution() : () -> ()
  call @max_pool_with_padding() : () -> ()
  call @avg_pool_in_ceil_mode() : () -> ()
  call @avg_pool_without_padding() : () -> ()
  call @softmax() : () -> ()
  call @layer_norm_over_two_dims() : () -> ()
  call @batch_norm() : () -> ()
  call @matmul_of_broadcast_matrices() : () -> ()
  call @linear() : () -> ()
  call @mean_of_outer_dims() : () -> ()
  return
}
