// A pin to an accelerator contradicts a rule that keeps the op off it. A pin to the host does not.
// RUN: not inlay-opt %s --inlay-partition="fallback-ops=inlay.neg" 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not inlay-opt %s --inlay-partition="fallback-locations=mine" 2>&1 | FileCheck %s --check-prefix=LOCATION
// RUN: not inlay-opt %s --inlay-partition="allow-ops=inlay.relu" 2>&1 | FileCheck %s --check-prefix=ALLOW
// RUN: inlay-opt %s --inlay-partition="fallback-ops=inlay.relu" | FileCheck %s

// OP: error: {{.*}}op is pinned to 'npu', but is forced away: 'inlay.neg' is in fallback-ops
// LOCATION: error: {{.*}}op is pinned to 'npu', but is forced away: 'mine' matches 'mine' in fallback-locations
// ALLOW: error: {{.*}}op is pinned to 'npu', which can't run it: inlay.neg is not among the ops that allow-ops lets run on 'npu'
// CHECK: inlay.relu {{.*}}<"host", "fallback-location", "pinned to 'host'">

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>, #inlay.declared<"torch", ["*"]>]} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.neg %x {inlay.target = "npu"} : (tensor<4xf32>) -> tensor<4xf32> loc("mine")
    %1 = inlay.relu %0 {inlay.target = "host"} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
