// RUN: inlay-opt %s --inlay-convert-hoist-allocations | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-hoist-allocations=arena=true | FileCheck %s --check-prefix=ARENA

// CHECK-LABEL: func.func @scratch(%arg0: memref<4xf32>, %arg1: memref<8xf32>) attributes {plan.arguments = 1 : i64}
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill {{.*}} outs(%arg1
func.func @scratch(%x: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<8xf32>)
  return
}

// ARENA: #[[UNSHARED:.*]] = affine_map<() -> (176)>
// ARENA-LABEL: func.func @shared(%arg0: memref<4xf32>, %arg1: memref<192xi8>)
// ARENA-SAME: attributes {plan.arguments = 1 : i64, plan.unshared_scratch = #[[UNSHARED]]}
// ARENA-DAG: %[[FIRST:.*]] = arith.constant 0 : index
// ARENA-DAG: memref.view %arg1[%[[FIRST]]][] : memref<192xi8> to memref<32xf32>
// ARENA-DAG: %[[SECOND:.*]] = arith.constant 128 : index
// ARENA-DAG: memref.view %arg1[%[[SECOND]]][] : memref<192xi8> to memref<8xf32>
// A buffer that is first used after both others reuses the memory of the first.
// ARENA-DAG: %[[THIRD:.*]] = arith.constant 0 : index
// ARENA-DAG: memref.view %arg1[%[[THIRD]]][] : memref<192xi8> to memref<4xf32>
func.func @shared(%x: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<32xf32>
  %1 = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<32xf32>)
  %part = memref.subview %0[0] [8] [1] : memref<32xf32> to memref<8xf32, strided<[1]>>
  linalg.copy ins(%part : memref<8xf32, strided<[1]>>) outs(%1 : memref<8xf32>)
  %2 = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%2 : memref<4xf32>)
  linalg.copy ins(%2 : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// Buffers of equal sizes that are known only at a call share memory.
// ARENA-LABEL: func.func @open(%arg0: memref<?xf32>
// ARENA-SAME: %arg1: memref<?xf32> {inlay.dims = {{[^,]*}}}, %arg2: memref<?xf32> {inlay.dims = {{[^,]*}}})
func.func @open(%x: memref<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %zero = arith.constant 0.0 : f32
  %n = inlay.symbol 0
  %0 = memref.alloc(%n) : memref<?xf32>
  %1 = memref.alloc(%n) : memref<?xf32>
  %2 = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%0 : memref<?xf32>)
  linalg.copy ins(%0 : memref<?xf32>) outs(%1 : memref<?xf32>)
  linalg.copy ins(%1 : memref<?xf32>) outs(%2 : memref<?xf32>)
  linalg.copy ins(%2 : memref<?xf32>) outs(%x : memref<?xf32>)
  return
}
