// Every spelling of the name of an op: a kind matches all overloads, an overload only itself. Ops of other dialects
// match by their op name.
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten::add" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten.add" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten.add.Tensor" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten::add.Tensor" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=tosa.exp,inlay.opaque" | FileCheck %s --check-prefix=FOREIGN
// RUN: not inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten.add.Tenser,exp,tosa.exq" 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: 'aten.add.Tenser' in fallback-ops matches no op; did you mean 'aten::add.Tensor'?
// NONE: error: 'exp' in fallback-ops matches no op; did you mean 'tosa.exp'?
// NONE: error: 'tosa.exq' in fallback-ops matches no op; did you mean 'tosa.exp'?

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @names
  func.func @names(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
    // ALL: "aten::add.Tensor"{{.*}}<"host", "fallback-op"
    // ONE: "aten::add.Tensor"{{.*}}<"host", "fallback-op"
    // FOREIGN: "aten::add.Tensor"{{.*}}<"host", "fallback-op", "'inlay.opaque' is in fallback-ops">
    %0 = inlay.opaque "aten::add.Tensor"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // ALL: "aten::add.Scalar"{{.*}}<"host", "fallback-op"
    // ONE: "aten::add.Scalar"{{.*}}<"npu", "supported"
    %1 = inlay.opaque "aten::add.Scalar"(%0, %s) : (tensor<4xf32>, f32) -> tensor<4xf32>
    // CHECK: "aten::addcmul"{{.*}}<"npu", "supported"
    %2 = inlay.opaque "aten::addcmul"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: inlay.add {{.*}}<"host", "fallback-op"
    %3 = inlay.add %2, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: tosa.abs {{.*}}<"npu", "supported"
    // FOREIGN: tosa.abs {{.*}}<"npu", "supported"
    %4 = tosa.abs %3 : (tensor<4xf32>) -> tensor<4xf32>
    // FOREIGN: tosa.exp {{.*}}<"host", "fallback-op"
    %5 = tosa.exp %4 : (tensor<4xf32>) -> tensor<4xf32>
    return %5 : tensor<4xf32>
  }
}
