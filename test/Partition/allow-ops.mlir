// The option that lists the only ops that accelerators may run, for all of them or for one. Control flow and lists
// follow the ops that they contain.
// RUN: inlay-opt %s --inlay-partition="allow-ops=aten::cat,aten::relu" | FileCheck %s --check-prefix=ANY
// RUN: inlay-opt %s --inlay-partition="allow-ops=aten::relu@npu" | FileCheck %s --check-prefix=ONE
// RUN: inlay-opt %s --inlay-partition="allow-ops=aten::cat@npu min-block-size=2" | FileCheck %s --check-prefix=SMALL
// RUN: not inlay-opt %s --inlay-partition="allow-ops=aten::rleu@npu" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not inlay-opt %s --inlay-partition="allow-ops=aten::relu@npi" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not inlay-opt %s --inlay-partition="allow-ops=aten::relu@host" 2>&1 | FileCheck %s --check-prefix=HOST

// NAME: error: 'aten::rleu' in allow-ops matches no op; did you mean 'aten::relu'?
// TARGET: error: expected 'aten::relu@npi' in allow-ops to name an accelerator, but got 'npi'; did you mean 'npu'?
// HOST: error: expected 'aten::relu@host' in allow-ops to name an accelerator, but got 'host'

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"dsp", ["aten::exp"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: !t) -> tensor<8xf32> {
    // ANY: "aten::relu"{{.*}}<"npu", "supported"
    // ONE: "aten::relu"{{.*}}<"npu", "supported"
    %0 = inlay.opaque "aten::relu"(%x) : (!t) -> !t
    // ANY: "aten::exp"{{.*}}<"host", "fallback-op", "aten::exp is not among the ops that allow-ops lets run on 'npu'; aten::exp is not among the ops that allow-ops lets run on 'dsp'">
    // ONE: "aten::exp"{{.*}}<"dsp", "fallback-op", "aten::exp is not among the ops that allow-ops lets run on 'npu'">
    // The segment is below the minimum size. It goes to the host, since the other accelerator may not run it.
    // SMALL: "aten::exp"{{.*}}<"host", "min-block-size"
    %1 = inlay.opaque "aten::exp"(%0) : (!t) -> !t
    // ANY: "prim::ListConstruct"{{.*}}<"npu", "supported"
    %2 = inlay.opaque "prim::ListConstruct"(%1, %1) : (!t, !t) -> !inlay.list<!t>
    // ANY: "aten::cat"{{.*}}<"npu", "supported"
    %3 = inlay.opaque "aten::cat"(%2) : (!inlay.list<!t>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
