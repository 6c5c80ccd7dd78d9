// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/div.pdl" | FileCheck %s
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/div.pdl driver=greedy" | FileCheck %s

// The example of IREE's tests of PDL files.
//--- div.pdl
pdl.pattern @mul_of_divs : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %d = pdl.operand
  %t = pdl.type
  %div0 = pdl.operation "arith.divf"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %q0 = pdl.result 0 of %div0
  %div1 = pdl.operation "arith.divf"(%c, %d : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %q1 = pdl.result 0 of %div1
  %mul = pdl.operation "arith.mulf"(%q0, %q1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    %ac = pdl.operation "arith.mulf"(%a, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %p0 = pdl.result 0 of %ac
    %bd = pdl.operation "arith.mulf"(%b, %d : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %p1 = pdl.result 0 of %bd
    %div = pdl.operation "arith.divf"(%p0, %p1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %mul with %div
  }
}

//--- graph.mlir
// CHECK-LABEL: @mul_of_divs
// CHECK-NEXT: %[[AC:.*]] = arith.mulf %arg0, %arg2
// CHECK-NEXT: %[[BD:.*]] = arith.mulf %arg1, %arg3
// CHECK-NEXT: %[[R:.*]] = arith.divf %[[AC]], %[[BD]]
// CHECK-NEXT: return %[[R]]
func.func @mul_of_divs(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.divf %a, %b : tensor<4xf32>
  %1 = arith.divf %c, %d : tensor<4xf32>
  %2 = arith.mulf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
