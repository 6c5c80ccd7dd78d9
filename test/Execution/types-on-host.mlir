// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-device --report=%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t

// Ops without a device function run on the host, and the verdict names the function.

// CHECK: result 0: bool[2x2] = 1 0 0 1
// CHECK: result 1: float32[2] = 1.5 -2
// CHECK: result 2: float64[2] = 0.5 0.5

// REPORT: "label": "inlay.softmax#6"
// REPORT: "target": "host"
// REPORT: "code": "unsupported-type"
// REPORT-NEXT: "text": "vulkan has no math.exp of f64"
// REPORT: "label": "inlay.cast#3"
// REPORT: "target": "vulkan"

func.func public @forward() -> (tensor<2x2xi1>, tensor<2xf32>, tensor<2xf64>) {
  %b = inlay.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %p = inlay.permute %b dims [1, 0] : (tensor<2x2xi1>) -> tensor<2x2xi1>
  %f = inlay.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %n = inlay.cast %f to bf16 : (tensor<2xf32>) -> tensor<2xbf16>
  %w = inlay.cast %n to f32 : (tensor<2xbf16>) -> tensor<2xf32>
  %d = inlay.constant dense<700.0> : tensor<2xf64>
  %s = inlay.softmax %d dim 0 : (tensor<2xf64>) -> tensor<2xf64>
  return %p, %w, %s : tensor<2x2xi1>, tensor<2xf32>, tensor<2xf64>
}
