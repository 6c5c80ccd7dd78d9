// A driver that does not link Inlay loads its dialects and passes as a plugin.
// RUN: mlir-opt %s --load-dialect-plugin=%inlay_libs/InlayPlugin.so --load-pass-plugin=%inlay_libs/InlayPlugin.so \
// RUN:   --pass-pipeline="builtin.module(inlay-partition{min-block-size=1})" | FileCheck %s

module attributes {inlay.targets = [#inlay.declared<"npu", ["arith.addf"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func.func @foreign
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: arith.addf
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: math.exp
  func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %x, %x : tensor<4xf32>
    %1 = math.exp %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
