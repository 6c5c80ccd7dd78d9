// A graph that runs wholly on the first target may be smaller than min-block-size.
// RUN: inlay-opt %s --inlay-partition="require-full-compilation=true min-block-size=9" | FileCheck %s

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::mul"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK-NOT: inlay.segment
  func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.opaque "aten::mul"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
