// The number of elements fits in 63 bits, but their size in bytes does not.
// RUN: not inlay-run %s --targets=host 2>&1 | FileCheck %s
// CHECK: unsupported-shape: expected a buffer of less than 2^63 bytes, but got
func.func @f(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = inlay.expand %x shape [1152921504606846977, 4] : (tensor<4xf32>) -> tensor<1152921504606846977x4xf32>
  %1 = inlay.exp %0 : (tensor<1152921504606846977x4xf32>) -> tensor<1152921504606846977x4xf32>
  %2 = inlay.slice %1 dim 0 start 0 end 1 step 1 : (tensor<1152921504606846977x4xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
