// RUN: inlay-opt %s --inlay-convert-compute-in-place | FileCheck %s

// A buffer that is only copied to a result is computed there, through a view if the shapes differ.
// CHECK-LABEL: func.func @in_place(%arg0: memref<2x4xf32>)
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [8], strides: [1]
// CHECK: linalg.fill {{.*}} outs(%[[VIEW]]
// CHECK-NOT: memref.copy
func.func @in_place(%out: memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<8xf32>)
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  memref.copy %1, %out : memref<2x4xf32> to memref<2x4xf32>
  return
}

// One allocation for two results: the second result is a copy of the first.
// CHECK-LABEL: func.func @two(%arg0: memref<8xf32>, %arg1: memref<8xf32>)
// CHECK: linalg.fill {{.*}} outs(%arg0
// CHECK: memref.copy %arg0, %arg1
func.func @two(%out0: memref<8xf32>, %out1: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<8xf32>)
  memref.copy %0, %out0 : memref<8xf32> to memref<8xf32>
  memref.copy %0, %out1 : memref<8xf32> to memref<8xf32>
  return
}

// A result that is written or read elsewhere keeps its copy.
// CHECK-LABEL: func.func @used_twice(%arg0: memref<8xf32>)
// CHECK: %[[OWN:.*]] = memref.alloc
// CHECK: memref.copy %[[OWN]], %arg0
func.func @used_twice(%out: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%out : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%0 : memref<8xf32>)
  memref.copy %0, %out : memref<8xf32> to memref<8xf32>
  return
}
