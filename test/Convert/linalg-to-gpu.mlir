// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="block=32 max-grid=4" | FileCheck %s

// One launch. The number of tiles is the only constant from outside, and the fill is the start value.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: linalg
// CHECK: %[[COUNT:.*]] = arith.constant 128 : index
// CHECK: gpu.launch
// CHECK: arith.cmpi ult, {{.*}}, %[[COUNT]]
// CHECK: scf.if
// CHECK: %{{.*}}:64 = scf.for
// CHECK-COUNT-16: vector.store
// CHECK-NOT: memref.store
// CHECK-NOT: gpu.launch
func.func @matmul(%a: memref<64x16xf32>, %b: memref<16x128xf32>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
  linalg.matmul ins(%a, %b : memref<64x16xf32>, memref<16x128xf32>) outs(%c : memref<64x128xf32>)
  return
}

// No factor divides 11 rows: they are two tiles of 6. Points of the second tile beyond the end read the last row and
// are not stored. The first row of a tile always exists.
// CHECK-LABEL: func.func @ragged
// CHECK: %[[COUNT:.*]] = arith.constant 2 : index
// CHECK: gpu.launch
// CHECK: arith.cmpi ult, {{.*}}, %[[COUNT]]
// CHECK-COUNT-5: arith.minui
// CHECK-NOT: arith.minui
// CHECK: %{{.*}}:6 = scf.for
// CHECK: memref.store
// CHECK-COUNT-5: scf.if {{.*}} {{[{]}}{{[[:space:]]+}}memref.store
func.func @ragged(%a: memref<11x16xf32>, %b: memref<16x1xf32>, %c: memref<11x1xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<11x1xf32>)
  linalg.matmul ins(%a, %b : memref<11x16xf32>, memref<16x1xf32>) outs(%c : memref<11x1xf32>)
  return
}

// If there are more workgroups than fit along one axis, a second axis is used. An invocation computes four elements of
// an elementwise op.
// CHECK-LABEL: func.func @fold
// CHECK-DAG: %[[X:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[Y:.*]] = arith.constant 2 : index
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[X]], %{{.*}} = %[[Y]], %{{.*}} = %{{.*}})
// CHECK-COUNT-4: math.exp
#id = affine_map<(d0) -> (d0)>
func.func @fold(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// An op without elements is not launched.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: gpu.launch
func.func @empty(%x: memref<0xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<0xf32>)
  return
}
