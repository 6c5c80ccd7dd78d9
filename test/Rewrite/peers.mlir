// Cases that other rewriters handle, handle wrongly or cannot handle, in minimal graphs.

// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl" | FileCheck %s
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl driver=greedy" | FileCheck %s

//--- rules.pdl
// A sum with two uses, a norm and a result, becomes one op with two results, wherever its users are.
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

// Written attributes are compared. A captured attribute may have any value, which the replacement receives.
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

// Two operands must be the same value.
pdl.pattern @gram : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.matmul"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.gram"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}

// The second rule depends on the type of an op that the first rule created.
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

// A producer writes directly to a buffer if only a copy reads its result.
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

// Only for 16-bit floats: three results of two ops become the results of a new op and of another op that ends a chain.
pdl.pattern @reduce_quant : benefit(2) {
  %x = pdl.operand
  %residual = pdl.operand
  %scale = pdl.operand
  %kinds = pdl.attribute = [f16, "bf16"]
  pdl.apply_native_constraint "dtype"(%x, %kinds : !pdl.value, !pdl.attribute)
  %plain = pdl.attribute = "norm"
  %eps = pdl.attribute
  %t = pdl.type
  %q = pdl.type
  %s = pdl.type
  %reduce = pdl.operation "t.reduce"(%x, %residual : !pdl.value, !pdl.value) {"eps" = %eps, "fusion" = %plain} -> (%t, %t : !pdl.type, !pdl.type)
  %normed = pdl.result 0 of %reduce
  pdl.apply_native_constraint "one_use"(%normed : !pdl.value)
  %quant = pdl.operation "t.quant"(%normed, %scale : !pdl.value, !pdl.value) -> (%q, %s : !pdl.type, !pdl.type)
  pdl.rewrite {
    %fused = pdl.attribute = "norm_quant"
    %copy = pdl.operation "t.copy_to_buffer"(%x : !pdl.value) -> (%t : !pdl.type)
    %copied = pdl.result 0 of %copy
    %new = pdl.operation "t.reduce"(%copied, %residual, %scale : !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps, "fusion" = %fused} -> (%q, %s, %t : !pdl.type, !pdl.type, !pdl.type)
    %q0 = pdl.result 0 of %new
    %q1 = pdl.result 1 of %new
    %shard = pdl.result 2 of %new
    %end = pdl.operation "t.finalize"(%shard : !pdl.value) -> (%t : !pdl.type)
    %sum = pdl.result 0 of %end
    pdl.replace %quant with (%q0, %q1 : !pdl.value, !pdl.value)
    pdl.replace %reduce with (%sum, %sum : !pdl.value, !pdl.value)
  }
}

// An op that ends a chain is removed if the next chain does not need it, even if another rule created that chain.
pdl.pattern @keep_shard : benefit(1) {
  %x = pdl.operand
  %scale = pdl.operand
  %shard = pdl.operand
  %eps = pdl.attribute
  %fusion = pdl.attribute
  %t = pdl.type
  %q = pdl.type
  %s = pdl.type
  %end = pdl.operation "t.finalize"(%shard : !pdl.value) -> (%t : !pdl.type)
  %residual = pdl.result 0 of %end
  %reduce = pdl.operation "t.reduce"(%x, %residual, %scale : !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps, "fusion" = %fusion} -> (%q, %s, %t : !pdl.type, !pdl.type, !pdl.type)
  pdl.rewrite %reduce {
    %new = pdl.operation "t.reduce"(%x, %shard, %scale : !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps, "fusion" = %fusion} -> (%q, %s, %t : !pdl.type, !pdl.type, !pdl.type)
    pdl.replace %reduce with %new
  }
}

//--- graph.mlir
!t = tensor<4x8xf32>

// The sum is used before the norm and by several ops. Only the sum uses the reduction.
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

!h = tensor<4x8xf16>
!q = tensor<4x8xf8E4M3FN>
!s = tensor<4xf32>

