// REQUIRES: vulkan
// DEFINE: %{m} =
// DEFINE: %{k} =
// DEFINE: %{n} =
// DEFINE: %{s} =
// DEFINE: %{run} = inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare \
// DEFINE:   --input-shape=a:m=1..200xk=1..300 --input-shape=b:k=1..300xn=1..90 --input-shape=x:s=1..4x5x13x13 \
// DEFINE:   --size=m=%{m} --size=k=%{k} --size=n=%{n} --size=s=%{s} | FileCheck %s
// REDEFINE: %{m} = 37
// REDEFINE: %{k} = 131
// REDEFINE: %{n} = 23
// REDEFINE: %{s} = 3
// RUN: %{run}
// REDEFINE: %{m} = 1
// REDEFINE: %{k} = 1
// REDEFINE: %{n} = 1
// REDEFINE: %{s} = 1
// RUN: %{run}
// REDEFINE: %{m} = 200
// REDEFINE: %{k} = 300
// REDEFINE: %{n} = 90
// REDEFINE: %{s} = 4
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Products with sizes that are known only at a call: rows, columns, the sum, and the batch of a convolution.

func.func public @forward(%a: tensor<?x?xf32> loc("a"), %b: tensor<?x?xf32> loc("b"), %x: tensor<?x5x13x13xf32> loc("x"),
    %k: tensor<7x5x3x3xf32> loc("k")) -> (tensor<?x?xf32>, tensor<?x7x11x11xf32>) {
  %0 = inlay.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = inlay.conv %x, %k stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : (tensor<?x5x13x13xf32>,
      tensor<7x5x3x3xf32>) -> tensor<?x7x11x11xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x7x11x11xf32>
}
