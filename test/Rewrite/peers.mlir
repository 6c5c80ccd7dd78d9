// What other rewriters do, do wrongly, or can't, on graphs as small as it takes.

// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl" | FileCheck %s
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl driver=greedy" | FileCheck %s

//--- rules.pdl
// A sum whose two uses are a norm and a result: one op of two results, wherever its users stand.
pdl.pattern @reduce_norm : benefit(3) {
  %input = pdl.operand
  %residual = pdl.operand
  %weight = pdl.operand
  %eps = pdl.attribute
  %t = pdl.type
  %reduce = pdl.operation "t.all_reduce"(%input : !pdl.value) -> (%t : !pdl.type)
  %reduced = pdl.result 0 of %reduce
  %add = pdl.operation "t.add"(%reduced, %residual : !pdl.value, !pdl.value) -> (%t : !pdl.type) {commutative}
  %sum = pdl.result 0 of %add
  %norm = pdl.operation "t.rms_norm"(%sum, %weight : !pdl.value, !pdl.value) {"eps" = %eps} -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "t.reduce_norm"(%input, %residual, %weight : !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps} -> (%t, %t : !pdl.type, !pdl.type)
    %n = pdl.result 0 of %new
    %s = pdl.result 1 of %new
    pdl.replace %norm with (%n : !pdl.value)
    pdl.replace %add with (%s : !pdl.value)
  }
}

// What is written is compared, what is captured may be anything and reaches the replacement.
pdl.pattern @attention : benefit(1) {
  %q = pdl.operand
  %k = pdl.operand
  %dims = pdl.attribute = array<i64: 0, 2, 1, 3>
  %scale = pdl.attribute
  %t0 = pdl.type
  %t1 = pdl.type
  %permute = pdl.operation "t.permute"(%k : !pdl.value) {"dims" = %dims} -> (%t0 : !pdl.type)
  %permuted = pdl.result 0 of %permute
  %scores = pdl.operation "t.scores"(%q, %permuted : !pdl.value, !pdl.value) {"scale" = %scale} -> (%t1 : !pdl.type)
  pdl.rewrite %scores {
    %new = pdl.operation "t.attention"(%q, %k : !pdl.value, !pdl.value) {"scale" = %scale} -> (%t1 : !pdl.type)
    pdl.replace %scores with %new
  }
}

// The same value twice is not two values.
pdl.pattern @gram : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.matmul"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.gram"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}

// The second rule asks for the type of what the first made.
pdl.pattern @first : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.first"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.second"(%x : !pdl.value)
    pdl.replace %op with %new
  }
}
pdl.pattern @second : benefit(1) {
  %x = pdl.operand
  %dim = pdl.attribute = 1 : i64
  %size = pdl.attribute = 8 : i64
  %t = pdl.type
  %op = pdl.operation "t.second"(%x : !pdl.value) -> (%t : !pdl.type)
  %result = pdl.result 0 of %op
  pdl.apply_native_constraint "dim"(%result, %dim, %size : !pdl.value, !pdl.attribute, !pdl.attribute)
  pdl.rewrite %op {
    %new = pdl.operation "t.third"(%x : !pdl.value)
    pdl.replace %op with %new
  }
}

