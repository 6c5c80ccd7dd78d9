// Structures that are difficult for pattern languages: roots that share an operand, lists of operands, results that are
// operands of each other, attributes with any value.

// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl" | FileCheck %s
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl driver=greedy" | FileCheck %s

//--- rules.pdl
// Two activations of two ops that read the same value become one op with two results.
pdl.pattern @two_activations : benefit(1) {
  %x = pdl.operand
  %w0 = pdl.operand
  %w1 = pdl.operand
  %t = pdl.type
  %matmul = pdl.operation "t.matmul"(%x, %w0 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %a = pdl.result 0 of %matmul
  %relu = pdl.operation "t.relu"(%a : !pdl.value) -> (%t : !pdl.type)
  %add = pdl.operation "t.add"(%x, %w1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %b = pdl.result 0 of %add
  %sigmoid = pdl.operation "t.sigmoid"(%b : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "t.both"(%x, %w0, %w1 : !pdl.value, !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
    %p = pdl.result 0 of %new
    %q = pdl.result 1 of %new
    pdl.replace %relu with (%p : !pdl.value)
    pdl.replace %sigmoid with (%q : !pdl.value)
  }
}

// A list matches all operands, all but the first, all but the last, or those in between.
pdl.pattern @all : benefit(1) {
  %xs = pdl.operands
  %t = pdl.type
  %cat = pdl.operation "t.all"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    %new = pdl.operation "t.new_all"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
    pdl.replace %cat with %new
  }
}
pdl.pattern @value_and_list : benefit(1) {
  %x = pdl.operand
  %xs = pdl.operands
  %t = pdl.type
  %cat = pdl.operation "t.front"(%x, %xs : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    %new = pdl.operation "t.new_front"(%xs, %x : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %cat with %new
  }
}
pdl.pattern @list_and_value : benefit(1) {
  %xs = pdl.operands
  %x = pdl.operand
  %t = pdl.type
  %cat = pdl.operation "t.back"(%xs, %x : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    %new = pdl.operation "t.new_back"(%x, %xs : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
    pdl.replace %cat with %new
  }
}
pdl.pattern @list_between : benefit(1) {
  %x = pdl.operand
  %xs = pdl.operands
  %y = pdl.operand
  %t = pdl.type
  %cat = pdl.operation "t.middle"(%x, %xs, %y : !pdl.value, !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    %new = pdl.operation "t.new_middle"(%y, %xs, %x : !pdl.value, !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %cat with %new
  }
}

// Two sums, one of which is an operand of the other. Both have other users.
pdl.pattern @two_sums : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %t = pdl.type
  %first = pdl.operation "t.plus"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %x = pdl.result 0 of %first
  %second = pdl.operation "t.plus"(%x, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "t.sums"(%a, %b, %c : !pdl.value, !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
    %p = pdl.result 0 of %new
    %q = pdl.result 1 of %new
    pdl.replace %second with (%q : !pdl.value)
    pdl.replace %first with (%p : !pdl.value)
  }
}

// A convolution with any stride and padding, which the new op keeps, and without a dilation.
pdl.pattern @convolution : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %stride = pdl.attribute
  %padding = pdl.attribute
  %dilation = pdl.attribute = array<i64: 1, 1>
  %t = pdl.type
  %conv = pdl.operation "t.conv"(%x, %w : !pdl.value, !pdl.value) {"stride" = %stride, "padding" = %padding, "dilation" = %dilation} -> (%t : !pdl.type)
  pdl.rewrite %conv {
    %new = pdl.operation "t.my_conv"(%x, %w : !pdl.value, !pdl.value) {"stride" = %stride, "padding" = %padding} -> (%t : !pdl.type)
    pdl.replace %conv with %new
  }
}

// An unregistered op behind a registered one. Both are erased.
pdl.pattern @mixed : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %load = pdl.operation "t.load"(%x : !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %load
  %exp = pdl.operation "inlay.exp"(%v : !pdl.value) -> (%t : !pdl.type)
  %e = pdl.result 0 of %exp
  %relu = pdl.operation "inlay.relu"(%e : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu {
    %new = pdl.operation "t.load_relu"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %relu with %new
  }
}

//--- graph.mlir
!t = tensor<4x4xf32>

// CHECK-LABEL: @two_activations
// CHECK-NEXT: %[[B:.*]]:2 = "t.both"(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[U:.*]] = "t.use"(%[[B]]#0)
// CHECK-NEXT: return %[[B]]#1, %[[U]], %[[B]]#0
func.func @two_activations(%x: !t, %w0: !t, %w1: !t) -> (!t, !t, !t) {
  %a = "t.matmul"(%x, %w0) : (!t, !t) -> !t
  %ra = "t.relu"(%a) : (!t) -> !t
  %u = "t.use"(%ra) : (!t) -> !t
  %b = "t.add"(%x, %w1) : (!t, !t) -> !t
  %rb = "t.sigmoid"(%b) : (!t) -> !t
  return %rb, %u, %ra : !t, !t, !t
}

// CHECK-LABEL: @nothing_is_shared
// CHECK-NOT: t.both
// CHECK: return
func.func @nothing_is_shared(%x: !t, %y: !t, %w: !t) -> (!t, !t) {
  %a = "t.matmul"(%x, %w) : (!t, !t) -> !t
  %ra = "t.relu"(%a) : (!t) -> !t
  %b = "t.add"(%y, %w) : (!t, !t) -> !t
  %rb = "t.sigmoid"(%b) : (!t) -> !t
  return %ra, %rb : !t, !t
}

// CHECK-LABEL: @lists
// CHECK-NEXT: "t.new_all"(%arg0, %arg1, %arg2)
// CHECK-NEXT: "t.new_front"(%arg1, %arg2, %arg0)
// CHECK-NEXT: "t.new_back"(%arg2, %arg0, %arg1)
// CHECK-NEXT: "t.new_middle"(%arg2, %arg1, %arg0)
// CHECK-NEXT: "t.new_all"()
// CHECK-NEXT: "t.new_back"(%arg0)
// CHECK-NEXT: "t.new_middle"(%arg1, %arg0)
// CHECK-NEXT: "t.middle"(%arg0)
func.func @lists(%x: !t, %y: !t, %z: !t) {
  %0 = "t.all"(%x, %y, %z) : (!t, !t, !t) -> !t
  %1 = "t.front"(%x, %y, %z) : (!t, !t, !t) -> !t
  %2 = "t.back"(%x, %y, %z) : (!t, !t, !t) -> !t
  %3 = "t.middle"(%x, %y, %z) : (!t, !t, !t) -> !t
  %4 = "t.all"() : () -> !t
  %5 = "t.back"(%x) : (!t) -> !t
  %6 = "t.middle"(%x, %y) : (!t, !t) -> !t
  %7 = "t.middle"(%x) : (!t) -> !t
  return
}

// Users of the sums are between the two, before and after them.
// CHECK-LABEL: @two_sums
// CHECK-NEXT: %[[S:.*]]:2 = "t.sums"(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[U:.*]] = "t.use"(%[[S]]#0)
// CHECK-NEXT: %[[V:.*]] = "t.use"(%[[S]]#1, %[[U]])
// CHECK-NEXT: return %[[S]]#0, %[[S]]#1, %[[V]]
func.func @two_sums(%a: !t, %b: !t, %c: !t) -> (!t, !t, !t) {
  %x = "t.plus"(%a, %b) : (!t, !t) -> !t
  %u = "t.use"(%x) : (!t) -> !t
  %y = "t.plus"(%x, %c) : (!t, !t) -> !t
  %v = "t.use"(%y, %u) : (!t, !t) -> !t
  return %x, %y, %v : !t, !t, !t
}

// CHECK-LABEL: @convolutions
// CHECK-NEXT: "t.my_conv"(%arg0, %arg1) {padding = array<i64: 0, 0>, stride = array<i64: 1, 1>}
// CHECK-NEXT: "t.my_conv"(%arg0, %arg1) {padding = array<i64: 3, 2>, stride = array<i64: 2, 1>}
// CHECK-NEXT: "t.conv"(%arg0, %arg1) {dilation = array<i64: 2, 2>
func.func @convolutions(%x: !t, %w: !t) {
  %0 = "t.conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>} : (!t, !t) -> !t
  %1 = "t.conv"(%x, %w) {stride = array<i64: 2, 1>, padding = array<i64: 3, 2>, dilation = array<i64: 1, 1>} : (!t, !t) -> !t
  %2 = "t.conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 2, 2>} : (!t, !t) -> !t
  return
}

// CHECK-LABEL: @mixed
// CHECK-NEXT: %[[R:.*]] = "t.load_relu"(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @mixed(%x: !t) -> !t {
  %0 = "t.load"(%x) : (!t) -> !t
  %1 = inlay.exp %0 : (!t) -> !t
  %2 = inlay.relu %1 : (!t) -> !t
  return %2 : !t
}
