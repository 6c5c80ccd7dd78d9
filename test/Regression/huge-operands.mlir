// RUN: split-file %s %t
// RUN: not inlay-compile %t/mean.mlir --targets=vulkan,host -o %t/out 2>&1 | FileCheck %s
// RUN: not inlay-compile %t/argmax.mlir --targets=vulkan,host -o %t/out 2>&1 | FileCheck %s

// Operands of 2^63 elements or more are refused. They crashed the conversion, or kept it busy for minutes.
// CHECK: error: no target can run
// CHECK: 'vulkan': {{.*}}expected buffers of less than 2^63 elements, but got 'memref<
// CHECK: 'host': {{.*}}expected buffers of less than 2^63 elements, but got 'memref<

//--- mean.mlir
func.func public @forward(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296xf32> {
  %0 = inlay.mean %x dims [1] : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296xf32>
  return %0 : tensor<4294967296xf32>
}

//--- argmax.mlir
func.func public @forward(%x: tensor<4x9223372036854775807xf32>) -> tensor<4xi64> {
  %0 = inlay.argmax %x dim 1 : (tensor<4x9223372036854775807xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
