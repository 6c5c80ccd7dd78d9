// The data of weights in the module's text outlives the compiler.
// RUN: inlay-run %s --targets=host | FileCheck %s
// CHECK: result 0: float32[4] = 1 2 3 4
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = inlay.constant dense_resource<w> : tensor<4xf32>
  %0 = inlay.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
