// RUN: inlay-opt %s --inlay-convert-segments --mlir-elide-elementsattrs-if-larger=2 -split-input-file | FileCheck %s

// Each target converts a segment under the segment's name. The native code of all segments is one object.

// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-LABEL: func.func @forward(
// CHECK:         plan.invoke @forward_0(
// CHECK:         plan.invoke @forward_1(
// CHECK:         plan.invoke @forward_2(
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.invoke @forward_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.invoke @forward_1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.invoke @forward_2(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK:       plan.engine @forward_0 arguments 2 scratch #[[NONE]]
// CHECK:         plan.kernel @k0 spirv {{.*}} bindings [{{.*}}read{{.*}}, {{.*}}write{{.*}}] block [64, 1, 1] push_constants 1
// CHECK:         plan.dispatch @k0 buffers [0, 1]
func.func private @forward_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK:       plan.host_function @forward_1 arguments 2 inputs 1 scratch #[[NONE]]
func.func private @forward_1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.host} {
  %0 = inlay.lgamma %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A segment of the framework stays a function with calls.
// CHECK:       func.func private @forward_2(%[[X:.*]]: tensor<4xf32>)
// CHECK:         %[[R:.*]] = plan.framework_call "{}"(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         return %[[R]]
func.func private @forward_2(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.torch} {
  %0 = inlay.opaque "aten::sort"(%x) call "{}" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK:       plan.object "{{.+}}" dense_resource<__elided__> : tensor<{{[0-9]+}}xi8>
// CHECK-NOT:   plan.object

// -----

// Scratch is counted in bytes, 64 for each part: softmax stores the maxima, the exponentials and their sums.

// CHECK-DAG: #[[SCRATCH:.*]] = affine_map<() -> (192)>
// CHECK:       plan.host_function @scratch arguments 2 inputs 1 scratch #[[SCRATCH]]
// CHECK-SAME:  kernels [#plan.host_kernel<"", loops, buffers = 5>]
func.func private @scratch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {plan.target = #inlay.host} {
  %0 = inlay.softmax %x dim -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A segment without inputs, and results that are inputs or one value twice.

// CHECK-DAG:   plan.host_function @no_inputs arguments 1 inputs 0
func.func private @no_inputs() -> tensor<4xf32> attributes {plan.target = #inlay.host} {
  %0 = inlay.constant dense<2.0> : tensor<4xf32>
  %1 = inlay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-DAG:   plan.engine @passed_through arguments 5
func.func private @passed_through(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %x, %0, %x, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// There is nothing to convert and nothing to link.

// CHECK-LABEL: func.func @untouched(
// CHECK:         inlay.relu
// CHECK-NOT:   plan.object
func.func @untouched(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Graph ops are described to the framework by name, with their attributes.
// CHECK-LABEL: func.func private @meanings
// CHECK: plan.framework_call "{\22graph_op\22:\22relu\22}"(%{{.*}})
// CHECK: plan.framework_call "{\22attributes\22:{\22dtype\22:\22bf16\22},\22graph_op\22:\22cast\22}"
// CHECK: plan.framework_call "{\22attributes\22:{\22dims\22:[1,0]},\22graph_op\22:\22permute\22}"
// CHECK: plan.framework_call "{\22attributes\22:{\22dim\22:0},\22graph_op\22:\22cat\22}"(%{{.*}}, %{{.*}}, %{{.*}})
func.func private @meanings(%x: tensor<4x2xf32>) -> tensor<6x4xbf16> attributes {plan.target = #inlay.torch} {
  %0 = inlay.relu %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = inlay.cast %0 to bf16 : (tensor<4x2xf32>) -> tensor<4x2xbf16>
  %2 = inlay.permute %1 dims [1, 0] : (tensor<4x2xbf16>) -> tensor<2x4xbf16>
  %3 = inlay.cat %2, %2, %2 dim 0 : (tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<6x4xbf16>
  return %3 : tensor<6x4xbf16>
}
