// RUN: inlay-opt %s --inlay-convert-segments --split-input-file | FileCheck %s

// A write to a part of a state is one dispatch, which writes that part alone.
// CHECK: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK: plan.engine @device arguments 2 scratch #[[NONE]] updates [1]
// CHECK-COUNT-1: plan.dispatch @{{.*}} buffers [0, 1] grid
// CHECK-NOT: plan.dispatch
func.func private @device(%x: tensor<2xf32>, %s: tensor<4096xf32>) -> (tensor<4096xf32> {plan.updates = 1 : i64})
    attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.slice_scatter %s, %x dim 0 start 1 end 3 step 1 : (tensor<4096xf32>, tensor<2xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// The old value that is returned is copied to its result first, in memory that is not the state's.
// CHECK-LABEL: plan.host_function @host arguments 3 inputs 2
// CHECK-SAME: updates [1]
func.func private @host(%x: tensor<2xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {plan.updates = 1 : i64})
    attributes {plan.target = #inlay.host} {
  %0 = inlay.slice_scatter %s, %x dim 0 start 1 end 3 step 1 : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %s, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Symbols determine the slice.
// CHECK-LABEL: plan.engine @symbols
// CHECK-SAME: updates [1]
// CHECK-COUNT-1: plan.dispatch
// CHECK-NOT: plan.dispatch
func.func private @symbols(%x: tensor<?x8xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1, 8)>}, %s: tensor<64x8xf32>)
    -> (tensor<64x8xf32> {plan.updates = 1 : i64})
    attributes {plan.target = #inlay.vulkan,
                inlay.symbols = [#inlay.symbol<"past", 0 to 31>, #inlay.symbol<"count", 1 to 32>]} {
  %0 = inlay.slice_scatter %s, %x dim 0 start ? end ? step 1 sizes affine_map<()[s0, s1] -> (s0, s0 + s1)>
    : (tensor<64x8xf32>, tensor<?x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
