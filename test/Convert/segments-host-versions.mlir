// RUN: inlay-opt %s --inlay-convert-segments=host-versions --mlir-elide-elementsattrs-if-larger=2 -split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-segments --mlir-elide-elementsattrs-if-larger=2 -split-input-file | FileCheck %s --check-prefix=WITHOUT

// A segment that becomes an engine also becomes a host function of the same buffers, under another name.

// CHECK-DAG: #[[SCRATCH:.*]] = affine_map<() -> (192)>
// CHECK:     plan.engine @forward_0 arguments 2 scratch #{{[a-z0-9]+}} host_version @forward_0_host
// CHECK:     plan.host_function @forward_0_host arguments 2 inputs 1 scratch #[[SCRATCH]]
// CHECK:     plan.object
// WITHOUT:     plan.engine @forward_0 arguments 2 scratch #{{[a-z0-9]+}} {
// WITHOUT-NOT: plan.host_function
// WITHOUT-NOT: plan.object
func.func private @forward_0(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.softmax %x dim -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// That name may be taken.

// CHECK: plan.engine @forward_0 {{.*}} host_version @[[NAME:forward_0_host_[0-9]+]]
// CHECK: func.func private @forward_0_host(
// CHECK: plan.host_function @[[NAME]] arguments 2 inputs 1
func.func private @forward_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @forward_0_host(tensor<4xf32>) -> tensor<4xf32>

// -----

// The host among the module's targets converts it.

// CHECK:      plan.host_function @forward_0_host
// CHECK-NOT:  contraction
module attributes {inlay.targets = [#inlay.vulkan, #inlay.host<library = false>]} {
  func.func private @forward_0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {plan.target = #inlay.vulkan} {
    %0 = inlay.matmul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
