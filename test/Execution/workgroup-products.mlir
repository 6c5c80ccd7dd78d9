// REQUIRES: vulkan
// DEFINE: %{m} =
// DEFINE: %{k} =
// DEFINE: %{n} =
// DEFINE: %{run} = env INLAY_DEVICE_TIMEOUT=600 inlay-run %s --require-full-compilation --require-device --compare \
// DEFINE:   --input-shape=a:m=0..200xk=0..6000 --input-shape=b:k=0..6000xn=0..90 --input-shape=x:m=0..200x5x13x13 \
// DEFINE:   --input-shape=y:m=0..200x16 --size=m=%{m} --size=k=%{k} --size=n=%{n} | FileCheck %s
// REDEFINE: %{m} = 37
// REDEFINE: %{k} = 131
// REDEFINE: %{n} = 23
// RUN: %{run}
// REDEFINE: %{m} = 1
// REDEFINE: %{k} = 1
// REDEFINE: %{n} = 1
// RUN: %{run}
// REDEFINE: %{m} = 33
// REDEFINE: %{k} = 6000
// REDEFINE: %{n} = 90
// RUN: %{run}
// REDEFINE: %{k} = 0
// RUN: %{run}
// REDEFINE: %{m} = 0
// REDEFINE: %{k} = 4
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// RUN: mkdir -p %t
// RUN: env INLAY_DEVICE_TIMEOUT=600 inlay-run %s --require-device --dump-dir=%t --input-shape=a:m=1..200xk=1..6000 \
// RUN:   --input-shape=b:k=1..6000xn=1..90 --input-shape=x:m=1..200x5x13x13 --input-shape=y:m=1..200x16 --size=m=1 \
// RUN:   --size=k=1 --size=n=1
// RUN: FileCheck %s --check-prefix=BLOCKS --input-file=%t/04-convert.mlir

// Kernels of subgroups alone require the size of a subgroup.
// BLOCKS: plan.kernel
// BLOCKS-NOT: subgroup-size

// Products of which workgroups compute blocks: sizes that are known only at a call, sums in several parts, a batch, an
// initial value, a convolution with a bias, and weights in both orders. The costs keep subgroups from computing the
// products alone.
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast"], kind = "discrete",
    max_workgroup_invocations = 256, max_workgroup_memory = 32768,
    tuning = {load = 1000.0, quad = 1000.0, subgroups = 1.0}>, #inlay.host]} {
func.func public @forward(%a: tensor<?x?xf32> loc("a"), %b: tensor<?x?xf32> loc("b"), %x: tensor<?x5x13x13xf32> loc("x"),
    %y: tensor<?x16xf32> loc("y"), %k: tensor<12x5x3x3xf32> loc("k"), %bias: tensor<12xf32> loc("bias"),
    %w: tensor<40x16xf32> loc("w"), %v: tensor<40xf32> loc("v"), %c: tensor<3x20x2500xf32> loc("c"),
    %d: tensor<3x2500x12xf32> loc("d")) -> (tensor<?x?xf32>, tensor<?x12x11x11xf32>, tensor<?x40xf32>, tensor<3x20x12xf32>) {
  %0 = inlay.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = inlay.conv %x, %k, %bias stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<?x5x13x13xf32>,
    tensor<12x5x3x3xf32>, tensor<12xf32>) -> tensor<?x12x11x11xf32>
  %2 = inlay.linear %y, %w, %v : (tensor<?x16xf32>, tensor<40x16xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %3 = inlay.matmul %c, %d : (tensor<3x20x2500xf32>, tensor<3x2500x12xf32>) -> tensor<3x20x12xf32>
  return %0, %1, %2, %3 : tensor<?x?xf32>, tensor<?x12x11x11xf32>, tensor<?x40xf32>, tensor<3x20x12xf32>
}
}
