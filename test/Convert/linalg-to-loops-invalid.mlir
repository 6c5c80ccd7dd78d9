// RUN: inlay-opt %s --inlay-convert-linalg-to-loops --split-input-file --verify-diagnostics
// RUN: not inlay-opt %s --inlay-convert-linalg-to-loops="lanes=0" 2>&1 | FileCheck %s
// CHECK: expected at least one lane, but got 0

func.func @dynamic(%x: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{unsupported-shape: expected loops whose sizes follow from the sizes of inputs}}
  linalg.fill ins(%zero : f32) outs(%x : memref<?xf32>)
  return
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @layout(%x: memref<4xf32, strided<[?], offset: ?>>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{unsupported-shape: expected buffers whose layout follows from the sizes of inputs}}
  linalg.fill ins(%zero : f32) outs(%x : memref<4xf32, strided<[?], offset: ?>>)
  return
}

// -----

func.func @map(%x: memref<4xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{expected linear indexing maps}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
