// Attributes are cut at 48 characters. Elements that are not dense are left out.
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-partition --inlay-partition-report="format=text" -o /dev/null | FileCheck %s
// RUN: inlay-opt %s --allow-unregistered-dialect --inlay-partition --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=TABLE

// CHECK: x.op[cut="01234567890123456789012345678901234567890123...,
// CHECK-SAME: fits="0123456789012345678901234567890123456789012345",
// CHECK-SAME: list=[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7],
// CHECK-SAME: more=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,...,
// CHECK-SAME: sparse=...](%arg0)

// TABLE: lower bound: 2 segments, so no fewer are possible
// TABLE-NEXT: the target changes 1 time along x.op#0 inlay.relu#1
module attributes {inlay.targets = [#inlay.declared<"npu", ["x.op"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "x.op"(%x) {list = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7>, more = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>, fits = "0123456789012345678901234567890123456789012345", cut = "01234567890123456789012345678901234567890123456", sparse = sparse<[[0, 0]], 1.0> : tensor<2x2xf32>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
