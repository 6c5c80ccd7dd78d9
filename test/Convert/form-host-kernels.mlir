// RUN: inlay-opt %s --inlay-convert-form-host-kernels | FileCheck %s

#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#swap = affine_map<(i, j) -> (j, i)>

// Ops that go over the same rows form one kernel. The buffer between them is passed like the others.
// CHECK-LABEL: func.func private @rows_loops0(%arg0: index, %arg1: index, %arg2: memref<32x8xf32>,
// CHECK-SAME:    %arg3: memref<32x8xf32>, %arg4: memref<32xf32>) attributes {plan.unit = 1 : i64}
// CHECK:       linalg.exp {plan.split = 0 : i64} ins(%arg2 {{.*}} outs(%arg3
// CHECK:       linalg.generic {{.*}} ins(%arg3 {{.*}} outs(%arg4 {{.*}} attrs = {plan.split = 0 : i64}
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    attributes {plan.kernels = [#plan.host_kernel<"exp of x, row sum", loops, buffers = 3>]}
// CHECK:       call @rows_loops0(%{{.*}}, %c32, %arg0, %alloc, %arg1)
// CHECK-SAME:    {plan.cost = 16 : i64, plan.kernel = 0 : i64}
func.func @rows(%x: memref<32x8xf32>, %r: memref<32xf32>) {
  %0 = memref.alloc() : memref<32x8xf32>
  linalg.exp ins(%x : memref<32x8xf32>) outs(%0 : memref<32x8xf32>) loc("exp of x")
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : memref<32x8xf32>) outs(%r : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1 : f32
  } loc("row sum")
  return
}

// An op that reads columns of a buffer that was written by rows waits for the whole buffer.
// CHECK-LABEL: func.func @columns
// CHECK:       call @columns_loops0
// CHECK:       call @columns_loops1
func.func @columns(%x: memref<32x32xf32>, %r: memref<32x32xf32>) {
  %0 = memref.alloc() : memref<32x32xf32>
  linalg.exp ins(%x : memref<32x32xf32>) outs(%0 : memref<32x32xf32>)
  linalg.generic {indexing_maps = [#swap, #both], iterator_types = ["parallel", "parallel"]}
      ins(%0 : memref<32x32xf32>) outs(%r : memref<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// Rows may be read with other dims if they are at the same position.
// CHECK-LABEL: func.func private @views_loops0
// CHECK:       memref.collapse_shape
// CHECK:       linalg.exp
// CHECK:       linalg.log
// CHECK-LABEL: func.func @views
func.func @views(%x: memref<32x2x4xf32>, %r: memref<32x8xf32>) {
  %0 = memref.alloc() : memref<32x2x4xf32>
  linalg.exp ins(%x : memref<32x2x4xf32>) outs(%0 : memref<32x2x4xf32>)
  %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<32x2x4xf32> into memref<32x8xf32>
  linalg.log ins(%1 : memref<32x8xf32>) outs(%r : memref<32x8xf32>)
  return
}

// Equal kernels are one function, whatever their arguments are. A kernel with one dim is split into whole vectors.
// CHECK-LABEL: func.func private @twice_loops0
// CHECK-SAME:    plan.unit = 64
// CHECK-NOT:   @twice_loops1
// CHECK-LABEL: func.func @twice
// CHECK:       call @twice_loops0(%{{.*}}, %c16, %arg0, %arg1) {plan.cost = 64 : i64, plan.kernel = 0 : i64}
// CHECK:       call @something
// CHECK:       call @twice_loops0(%{{.*}}, %c16{{[_0-9]*}}, %arg2, %arg3) {plan.cost = 64 : i64, plan.kernel = 1 : i64}
func.func @twice(%a: memref<1000xf32>, %b: memref<1000xf32>, %c: memref<1000xf32>, %d: memref<1000xf32>) {
  linalg.exp ins(%a : memref<1000xf32>) outs(%b : memref<1000xf32>)
  func.call @something() : () -> ()
  linalg.exp ins(%c : memref<1000xf32>) outs(%d : memref<1000xf32>)
  return
}
func.func private @something()

// A reduction starts from the constant with which its output was filled.
// CHECK-LABEL: func.func private @start_loops0
// CHECK-NOT:   linalg.fill
// CHECK:       attrs = {plan.initial = 2.000000e+00 : f32, plan.split = 0 : i64}
func.func @start(%x: memref<32x8xf32>, %r: memref<32xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.fill ins(%two : f32) outs(%r : memref<32xf32>)
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<32x8xf32>) outs(%r : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1 : f32
  }
  return
}

// With sizes that are known only at a call, there is one iteration per row.
// CHECK-LABEL: func.func private @open_loops0
// CHECK-SAME:    %arg2: memref<?x8xf32> {inlay.dims = affine_map<()[s0] -> (s0, 8)>}
// CHECK-SAME:    inlay.symbols = [#inlay.symbol<"n", 1 to 64>], plan.unit = 1
// CHECK-LABEL: func.func @open
// CHECK:       %[[N:.*]] = inlay.symbol 0
// CHECK:       call @open_loops0(%{{.*}}, %[[N]], %arg0, %arg1)
func.func @open(%x: memref<?x8xf32> {inlay.dims = affine_map<()[s0] -> (s0, 8)>},
                %r: memref<?x8xf32> {inlay.dims = affine_map<()[s0] -> (s0, 8)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 64>]} {
  linalg.exp ins(%x : memref<?x8xf32>) outs(%r : memref<?x8xf32>)
  return
}

// The loops of a contraction with the stride of each operand, then each flat buffer and its offset.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    plan.kernels = [#plan.host_kernel<"", contraction, buffers = 3, loops = 3, constants = [1],
// CHECK-SAME:      post_ops = [<relu>]>]
// CHECK-DAG:   %[[X:.*]] = memref.collapse_shape %arg0
// CHECK:       %[[START:.*]] = arith.constant 24 : index
// CHECK:       call @product_library0(%c4{{[_0-9]*}}, %c8{{[_0-9]*}}, %c0{{[_0-9]*}}, %c16{{[_0-9]*}}
// CHECK-SAME:    %[[X]], %[[START]], %{{.*}}) {plan.kernel = 0 : i64}
func.func @product(%x: memref<7x8xf32>, %w: memref<16x8xf32>, %r: memref<4x16xf32>) {
  %part = memref.subview %x[3, 0] [4, 8] [1, 1] : memref<7x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 24>>
  plan.library_call contraction(%part, %w) into %r {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    constants = array<i64: 1>, post_ops = [#plan.post_op<relu>]
  } : (memref<4x8xf32, strided<[8, 1], offset: 24>>, memref<16x8xf32>, memref<4x16xf32>) -> ()
  return
}

// A tile that does not divide a unit has a rest.
// RUN: inlay-opt %s --inlay-convert-form-host-kernels --inlay-convert-linalg-to-loops=lanes=4 | FileCheck %s --check-prefix=LOOPS
// LOOPS-LABEL: func.func private @twice_loops0
// LOOPS-NOT:     arith.remui
// LOOPS-LABEL: func.func private @ragged_loops0
// LOOPS:         %[[REST:.*]] = arith.remui
// LOOPS:         vector.create_mask %[[REST]]
func.func @ragged(%x: memref<1001xf32>, %r: memref<1001xf32>) {
  linalg.exp ins(%x : memref<1001xf32>) outs(%r : memref<1001xf32>)
  return
}
