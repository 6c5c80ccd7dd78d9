// RUN: inlay-opt %s --inlay-partition="require-full-compilation=true min-block-size=9" --split-input-file --verify-diagnostics -o /dev/null
// RUN: not inlay-opt %s --inlay-partition="require-full-compilation=false min-block-size=9" -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: no target can run 'aten::fft'

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::mul", "aten::add"]>,
                                    #inlay.declared<"host", ["aten::mul", "aten::add", "aten::sort"]>]} {
  // expected-error @below {{expected the whole graph to run on 'npu', but 3 ops can't}}
  func.func @lists_every_blocker(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{aten::sort#0 (aten::sort) runs on 'host': no-converter: aten::sort is not among the ops that 'npu' declares}}
    %0 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{aten::add#1 (aten::add) runs on 'host': fallback-location: pinned to 'host'}}
    %1 = inlay.opaque "aten::add"(%0) {inlay.target = "host"} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{aten::fft#2 (aten::fft) runs on no target: no-converter: aten::fft is not among the ops that 'npu' declares}}
    %2 = inlay.opaque "aten::fft"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = inlay.opaque "aten::mul"(%2) : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
