// REQUIRES: vulkan
// DEFINE: %{n} =
// DEFINE: %{target} =
// DEFINE: %{run} = env INLAY_DEVICE_TIMEOUT=600 inlay-run %t/%{target}.mlir --require-full-compilation --require-device \
// DEFINE:   --compare --input-shape=x:n=0..9x8x9x12 --size=n=%{n} | FileCheck %s
// RUN: split-file %s %t
// RUN: cat %t/subgroups.txt %t/graph.txt > %t/subgroups.mlir
// RUN: cat %t/workgroups.txt %t/graph.txt > %t/workgroups.mlir
// REDEFINE: %{target} = subgroups
// REDEFINE: %{n} = 3
// RUN: %{run}
// REDEFINE: %{n} = 1
// RUN: %{run}
// REDEFINE: %{n} = 0
// RUN: %{run}
// REDEFINE: %{target} = workgroups
// RUN: %{run}
// REDEFINE: %{n} = 2
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Four convolutions. The padding that also changes the layout has a kernel of its own, and so does the sum %4, because the
// kernel of its convolution would read %2 twice.
// RUN: mkdir -p %t/dump
// RUN: env INLAY_DEVICE_TIMEOUT=600 inlay-run %t/subgroups.mlir --require-device --dump-dir=%t/dump \
// RUN:   --input-shape=x:n=1..9x8x9x12 --size=n=1
// RUN: FileCheck %s --check-prefix=KERNELS --input-file=%t/dump/04-convert.mlir
// KERNELS-COUNT-6: plan.dispatch
// KERNELS-NOT: plan.dispatch

// Convolutions whose kernels read the input without padding: with strides and dilations, with sums that start from a bias
// and that are added to the input itself, which must not be overwritten before other workgroups have read it.

//--- subgroups.txt
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast", "subgroup-arithmetic"],
    kind = "discrete">, #inlay.host]} {
//--- workgroups.txt
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "discrete",
    max_workgroup_invocations = 256, max_workgroup_memory = 32768,
    tuning = {load = 1000.0, quad = 1000.0, subgroups = 1.0}>, #inlay.host]} {
//--- graph.txt
func.func public @forward(%x: tensor<?x8x9x12xf32> loc("x"), %p: tensor<8x8x1x1xf32> loc("p"), %k: tensor<8x8x3x3xf32> loc("k"),
    %b: tensor<8xf32> loc("b"), %g: tensor<16x8x3x3xf32> loc("g"))
    -> tensor<?x16x5x6xf32> {
  %0 = inlay.conv %x, %p, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<?x8x9x12xf32>,
    tensor<8x8x1x1xf32>, tensor<8xf32>) -> tensor<?x8x9x12xf32>
  %1 = inlay.conv %0, %k, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<?x8x9x12xf32>,
    tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<?x8x9x12xf32>
  %2 = inlay.add %1, %0 : (tensor<?x8x9x12xf32>, tensor<?x8x9x12xf32>) -> tensor<?x8x9x12xf32>
  %3 = inlay.conv %2, %k, %b stride [1, 1] padding [2, 2] dilation [2, 2] groups 1 : (tensor<?x8x9x12xf32>,
    tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<?x8x9x12xf32>
  %4 = inlay.add %3, %2 : (tensor<?x8x9x12xf32>, tensor<?x8x9x12xf32>) -> tensor<?x8x9x12xf32>
  %5 = inlay.relu %4 : (tensor<?x8x9x12xf32>) -> tensor<?x8x9x12xf32>
  %6 = inlay.conv %5, %g stride [2, 2] padding [1, 1] dilation [1, 1] groups 1 : (tensor<?x8x9x12xf32>,
    tensor<16x8x3x3xf32>) -> tensor<?x16x5x6xf32>
  %8 = inlay.relu %6 : (tensor<?x16x5x6xf32>) -> tensor<?x16x5x6xf32>
  return %8 : tensor<?x16x5x6xf32>
}
}
