// REQUIRES: vulkan
// DEFINE: %{m} =
// DEFINE: %{target} =
// DEFINE: %{run} = env INLAY_DEVICE_TIMEOUT=600 inlay-run %t/%{target}.mlir --require-full-compilation --require-device \
// DEFINE:   --compare --input-shape=x:m=0..200x40 --input-shape=z:m=0..200x5x13x14 --size=m=%{m} | FileCheck %s
// RUN: split-file %s %t
// RUN: cat %t/software.txt %t/graph.txt > %t/software.mlir
// RUN: cat %t/subgroups.txt %t/graph.txt > %t/subgroups.mlir
// RUN: cat %t/workgroups.txt %t/graph.txt > %t/workgroups.mlir
// REDEFINE: %{m} = 37
// REDEFINE: %{target} = software
// RUN: %{run}
// REDEFINE: %{target} = subgroups
// RUN: %{run}
// REDEFINE: %{target} = workgroups
// RUN: %{run}
// REDEFINE: %{m} = 1
// RUN: %{run}
// REDEFINE: %{m} = 0
// RUN: %{run}
// REDEFINE: %{target} = subgroups
// RUN: %{run}
// REDEFINE: %{m} = 64
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Each product and its neighbors are one kernel, also the padding of the convolution. The sum %3 has a kernel of its own,
// because it reads an operand of its product.
// RUN: mkdir -p %t/dump
// RUN: env INLAY_DEVICE_TIMEOUT=600 inlay-run %t/workgroups.mlir --require-device --dump-dir=%t/dump \
// RUN:   --input-shape=x:m=1..200x40 --input-shape=z:m=1..200x5x13x14 --size=m=1
// RUN: FileCheck %s --check-prefix=KERNELS --input-file=%t/dump/04-convert.mlir
// KERNELS-COUNT-9: plan.dispatch
// KERNELS-NOT: plan.dispatch

// The ops before and after products: biases, an activation, and the sum with a value that is scratch memory. There are
// rows beyond the last whole tile, numbers of columns that aren't multiples of four, sums in several parts, and a batch. The
// last three results are transposed after their columns or rows were split, the second one into dims that are no
// multiples of four.

//--- software.txt
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "software">,
    #inlay.host]} {
//--- subgroups.txt
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "discrete">,
    #inlay.host]} {
//--- workgroups.txt
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "discrete",
    max_workgroup_invocations = 256, max_workgroup_memory = 32768,
    tuning = {load = 1000.0, quad = 1000.0, subgroups = 1.0}>, #inlay.host]} {
//--- graph.txt
func.func public @forward(%x: tensor<?x40xf32> loc("x"), %w: tensor<40x40xf32> loc("w"), %b: tensor<40xf32> loc("b"),
    %v: tensor<23x40xf32> loc("v"), %c: tensor<23xf32> loc("c"), %z: tensor<?x5x13x14xf32> loc("z"),
    %k: tensor<12x5x3x3xf32> loc("k"), %d: tensor<12xf32> loc("d"), %l: tensor<3x20x2500xf32> loc("l"),
    %r: tensor<3x2500x12xf32> loc("r"), %s: tensor<3x20x12xf32> loc("s"),
    %e: tensor<40xf32> loc("e"), %m: tensor<3x20x2500xf32> loc("m"))
    -> (tensor<?x40xf32>, tensor<?x23xf32>, tensor<?x12x13x14xf32>, tensor<3x20x12xf32>, tensor<5x?x8xf32>, tensor<8x?x5xf32>,
    tensor<4x3x5x12xf32>) {
  %0 = inlay.linear %x, %w, %b : (tensor<?x40xf32>, tensor<40x40xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %1 = inlay.relu %0 : (tensor<?x40xf32>) -> tensor<?x40xf32>
  %2 = inlay.linear %1, %w, %b : (tensor<?x40xf32>, tensor<40x40xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %3 = inlay.add %2, %1 : (tensor<?x40xf32>, tensor<?x40xf32>) -> tensor<?x40xf32>
  %4 = inlay.linear %3, %v, %c : (tensor<?x40xf32>, tensor<23x40xf32>, tensor<23xf32>) -> tensor<?x23xf32>
  %5 = inlay.abs %4 : (tensor<?x23xf32>) -> tensor<?x23xf32>
  %6 = inlay.conv %z, %k, %d stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<?x5x13x14xf32>,
    tensor<12x5x3x3xf32>, tensor<12xf32>) -> tensor<?x12x13x14xf32>
  %7 = inlay.relu %6 : (tensor<?x12x13x14xf32>) -> tensor<?x12x13x14xf32>
  %8 = inlay.matmul %l, %r : (tensor<3x20x2500xf32>, tensor<3x2500x12xf32>) -> tensor<3x20x12xf32>
  %9 = inlay.add %8, %s : (tensor<3x20x12xf32>, tensor<3x20x12xf32>) -> tensor<3x20x12xf32>
  %10 = inlay.linear %x, %w, %e : (tensor<?x40xf32>, tensor<40x40xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %11 = inlay.reshape %10 shape [?, 5, 8] sizes affine_map<()[s0, s1] -> (s0)> : (tensor<?x40xf32>) -> tensor<?x5x8xf32>
  %12 = inlay.permute %11 dims [1, 0, 2] : (tensor<?x5x8xf32>) -> tensor<5x?x8xf32>
  %13 = inlay.linear %x, %w : (tensor<?x40xf32>, tensor<40x40xf32>) -> tensor<?x40xf32>
  %14 = inlay.reshape %13 shape [?, 8, 5] sizes affine_map<()[s0, s1] -> (s0)> : (tensor<?x40xf32>) -> tensor<?x8x5xf32>
  %15 = inlay.permute %14 dims [1, 0, 2] : (tensor<?x8x5xf32>) -> tensor<8x?x5xf32>
  %16 = inlay.matmul %m, %r : (tensor<3x20x2500xf32>, tensor<3x2500x12xf32>) -> tensor<3x20x12xf32>
  %17 = inlay.reshape %16 shape [3, 4, 5, 12] : (tensor<3x20x12xf32>) -> tensor<3x4x5x12xf32>
  %18 = inlay.permute %17 dims [1, 0, 2, 3] : (tensor<3x4x5x12xf32>) -> tensor<4x3x5x12xf32>
  return %3, %5, %7, %9, %12, %15, %18 : tensor<?x40xf32>, tensor<?x23xf32>, tensor<?x12x13x14xf32>, tensor<3x20x12xf32>,
    tensor<5x?x8xf32>, tensor<8x?x5xf32>, tensor<4x3x5x12xf32>
}
}
