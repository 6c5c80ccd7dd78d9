// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-device --report=%t --compare | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t

// Reductions with more steps than a driver may run in one invocation, and with a prime number of steps, run on the
// host. All loops of a kernel count, so 300 rows of 300 are as many steps as one row of 90000; they are split.

// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element
// REPORT: "label": "inlay.sum#0"
// REPORT: "target": "host"
// REPORT: "code": "unsupported-shape"
// REPORT: "label": "inlay.matmul#2"
// REPORT: "code": "unsupported-shape"
// REPORT: "label": "inlay.amax#1"
// REPORT: "target": "vulkan"
// REPORT: "label": "inlay.relu#3"
// REPORT: "target": "vulkan"

func.func public @forward(%x: tensor<65537xf32>, %y: tensor<300x300xf32>, %a: tensor<1x70001xf32>, %b: tensor<70001x1xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<1x1xf32>) {
  %0 = inlay.sum %x dims [0] : (tensor<65537xf32>) -> tensor<f32>
  %1 = inlay.amax %y dims [0, 1] : (tensor<300x300xf32>) -> tensor<f32>
  %2 = inlay.matmul %a, %b : (tensor<1x70001xf32>, tensor<70001x1xf32>) -> tensor<1x1xf32>
  %3 = inlay.relu %2 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0, %1, %3 : tensor<f32>, tensor<f32>, tensor<1x1xf32>
}
