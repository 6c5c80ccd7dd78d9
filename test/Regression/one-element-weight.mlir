// A weight with one element has data like any other.
// RUN: inlay-run %s --compare | FileCheck %s
// REQUIRES: vulkan
// CHECK: largest difference to the host alone: 0.0e+00
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = inlay.constant dense_resource<w> : tensor<1xf32>
  %0 = inlay.mul %x, %w : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x0400000000000040"
    }
  }
#-}
