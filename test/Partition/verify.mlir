// The result of partitioning passes verification, which changes nothing.
// RUN: inlay-opt %s --inlay-partition --inlay-partition-verify | FileCheck %s
// RUN: inlay-opt %s --inlay-partition | inlay-opt --inlay-partition-verify | FileCheck %s

module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: inlay.segment #inlay.declared<"host"
  func.func @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    %0 = inlay.opaque "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = scf.if %c -> tensor<4xf32> {
      %2 = inlay.opaque "g"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    } else {
      scf.yield %0 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}
