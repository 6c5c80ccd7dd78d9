// The report on a module with several functions is an array. It is empty if the module only declares functions.
// RUN: inlay-opt %s --inlay-partition="report=-" --split-input-file -o /dev/null | FileCheck %s
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report=format=table --split-input-file -o /dev/null | FileCheck %s --check-prefix=TABLE
// RUN: not inlay-opt %s --inlay-partition --inlay-partition-report=format=yaml --split-input-file 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not inlay-opt %s --inlay-partition="report=/nowhere/report.json" --split-input-file 2>&1 | FileCheck %s --check-prefix=PATH

// CHECK: [
// CHECK-NEXT: {
// CHECK-NEXT: "version": 1,
// CHECK-NEXT: "function": "first",
// CHECK: "function": "second",
// CHECK: ]
// CHECK: []
// TABLE: @first: 1 op in 1 segment
// TABLE: @second: 0 ops in 0 segments
// FORMAT: error: expected format to be json, text, table or html, but got 'yaml'
// PATH: error: can't write the report to '/nowhere/report.json': No such file or directory

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @second() {
    return
  }
  func.func private @third()
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func private @alone()
}
