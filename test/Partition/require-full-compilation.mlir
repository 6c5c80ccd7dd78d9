// RUN: inlay-opt %s --inlay-partition="require-full-compilation=true min-block-size=9 fallback-ops=aten::add" --split-input-file --verify-diagnostics -o /dev/null
// RUN: inlay-opt %s --inlay-partition="require-full-compilation=false min-block-size=9" --split-input-file -o /dev/null

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::mul", "aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected the whole graph to run on 'npu', but 2 ops can't}}
  func.func @lists_every_blocker(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{aten::sort#0 (aten::sort) runs on 'host': no-converter: aten::sort is not among the ops that 'npu' declares}}
    %0 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{aten::add#1 (aten::add) runs on 'host': fallback-op: 'aten::add' is in fallback-ops}}
    %1 = inlay.opaque "aten::add"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = inlay.opaque "aten::mul"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
