// RUN: inlay-opt %s --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A buffer is not copied if it is written before it is read. A call writes into the given buffer.
// CHECK-LABEL: func.func @writes
// CHECK-SAME: (%[[X:.*]]: memref<4x8xf32{{.*}}>, %[[C:.*]]: memref<4x4xf32{{.*}}>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: plan.library_call contraction(%[[X]], %[[X]]) into %[[C]] {{.*}} -> ()
// CHECK: return %[[C]]
func.func @writes(%x: tensor<4x8xf32>, %c: tensor<4x4xf32> {bufferization.writable = true}) -> tensor<4x4xf32> {
  %0 = plan.library_call contraction(%x, %x) into %c {maps = [#a, #b, #c]}
    : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A call that accumulates reads its output: an argument that must not be written is copied first.
// CHECK-LABEL: func.func @accumulates
// CHECK-SAME: (%[[X:.*]]: memref<4x8xf32{{.*}}>, %[[C:.*]]: memref<4x4xf32{{.*}}>)
// CHECK: %[[R:.*]] = memref.alloc()
// CHECK: memref.copy %[[C]], %[[R]]
// CHECK: plan.library_call contraction(%[[X]], %[[X]]) into %[[R]] {config = {accumulate}
func.func @accumulates(%x: tensor<4x8xf32>, %c: tensor<4x4xf32> {bufferization.writable = false}) -> tensor<4x4xf32> {
  %0 = plan.library_call contraction(%x, %x) into %c {maps = [#a, #b, #c], config = {accumulate}}
    : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A result never shares memory with an input, even if that input could be written.
// CHECK-LABEL: func.func @apart
// CHECK-SAME: (%[[X:.*]]: memref<4x8xf32{{.*}}>, %[[C:.*]]: memref<4x4xf32{{.*}}>)
// CHECK: %[[R:.*]] = memref.alloc()
// CHECK-NOT: memref.copy
// CHECK: plan.library_call contraction(%[[X]], %[[X]], %[[C]]) into %[[R]]
func.func @apart(%x: tensor<4x8xf32>, %c: tensor<4x4xf32> {bufferization.writable = true}) -> tensor<4x4xf32> {
  %0 = plan.library_call contraction(%x, %x, %c) into %c {maps = [#a, #b, #c, #c], post_ops = [#plan.post_op<add>]}
    : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