// CHECK-LABEL: @three_results
// CHECK-NEXT: %[[C:.*]] = "t.copy_to_buffer"(%arg0)
// CHECK-NEXT: %[[R:.*]]:3 = "t.reduce"(%[[C]], %arg1, %arg2) {eps = {{.*}}, fusion = "norm_quant"} : ({{.*}}) -> (tensor<4x8xf8E4M3FN>, tensor<4xf32>, tensor<4x8xf16>)
// CHECK-NEXT: %[[E:.*]] = "t.finalize"(%[[R]]#2)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[E]]
func.func @three_results(%x: !h, %r: !h, %scale: !s) -> (!q, !s, !h) {
  %0:2 = "t.reduce"(%x, %r) {eps = 0.25 : f64, fusion = "norm"} : (!h, !h) -> (!h, !h)
  %1:2 = "t.quant"(%0#0, %scale) : (!h, !s) -> (!q, !s)
  return %1#0, %1#1, %0#1 : !q, !s, !h
}

// CHECK-LABEL: @other_floats_stay
// CHECK-NEXT: "t.reduce"
// CHECK-NEXT: "t.quant"
func.func @other_floats_stay(%x: !t, %r: !t, %scale: !s) -> (!q, !s, !t) {
  %0:2 = "t.reduce"(%x, %r) {eps = 0.25 : f64, fusion = "norm"} : (!t, !t) -> (!t, !t)
  %1:2 = "t.quant"(%0#0, %scale) : (!t, !s) -> (!q, !s)
  return %1#0, %1#1, %0#1 : !q, !s, !t
}

// CHECK-LABEL: @norm_is_used
// CHECK-NEXT: "t.reduce"
// CHECK-NEXT: "t.quant"
func.func @norm_is_used(%x: !h, %r: !h, %scale: !s) -> (!q, !s, !h) {
  %0:2 = "t.reduce"(%x, %r) {eps = 0.25 : f64, fusion = "norm"} : (!h, !h) -> (!h, !h)
  %1:2 = "t.quant"(%0#0, %scale) : (!h, !s) -> (!q, !s)
  return %1#0, %1#1, %0#0 : !q, !s, !h
}

// Both chains are rewritten, and only the last op that ends a chain remains.
// CHECK-LABEL: @shards_are_kept
// CHECK-NEXT: %[[C0:.*]] = "t.copy_to_buffer"(%arg0)
// CHECK-NEXT: %[[R0:.*]]:3 = "t.reduce"(%[[C0]], %arg1, %arg2)
// CHECK-NOT: t.finalize
// CHECK: %[[M:.*]] = "t.matmul"(%[[R0]]#0, %[[R0]]#1)
// CHECK-NOT: t.finalize
// CHECK: %[[C1:.*]] = "t.copy_to_buffer"(%[[M]])
// CHECK-NEXT: %[[R1:.*]]:3 = "t.reduce"(%[[C1]], %[[R0]]#2, %arg2)
// CHECK-NEXT: %[[E:.*]] = "t.finalize"(%[[R1]]#2)
// CHECK-NEXT: return %[[R1]]#0, %[[R1]]#1, %[[E]]
func.func @shards_are_kept(%x: !h, %r: !h, %scale: !s) -> (!q, !s, !h) {
  %0:2 = "t.reduce"(%x, %r) {eps = 0.25 : f64, fusion = "norm"} : (!h, !h) -> (!h, !h)
  %1:2 = "t.quant"(%0#0, %scale) : (!h, !s) -> (!q, !s)
  %2 = "t.matmul"(%1#0, %1#1) : (!q, !s) -> !h
  %3:2 = "t.reduce"(%2, %0#1) {eps = 0.25 : f64, fusion = "norm"} : (!h, !h) -> (!h, !h)
  %4:2 = "t.quant"(%3#0, %scale) : (!h, !s) -> (!q, !s)
  return %4#0, %4#1, %3#1 : !q, !s, !h
}
