// Functions with few or no ops.
// RUN: inlay-opt %s --inlay-partition="min-block-size=9223372036854775807 report=-" -o %t.mlir | FileCheck %s --check-prefix=REPORT
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: inlay-opt %s --inlay-partition="save-placement=%t.json" -o /dev/null
// RUN: inlay-opt %s --inlay-partition="placement=%t.json" | FileCheck %s
// RUN: not inlay-opt %s --inlay-partition="min-block-size=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not inlay-opt %s --inlay-partition="min-block-size=9223372036854775808" 2>&1 | FileCheck %s --check-prefix=HUGE

// NEGATIVE: error: expected min-block-size to be at least 1, but got -1
// HUGE: '9223372036854775808' value invalid for {{l?long}} argument
// REPORT: "ops": []

module attributes {inlay.targets = [#inlay.declared<"npu", []>, #inlay.declared<"torch", ["*"]>]} {
  // CHECK-LABEL: func @no_op
  // CHECK-NOT: inlay.segment
  // CHECK: return
  func.func @no_op() { return }

  // CHECK-LABEL: func @only_constants
  // CHECK-NOT: inlay.segment
  // CHECK: return
  func.func @only_constants() -> tensor<4xf32> {
    %0 = arith.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func @no_result
  // CHECK: inlay.segment #inlay.declared<"torch", ["*"]>(%arg0) : (tensor<4xf32>) -> () {
  // CHECK: "aten::relu_"
  func.func @no_result(%x: tensor<4xf32>) {
    %0 = inlay.opaque "aten::relu_"(%x) writes [0] aliases [0] : (tensor<4xf32>) -> tensor<4xf32>
    return
  }

  // CHECK-LABEL: func @opaque_alone
  // CHECK-COUNT-1: inlay.segment #inlay.declared<"torch"
  func.func @opaque_alone(%x: !inlay.object<"dict">) -> !inlay.object<"dict"> {
    %0 = inlay.opaque "f"(%x) : (!inlay.object<"dict">) -> !inlay.object<"dict">
    %1 = inlay.opaque "g"(%0) : (!inlay.object<"dict">) -> !inlay.object<"dict">
    return %1 : !inlay.object<"dict">
  }

  // CHECK-LABEL: func private @declared_elsewhere
  func.func private @declared_elsewhere(tensor<4xf32>)
}
