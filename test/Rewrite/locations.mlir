// New ops have the locations of all matched ops and the name of the root.

// RUN: inlay-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope --inlay-rewrite="patterns=%S/Inputs/fusions.pdl.mlir" | FileCheck %s

!t = tensor<4x4xf32>

// CHECK-LABEL: @joined
func.func @joined(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.fused"{{.*}} loc(fused["act", "bias", "fc"])
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t loc("fc")
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t loc("bias")
  %2 = "t.relu"(%1) : (!t) -> !t loc("act")
  return %2 : !t
}

// CHECK-LABEL: @one_place
func.func @one_place(%x: !t, %w: !t, %b: !t) -> !t {
  // CHECK-NEXT: "t.fused"{{.*}} loc("linear")
  %0 = "t.matmul"(%x, %w) : (!t, !t) -> !t loc("linear")
  %1 = "t.add"(%0, %b) : (!t, !t) -> !t loc("linear")
  %2 = "t.relu"(%1) : (!t) -> !t loc("linear")
  return %2 : !t
}
