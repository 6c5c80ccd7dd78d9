// A fill is kept if the reduction after it does not write all of it, or if a view is written in between.
// RUN: inlay-opt %s --inlay-convert-linalg-to-loops | FileCheck %s

// CHECK-LABEL: func.func @column
// CHECK: store
// CHECK: scf.for
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @column(%x: memref<4x8xf32>, %y: memref<4x3xf32>) {
  %seven = arith.constant 7.0 : f32
  linalg.fill ins(%seven : f32) outs(%y : memref<4x3xf32>)
  linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @view
// CHECK: store
// CHECK: store
// CHECK: load %arg2
// CHECK: scf.for
func.func @view(%x: memref<8x4xf32>, %part: memref<2xf32>, %sum: memref<8xf32>) {
  %seven = arith.constant 7.0 : f32
  %view = memref.subview %sum[0] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>>
  linalg.fill ins(%seven : f32) outs(%sum : memref<8xf32>)
  memref.copy %part, %view : memref<2xf32> to memref<2xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x4xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}
