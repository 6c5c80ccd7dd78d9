// RUN: inlay-opt %s --inlay-import-verify | FileCheck %s

// CHECK-LABEL: func.func @complete
func.func @complete() -> (tensor<2xf32>, tensor<2xi1>) {
  // CHECK: inlay.constant dense_resource<w>
  %w = inlay.constant dense_resource<w> : tensor<2xf32>
  %m = inlay.constant dense<[true, false]> : tensor<2xi1>
  return %w, %m : tensor<2xf32>, tensor<2xi1>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
