// Rules that depend on operand types and record the matched property in an attribute: static sizes, multiples, bounds,
// any size, and the indexing maps of a loop op.

// RUN: split-file %s %t
// RUN: inlay-opt %t/graph.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/rules.pdl" | FileCheck %s

//--- rules.pdl
// The first rule that matches is used: ten elements, a multiple of twenty, a vector of any size. None matches f16 or a
// matrix.
pdl.pattern @ten : benefit(3) {
  %x = pdl.operand
  %dim = pdl.attribute = 0 : i64
  %size = pdl.attribute = 10 : i64
  %one = pdl.attribute = 1 : i64
  %f32 = pdl.attribute = f32
  pdl.apply_native_constraint "rank"(%x, %one : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "dtype"(%x, %f32 : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "dim"(%x, %dim, %size : !pdl.value, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.call"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "ten"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}
pdl.pattern @twenties : benefit(2) {
  %x = pdl.operand
  %dim = pdl.attribute = 0 : i64
  %factor = pdl.attribute = 20 : i64
  %one = pdl.attribute = 1 : i64
  %f32 = pdl.attribute = f32
  pdl.apply_native_constraint "rank"(%x, %one : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "dtype"(%x, %f32 : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "multiple_of"(%x, %dim, %factor : !pdl.value, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.call"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "twenties"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}
pdl.pattern @any : benefit(1) {
  %x = pdl.operand
  %one = pdl.attribute = 1 : i64
  %f32 = pdl.attribute = f32
  pdl.apply_native_constraint "rank"(%x, %one : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "dtype"(%x, %f32 : !pdl.value, !pdl.attribute)
  %call = pdl.operation "t.call"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "any"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}

// Bounds: both, only a minimum, only a maximum, and bounds of the second dim.
pdl.pattern @both_bounds : benefit(3) {
  %x = pdl.operand
  %dim = pdl.attribute = 0 : i64
  %least = pdl.attribute = 5 : i64
  %most = pdl.attribute = 20 : i64
  pdl.apply_native_constraint "dim_between"(%x, %dim, %least, %most : !pdl.value, !pdl.attribute, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.bound"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "5 to 20"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}
pdl.pattern @least : benefit(2) {
  %x = pdl.operand
  %dim = pdl.attribute = 0 : i64
  %least = pdl.attribute = 75 : i64
  %most = pdl.attribute = 9223372036854775807 : i64
  pdl.apply_native_constraint "dim_between"(%x, %dim, %least, %most : !pdl.value, !pdl.attribute, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.bound"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "at least 75"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}
pdl.pattern @most : benefit(1) {
  %x = pdl.operand
  %dim = pdl.attribute = 0 : i64
  %least = pdl.attribute = 0 : i64
  %most = pdl.attribute = 4 : i64
  pdl.apply_native_constraint "dim_between"(%x, %dim, %least, %most : !pdl.value, !pdl.attribute, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.bound"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "at most 4"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}
pdl.pattern @second_dim : benefit(4) {
  %x = pdl.operand
  %dim = pdl.attribute = 1 : i64
  %size = pdl.attribute = 20 : i64
  pdl.apply_native_constraint "dim_between"(%x, %dim, %size, %size : !pdl.value, !pdl.attribute, !pdl.attribute, !pdl.attribute)
  %call = pdl.operation "t.bound"(%x : !pdl.value)
  pdl.rewrite %call {
    %found = pdl.attribute = "20 columns"
    %new = pdl.operation "t.done"(%x : !pdl.value) {"found" = %found}
    pdl.replace %call with %new
  }
}

// An integer product, selected by its indexing maps and not by its name. Its region moves to the new op.
pdl.pattern @contraction : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %maps = pdl.attribute = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
  %i8 = pdl.attribute = i8
  pdl.apply_native_constraint "dtype"(%a, %i8 : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "dtype"(%b, %i8 : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.loops"(%a, %b : !pdl.value, !pdl.value) {"maps" = %maps} -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.product"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.apply_native_rewrite "take_regions"(%new, %op : !pdl.operation, !pdl.operation)
    pdl.replace %op with %new
  }
}

//--- graph.mlir
// CHECK-LABEL: @sizes
// CHECK-NEXT: "t.done"(%arg0) {found = "any"}
// CHECK-NEXT: "t.call"(%arg1)
// CHECK-NEXT: "t.done"(%arg2) {found = "twenties"}
// CHECK-NEXT: "t.done"(%arg3) {found = "ten"}
// CHECK-NEXT: "t.done"(%arg4) {found = "any"}
// CHECK-NEXT: "t.call"(%arg5)
func.func @sizes(%any: tensor<?xf32>, %matrix: tensor<?x?xf32>, %many: tensor<100xf32>, %ten: tensor<10xf32>, %other: tensor<15xf32>, %half: tensor<10xf16>) {
  "t.call"(%any) : (tensor<?xf32>) -> ()
  "t.call"(%matrix) : (tensor<?x?xf32>) -> ()
  "t.call"(%many) : (tensor<100xf32>) -> ()
  "t.call"(%ten) : (tensor<10xf32>) -> ()
  "t.call"(%other) : (tensor<15xf32>) -> ()
  "t.call"(%half) : (tensor<10xf16>) -> ()
  return
}

// An unknown size is within no bounds.
// CHECK-LABEL: @bounds
// CHECK-NEXT: "t.done"(%arg0) {found = "5 to 20"}
// CHECK-NEXT: "t.done"(%arg1) {found = "20 columns"}
// CHECK-NEXT: "t.done"(%arg2) {found = "at least 75"}
// CHECK-NEXT: "t.done"(%arg3) {found = "at most 4"}
// CHECK-NEXT: "t.bound"(%arg4)
// CHECK-NEXT: "t.bound"(%arg5)
func.func @bounds(%some: tensor<12xf32>, %matrix: tensor<?x20xf32>, %many: tensor<100xf32>, %few: tensor<3xf32>, %other: tensor<40xf32>, %any: tensor<?xf32>) {
  "t.bound"(%some) : (tensor<12xf32>) -> ()
  "t.bound"(%matrix) : (tensor<?x20xf32>) -> ()
  "t.bound"(%many) : (tensor<100xf32>) -> ()
  "t.bound"(%few) : (tensor<3xf32>) -> ()
  "t.bound"(%other) : (tensor<40xf32>) -> ()
  "t.bound"(%any) : (tensor<?xf32>) -> ()
  return
}

// CHECK-LABEL: @contractions
// CHECK-NEXT: "t.product"(%arg0, %arg0) ({
// CHECK-NEXT: "t.mul_add"
// CHECK-NEXT: })
// CHECK-NEXT: "t.loops"(%arg0, %arg0)
// CHECK: "t.loops"(%arg1, %arg0)
func.func @contractions(%x: tensor<32x32xi8>, %y: tensor<32x32xi32>) {
  %0 = "t.loops"(%x, %x) ({
    "t.mul_add"() : () -> ()
  }) {maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]} : (tensor<32x32xi8>, tensor<32x32xi8>) -> tensor<32x32xi32>
  %1 = "t.loops"(%x, %x) ({
    "t.mul_add"() : () -> ()
  }) {maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]} : (tensor<32x32xi8>, tensor<32x32xi8>) -> tensor<32x32xi32>
  %2 = "t.loops"(%y, %x) ({
    "t.mul_add"() : () -> ()
  }) {maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]} : (tensor<32x32xi32>, tensor<32x32xi8>) -> tensor<32x32xi32>
  return
}
