// A label that an op gets is unique, even if an earlier run gave it to an op at another position.
// RUN: inlay-opt %s --inlay-partition-annotate-targets --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: inlay-opt %s --inlay-partition="save-placement=%t.json" -o /dev/null
// RUN: inlay-opt %s --inlay-partition="placement=%t.json" -o /dev/null

// CHECK: inlay.neg {{.*}} loc("inlay.relu#1")
// CHECK: inlay.relu {{.*}} loc("inlay.relu#1#"(
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32> loc("inlay.relu#1")
  %1 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