// A producer that writes to a buffer by itself where only a copy reads it.
pdl.pattern @write_directly : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %yes = pdl.attribute = true
  %t = pdl.type
  %product = pdl.operation "t.scaled_mm"(%x, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %value = pdl.result 0 of %product
  %copy = pdl.operation "t.copy_to_buffer"(%value : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %copy {
    %new = pdl.operation "t.scaled_mm"(%x, %w : !pdl.value, !pdl.value) {"to_buffer" = %yes} -> (%t : !pdl.type)
    pdl.replace %copy with %new
  }
}

//--- graph.mlir
!t = tensor<4x8xf32>

// The sum is used before the norm, and by more than one; the reduction by the sum alone.
// CHECK-LABEL: @reduce_norm
// CHECK-NEXT: %[[NEW:.*]]:2 = "t.reduce_norm"(%arg0, %arg1, %arg2) {eps = 2.5{{.*}}} : ({{.*}}) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: %[[MORE:.*]] = "t.more"(%[[NEW]]#1)
// CHECK-NEXT: return %[[NEW]]#0, %[[NEW]]#1, %[[MORE]]
func.func @reduce_norm(%x: !t, %residual: !t, %w: !t) -> (!t, !t, !t) {
  %0 = "t.all_reduce"(%x) : (!t) -> !t
  %1 = "t.add"(%residual, %0) : (!t, !t) -> !t
  %2 = "t.more"(%1) : (!t) -> !t
  %3 = "t.rms_norm"(%1, %w) {eps = 0.25 : f64} : (!t, !t) -> !t
  return %3, %1, %2 : !t, !t, !t
}

// CHECK-LABEL: @reduced_value_is_used
// CHECK-NEXT: "t.all_reduce"
// CHECK-NEXT: "t.add"
// CHECK-NEXT: "t.rms_norm"
func.func @reduced_value_is_used(%x: !t, %residual: !t, %w: !t) -> (!t, !t) {
  %0 = "t.all_reduce"(%x) : (!t) -> !t
  %1 = "t.add"(%0, %residual) : (!t, !t) -> !t
  %2 = "t.rms_norm"(%1, %w) {eps = 0.25 : f64} : (!t, !t) -> !t
  return %2, %0 : !t, !t
}

// CHECK-LABEL: @attention
// CHECK-NEXT: %[[A:.*]] = "t.attention"(%arg0, %arg1) {scale = 2.5{{.*}}}
// CHECK-NEXT: %[[P:.*]] = "t.permute"(%arg1) {dims = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: %[[S:.*]] = "t.scores"(%arg0, %[[P]])
// CHECK-NEXT: return %[[A]], %[[S]]
func.func @attention(%q: !t, %k: !t) -> (!t, !t) {
  %0 = "t.permute"(%k) {dims = array<i64: 0, 2, 1, 3>} : (!t) -> !t
  %1 = "t.scores"(%q, %0) {scale = 2.5 : f64} : (!t, !t) -> !t
  %2 = "t.permute"(%k) {dims = array<i64: 0, 2, 3, 1>} : (!t) -> !t
  %3 = "t.scores"(%q, %2) {scale = 2.5 : f64} : (!t, !t) -> !t
  return %1, %3 : !t, !t
}

// CHECK-LABEL: @gram
// CHECK-NEXT: "t.gram"(%arg0)
// CHECK-NEXT: "t.matmul"(%arg0, %arg1)
func.func @gram(%x: !t, %y: !t) -> (!t, !t) {
  %0 = "t.matmul"(%x, %x) : (!t, !t) -> !t
  %1 = "t.matmul"(%x, %y) : (!t, !t) -> !t
  return %0, %1 : !t, !t
}

// CHECK-LABEL: @types_reach_what_is_made
// CHECK-NEXT: "t.third"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: "t.second"(%arg1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @types_reach_what_is_made(%x: !t, %y: tensor<4x4xf32>) -> (!t, tensor<4x4xf32>) {
  %0 = "t.first"(%x) : (!t) -> !t
  %1 = "t.first"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : !t, tensor<4x4xf32>
}

// CHECK-LABEL: @write_directly
// CHECK-NEXT: %[[NEW:.*]] = "t.scaled_mm"(%arg0, %arg1) {to_buffer = true}
// CHECK-NEXT: return %[[NEW]]
func.func @write_directly(%x: !t, %w: !t) -> !t {
  %0 = "t.scaled_mm"(%x, %w) : (!t, !t) -> !t
  %1 = "t.copy_to_buffer"(%0) : (!t) -> !t
  return %1 : !t
}
