// REQUIRES: vulkan
// DEFINE: %{run} = inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare \
// DEFINE:   --input-shape=a:20xk=0..300 --input-shape=b:k=0..300x12
// RUN: %{run} --size=k=0 | FileCheck %s --check-prefixes=EMPTY,CHECK
// RUN: %{run} --size=k=7 | FileCheck %s
// The loops of sums without terms have no iteration. Their results are the initial values.
// EMPTY: result 0: float32[20x12] = 0 0 0 0 0 0 0 0
// EMPTY: result 1: float32[20] = 0 0 0 0 0 0 0 0
// EMPTY: result 2: float32[20] = 1 1 1 1 1 1 1 1
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

func.func public @forward(%a: tensor<20x?xf32> loc("a"), %b: tensor<?x12xf32> loc("b"))
    -> (tensor<20x12xf32>, tensor<20xf32>, tensor<20xf32>) {
  %0 = inlay.matmul %a, %b : (tensor<20x?xf32>, tensor<?x12xf32>) -> tensor<20x12xf32>
  %1 = inlay.sum %a dims [1] : (tensor<20x?xf32>) -> tensor<20xf32>
  %2 = inlay.prod %a dims [1] : (tensor<20x?xf32>) -> tensor<20xf32>
  return %0, %1, %2 : tensor<20x12xf32>, tensor<20xf32>, tensor<20xf32>
}
