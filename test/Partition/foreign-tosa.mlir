// A graph of tosa: constants are in no segment, layout ops join their users, and shapes never cross a border.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s
// RUN: inlay-opt %s --inlay-partition --inlay-partition-inline-segments | FileCheck %s --check-prefix=BACK

module attributes {inlay.targets = [#inlay.declared<"npu", ["tosa.matmul", "tosa.add", "tosa.reshape"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  // The reshapes join the npu, so one tensor less is carried there. Their shape is cloned.
  // CHECK-LABEL: func @forward
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "tosa.const"
  // CHECK-NEXT: tosa.matmul
  // CHECK-NEXT: inlay.yield
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: tosa.exp
  // CHECK-NEXT: inlay.yield
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK-DAG: tosa.const_shape
  // CHECK-DAG: "tosa.const"
  // CHECK: tosa.reshape
  // CHECK: tosa.reshape
  // CHECK: tosa.add
  // CHECK-NOT: inlay.segment
  // BACK-LABEL: func @forward
  // BACK: tosa.const_shape
  // BACK-NOT: tosa.const_shape
  // BACK-NOT: inlay.
  func.func @forward(%x: tensor<1x4x8xf32>, %w: tensor<1x8x8xf32>) -> tensor<32xf32> {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %flat = tosa.const_shape {values = dense<32> : tensor<1xindex>} : () -> !tosa.shape<1>
    %0 = tosa.matmul %x, %w, %zero, %zero
      : (tensor<1x4x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8xf32>
    %1 = tosa.exp %0 : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %2 = tosa.reshape %0, %flat : (tensor<1x4x8xf32>, !tosa.shape<1>) -> tensor<32xf32>
    %3 = tosa.reshape %1, %flat : (tensor<1x4x8xf32>, !tosa.shape<1>) -> tensor<32xf32>
    %4 = tosa.add %2, %3 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %5 = tosa.add %4, %zero : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
    return %5 : tensor<32xf32>
  }
}
