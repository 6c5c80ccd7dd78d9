// A segment with an exempt op is not demoted, whatever its size.
// RUN: inlay-opt %s --inlay-partition="min-block-size=5" | FileCheck %s --check-prefix=NONE
// RUN: inlay-opt %s --inlay-partition="min-block-size=5 exempt-ops=aten::conv2d" | FileCheck %s --check-prefix=CONV
// RUN: inlay-opt %s --inlay-partition="min-block-size=9223372036854775807 exempt-ops=aten::conv2d" | FileCheck %s --check-prefix=CONV
// RUN: not inlay-opt %s --inlay-partition="min-block-size=5 exempt-ops=aten::conv" 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: error: 'aten::conv' in exempt-ops matches no op; did you mean 'aten::conv2d'?

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::conv2d", "aten::relu"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: !t) -> !t {
    // NONE: "aten::conv2d"{{.*}}<"host", "min-block-size"
    // CONV: "aten::conv2d"{{.*}}<"npu", "supported"
    %0 = inlay.opaque "aten::conv2d"(%x) : (!t) -> !t
    // CONV: "aten::relu"{{.*}}<"npu", "supported"
    %1 = inlay.opaque "aten::relu"(%0) : (!t) -> !t
    %2 = inlay.opaque "aten::sort"(%1) : (!t) -> !t
    // CONV: "aten::sort"
    // NONE: "aten::relu"{{.*}}<"host", "min-block-size"
    // CONV: "aten::relu"{{.*}}<"host", "min-block-size"
    %3 = inlay.opaque "aten::relu"(%2) : (!t) -> !t
    return %3 : !t
  }
}
