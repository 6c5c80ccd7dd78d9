// A report reads attributes that anyone may have written. Entries that are not labels or figures are left out.
// RUN: inlay-opt %s --inlay-partition-report -o /dev/null | FileCheck %s
// RUN: inlay-opt %s --inlay-partition-report=format=table -o /dev/null
// RUN: inlay-opt %s --inlay-partition-report=format=html -o /dev/null

// CHECK: "witness": [
// CHECK-NEXT: "known"
// CHECK-NEXT: ]
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {
    inlay.witness = [1, "known", unit],
    inlay.partition = {lower_bound = "x", placements = 5, what_if = {kinds = [{kinds = [1]}]}, min_block_sizes = [2]}} {
  return %x : tensor<4xf32>
}
