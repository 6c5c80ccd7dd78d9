// Ops by name and modules by path or class go to the last listed target that can run them.
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-ops=aten::add,aten.mul.Tensor" | FileCheck %s --check-prefix=OPS
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-modules=enc.layers.*" | FileCheck %s --check-prefix=PATH
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-modules=Decoder,enc" | FileCheck %s --check-prefix=CLASS
// RUN: inlay-opt %s --inlay-partition="fallback-ops=inlay.relu fallback-modules=Decoder" | FileCheck %s --check-prefix=BOTH
// RUN: not inlay-opt %s --inlay-partition="fallback-ops=aten::ad,aten::add" 2>&1 | FileCheck %s --check-prefix=NOOP
// RUN: not inlay-opt %s --inlay-partition="fallback-modules=decoder,Decoder" 2>&1 | FileCheck %s --check-prefix=NOMODULE
// RUN: not inlay-opt %s --inlay-partition="fallback-modules=[" 2>&1 | FileCheck %s --check-prefix=GLOB

// NOOP: error: 'aten::ad' in fallback-ops matches no op; did you mean 'aten::add'?
// NOOP-NOT: 'aten::add' in
// NOMODULE: error: 'decoder' in fallback-modules matches no module; did you mean 'Decoder'?
// GLOB: error: malformed glob '[' in fallback-modules

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>,
                                    #inlay.declared<"torch", ["aten::add", "aten::mul"]>]} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // OPS: "aten::add"{{.*}}<"torch", "fallback-op", "'aten::add' is in fallback-ops">
    // PATH: "aten::add"{{.*}}<"torch", "fallback-module", "module 'enc.layers.0' (Layer) matches 'enc.layers.*' in fallback-modules">
    // CLASS: "aten::add"{{.*}}<"torch", "fallback-module", "module 'enc' (Encoder) matches 'enc' in fallback-modules">
    // BOTH: "aten::add"{{.*}}<"npu", "supported"
    %0 = inlay.opaque "aten::add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      loc(fused<{inlay.module = [["enc", "Encoder"], ["enc.layers.0", "Layer"]]}>["add"])
    // OPS: "aten::mul"{{.*}}<"npu", "supported"
    // OPS-NEXT: inlay.mul {{.*}}<"torch", "fallback-op", "'aten.mul.Tensor' is in fallback-ops">
    // PATH: "aten::mul"{{.*}}<"npu", "supported"
    // CLASS: "aten::mul"{{.*}}<"torch", "fallback-module", "module 'dec' (Decoder) matches 'Decoder' in fallback-modules">
    %1 = inlay.opaque "aten::mul"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      loc(fused<{inlay.module = [["dec", "Decoder"]]}>["mul"])
    %2 = inlay.mul %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // BOTH: inlay.relu{{.*}}<"host", "fallback-op"
    %3 = inlay.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
