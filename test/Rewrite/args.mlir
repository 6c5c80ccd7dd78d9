// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/args.pdl.mlir args=mode=pad,amount=3" | FileCheck %s
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/args.pdl.mlir args=mode=other,amount=3" | FileCheck %s --check-prefix=OTHER
// RUN: not inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/args.pdl.mlir args=mode=pad,amont=3" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-rewrite="patterns=%S/Inputs/args.pdl.mlir disabled=pad" | FileCheck %s --check-prefix=OTHER

// MISSING: error: pattern 'pad' needs argument 'amount', which isn't given; did you mean 'amont'?

// CHECK: "t.padded_conv"(%arg0) {amount = 3 : i64}
// OTHER: "t.conv"
func.func @arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "t.conv"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
