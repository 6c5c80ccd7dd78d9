// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir" | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir driver=sweep" | FileCheck %s
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir labels=add_* disabled=*_to_sub" | FileCheck %s --check-prefix=DISABLED
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir limit=1" | FileCheck %s --check-prefix=LIMIT
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir limit=0" | FileCheck %s --check-prefix=DISABLED
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir limit=2" --inlay-rewrite-limit=1 | FileCheck %s --check-prefix=LIMIT
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir limit=1" --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir" --inlay-rewrite-limit=1 | FileCheck %s --check-prefix=LIMIT
// RUN: not inlay-opt %s --inlay-rewrite="limit=-5" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: limit: expected -1 or more, but got -5
// RUN: inlay-opt %s --inlay-rewrite="patterns=%S/Inputs/patterns.pdl.mlir" --remarks-filter="inlay-rewrite" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK: Rewrite{{.*}}label=add_to_sub, rewritten=3, tried=3

// CHECK-LABEL: @add_becomes_sub
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// DISABLED-LABEL: @add_becomes_sub
// LIMIT-LABEL: @add_becomes_sub
func.func @add_becomes_sub(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[SUB:.*]] = inlay.sub %[[X]], %[[Y]]
  // CHECK-NEXT: return %[[SUB]]
  // DISABLED: inlay.add
  // LIMIT: inlay.sub
  %0 = inlay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @ops_in_regions_too
// LIMIT-LABEL: @ops_in_regions_too
func.func @ops_in_regions_too(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: scf.if
  // CHECK-NEXT: inlay.sub
  // LIMIT: inlay.add
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = inlay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @dead_code_goes
func.func @dead_code_goes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = inlay.sub
  // CHECK-NEXT: return %[[R]]
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = inlay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
