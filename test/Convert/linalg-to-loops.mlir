// RUN: inlay-opt %s --inlay-convert-linalg-to-loops="lanes=8" --cse --canonicalize | FileCheck %s

// The rows of a product share each vector of the right operand. The fill becomes the start value.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[A:.*]] = memref.collapse_shape %arg0
// CHECK-DAG: %[[B:.*]] = memref.collapse_shape %arg1
// CHECK-DAG: %[[C:.*]] = memref.collapse_shape %arg2
// CHECK: %[[SUMS:.*]]:4 = scf.for {{.*}} iter_args({{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]])
// CHECK-COUNT-1: vector.load %[[B]]
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store {{.*}}, %[[C]]
// CHECK-NOT: linalg
func.func @matmul(%a: memref<4x8xf32>, %b: memref<8x8xf32>, %c: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x8xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x8xf32>) outs(%c : memref<4x8xf32>)
  return
}

// No factor divides the rows: full tiles of 6, and one of the remaining 5.
// CHECK-LABEL: func.func @ragged
// CHECK: %{{.*}}:6 = scf.for {{.*}} -> (vector<8xf32>,
// CHECK-COUNT-6: vector.store
// CHECK: %{{.*}}:5 = scf.for {{.*}} -> (vector<8xf32>,
// CHECK-COUNT-5: vector.store
// CHECK-NOT: vector.store
func.func @ragged(%a: memref<11x8xf32>, %b: memref<8x8xf32>, %c: memref<11x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<11x8xf32>)
  linalg.matmul ins(%a, %b : memref<11x8xf32>, memref<8x8xf32>) outs(%c : memref<11x8xf32>)
  return
}

// The rest of a row that does not fill a vector is masked.
// CHECK-LABEL: func.func @rest
// CHECK: %[[MASK:.*]] = arith.constant dense<[true, true, true, false, false, false, false, false]>
// CHECK: vector.load
// CHECK: vector.store
// CHECK: vector.maskedload {{.*}}, %[[MASK]]
// CHECK: vector.maskedstore {{.*}}, %[[MASK]]
#id = affine_map<(d0) -> (d0)>
func.func @rest(%x: memref<11xf32>, %y: memref<11xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<11xf32>) outs(%y : memref<11xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A call of a library function has no vector form.
// CHECK-LABEL: func.func @scalar
// CHECK-NOT: vector
// CHECK: func.call @lgammaf
func.func private @lgammaf(f32) -> f32
func.func @scalar(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = func.call @lgammaf(%in) : (f32) -> f32
    linalg.yield %0 : f32
  }
  return
}

// Strided reads are gathered. Views are at the positions that their types state.
// CHECK-LABEL: func.func @strided
// CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, 2, 4, 6, 8, 10, 12, 14]> : vector<8xindex>
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant 3 : index
// CHECK: vector.gather %arg0[%[[OFFSET]]] [%[[LANES]]]
func.func @strided(%x: memref<32xf32>, %y: memref<8xf32>) {
  %v = memref.subview %x[3] [8] [2] : memref<32xf32> to memref<8xf32, strided<[2], offset: 3>>
  memref.copy %v, %y : memref<8xf32, strided<[2], offset: 3>> to memref<8xf32>
  return
}

// A fill that is read before the reduction stays.
// CHECK-LABEL: func.func @fill_read
// CHECK: vector.store
// CHECK: vector.store
// CHECK: vector.load %arg1
// CHECK: scf.for
func.func @fill_read(%x: memref<4x8xf32>, %sum: memref<8xf32>, %copy: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
  memref.copy %sum, %copy : memref<8xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// A long sum adds up blocks, which consist of smaller blocks. Each block has separate accumulators: four vectors, so that
// no addition waits for the one before.
// CHECK-LABEL: func.func @long_sum
// CHECK-DAG: %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK: %[[ALL:.*]]:4 = scf.for %[[FIRST:.*]] = %c0 to %c100000 step %c5280 iter_args(%[[BEFORE:[a-z0-9]+]] = %[[NOTHING]],
// CHECK: %[[REACHED:.*]] = arith.addi %[[FIRST]], %c5280
// CHECK: %[[LAST:.*]] = arith.minui %[[REACHED]], %c100000
// CHECK: %[[BLOCK:.*]]:4 = scf.for %[[START:.*]] = %[[FIRST]] to %[[LAST]] step %c480 iter_args({{.*}} = %[[NOTHING]],
// CHECK: scf.for %{{.*}} = %[[START]] to %{{.*}} step %c32 iter_args({{.*}} = %[[NOTHING]],
// CHECK-COUNT-4: vector.load
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[BLOCK]]#0
// CHECK: scf.yield %[[SUM]]
// CHECK: %[[EVEN:.*]] = arith.addf %[[ALL]]#0, %[[ALL]]#2
// CHECK: %[[ODD:.*]] = arith.addf %[[ALL]]#1, %[[ALL]]#3
// CHECK: %[[JOINED:.*]] = arith.addf %[[EVEN]], %[[ODD]]
// CHECK: vector.reduction <add>, %[[JOINED]]
func.func @long_sum(%x: memref<100000xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<100000xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Blocks of the same size have constant bounds.
// CHECK-LABEL: func.func @whole_blocks
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c4096 step %c256
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c256 step %c32
// CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[STEP]]
// CHECK: vector.load %{{.*}}[%[[PLACE]]]
// CHECK-NOT: arith.minui
func.func @whole_blocks(%x: memref<4096xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<4096xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Loops that are long only together are cut too. The outermost loop starts from the output.
// CHECK-LABEL: func.func @long_sum_of_short_ones
// CHECK: %[[START:.*]] = memref.load
// CHECK: scf.for %{{.*}} = %c0 to %c30000 step %c1500 iter_args(%{{.*}} = %[[START]])
// CHECK: scf.for %{{.*}} = %c0 to %c1500 step %c100 iter_args(%{{.*}} = %cst
// CHECK: scf.for %{{.*}} = %c0 to %c100 step %c5 iter_args(%{{.*}} = %cst
// CHECK: scf.for %{{.*}} = %c0 to %c5 step %c1 iter_args(%[[SUM:.*]] = %cst
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%{{.*}} = %[[SUM]])
func.func @long_sum_of_short_ones(%x: memref<30000x3xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<30000x3xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A kernel runs a part of the inner loop, and the outer loop is the one along which the result is contiguous. Its five
// steps are masked.
// CHECK-LABEL: func.func @inner_part
// CHECK: %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, false, false, false]>
// CHECK: scf.for %{{.*}} = %arg0 to %arg1
// CHECK: vector.maskedload %{{.*}}[%{{.*}}], %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}[%{{.*}}], %[[MASK]]
// CHECK-NOT: vector.store
func.func @inner_part(%from: index, %to: index, %x: memref<5x40xf32>, %r: memref<40x5xf32>) attributes {plan.unit = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : memref<5x40xf32>) outs(%r : memref<40x5xf32>)
      attrs = {plan.split = 1 : i64} {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
