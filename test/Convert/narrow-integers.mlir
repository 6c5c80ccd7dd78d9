// RUN: inlay-opt %s --inlay-convert-narrow-integers | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Indices of 100 steps, and their sums and products with constants, need no 64 bits.
// CHECK-LABEL: func.func @positions
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[M:.*]] = arith.muli %[[N]], %{{.*}} : i32
// CHECK: %[[F:.*]] = arith.sitofp %[[M]] : i32 to f32
// CHECK-NOT: i64
// CHECK: linalg.yield %[[F]]
func.func @positions(%out: tensor<100xf32>) -> tensor<100xf32> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%out : tensor<100xf32>) {
  ^bb0(%o: f32):
    %c3 = arith.constant 3 : i64
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %m = arith.muli %n, %c3 : i64
    %f = arith.sitofp %m : i64 to f32
    linalg.yield %f : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Operands of an unsigned comparison must not be negative. Values that are stored in 64 bits are extended at the end.
// CHECK-LABEL: func.func @compared
// CHECK: arith.subi %{{.*}}, %{{.*}} : i32
// CHECK: %[[W:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi ult, %[[W]], %{{.*}} : i64
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: %[[E:.*]] = arith.extsi %[[S]] : i32 to i64
// CHECK: linalg.yield %[[E]]
func.func @compared(%out: tensor<100xi64>) -> tensor<100xi64> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%out : tensor<100xi64>) {
  ^bb0(%o: i64):
    %c50 = arith.constant 50 : i64
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %m = arith.subi %n, %c50 : i64
    %a = arith.cmpi slt, %m, %n : i64
    %b = arith.cmpi ult, %m, %n : i64
    %c = arith.andi %a, %b : i1
    %s = arith.select %c, %m, %n : i64
    linalg.yield %s : i64
  } -> tensor<100xi64>
  return %0 : tensor<100xi64>
}

// A product of two indices of 100,000 may exceed 32 bits. Its remainder does not, but has the product as an operand.
// CHECK-LABEL: func.func @wide
// CHECK: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: arith.remsi %{{.*}}, %{{.*}} : i64
func.func @wide(%out: tensor<100000xi64>) -> tensor<100000xi64> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%out : tensor<100000xi64>) {
  ^bb0(%o: i64):
    %c7 = arith.constant 7 : i64
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %m = arith.muli %n, %n : i64
    %r = arith.remsi %m, %c7 : i64
    linalg.yield %r : i64
  } -> tensor<100000xi64>
  return %0 : tensor<100000xi64>
}

// Loaded values are unknown unless they were narrower. A loop of unknown size has no last index.
// CHECK-LABEL: func.func @read
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: %[[B:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.addi %[[B]], %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
func.func @read(%x: tensor<?xi64>, %y: tensor<?xi8>, %out: tensor<?xi64>) -> tensor<?xi64> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi64>, tensor<?xi8>) outs(%out : tensor<?xi64>) {
  ^bb0(%a: i64, %b: i8, %o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.addi %a, %n : i64
    %w = arith.extsi %b : i8 to i64
    %d = arith.addi %w, %w : i64
    %t = arith.addi %s, %d : i64
    linalg.yield %t : i64
  } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
