// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device | FileCheck %s
// RUN: inlay-run %s --targets=host | FileCheck %s

// NaN, infinities and intermediate overflow give the same results on each target.

func.func public @forward() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
    tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1x1x2x2xf32>,
    tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %x = inlay.constant dense<[0x7FC00000, 0xFF800000, 0x7F800000, -200.0, 200.0, -3.0e38, 3.0e38, 0.0]> : tensor<8xf32>
  // CHECK:      result 0: float32[8] = nan 0 inf 0 200 0 3e+38 0
  %relu = inlay.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 1: float32[8] = nan 0 inf 0 inf 0 inf 1
  %exp = inlay.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 2: float32[8] = nan -1 1 -1 1 -1 1 0
  %tanh = inlay.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 3: float32[8] = nan 0 1 0 1 0 1 0.5
  %sigmoid = inlay.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 4: float32[8] = nan -1 1 -1 1 -1 1 0
  %erf = inlay.erf %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 5: float32[8] = nan -inf inf -200 200 -3e+38 3e+38 0
  %floor = inlay.floor %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 6: float32[8] = nan nan inf -0 200 -0 3e+38 0
  %gelu = inlay.gelu %x : (tensor<8xf32>) -> tensor<8xf32>
  %one = inlay.constant dense<1.0> : tensor<8xf32>
  // CHECK-NEXT: result 7: float32[8] = nan 1 inf 1 200 1 3e+38 1
  %maximum = inlay.maximum %one, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>

  // The maximum of each row is subtracted before the exponentials are computed.
  // CHECK-NEXT: result 8: float32[2x3] = 0.5 0.5 0 1 0 0
  %rows = inlay.constant dense<[[300.0, 300.0, -300.0], [-500.0, -3.0e38, 0xFF800000]]> : tensor<2x3xf32>
  %softmax = inlay.softmax %rows dim 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: result 9: float32[2] = 300 -500
  %amax = inlay.amax %rows dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK-NEXT: result 10: float32[2] = nan inf
  %nans = inlay.constant dense<[[1.0, 0x7FC00000, 3.0], [1.0, 0x7F800000, 0x7F800000]]> : tensor<2x3xf32>
  %nanmax = inlay.amax %nans dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK-NEXT: result 11: float32[1x1x2x2] = nan nan 5 4
  %image = inlay.constant dense<[[[[1.0, 0x7FC00000, 2.0], [0.0, 0.0, 0.0], [5.0, 4.0, 3.0]]]]> : tensor<1x1x3x3xf32>
  %pool = inlay.max_pool %image kernel [2, 2] stride [1, 1] padding [0, 0] dilation [1, 1]
    : (tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>

  // Results that the functions of devices leave undefined.
  // CHECK-NEXT: result 12: float32[8] = nan nan inf nan 5.29832 nan 88.596{{[78]}} -inf
  %log = inlay.log %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 13: float32[8] = nan nan inf nan 14.1421 nan 1.73205e+19 0
  %sqrt = inlay.sqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 14: float32[8] = nan nan 0 nan 0.0707107 nan 5.7735e-20 inf
  %rsqrt = inlay.rsqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: result 15: float32[8] = nan -1 inf -1 inf -1 inf 0
  %expm1 = inlay.expm1 %x : (tensor<8xf32>) -> tensor<8xf32>
  return %relu, %exp, %tanh, %sigmoid, %erf, %floor, %gelu, %maximum, %softmax, %amax, %nanmax, %pool, %log, %sqrt,
      %rsqrt, %expm1
    : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<8xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1x1x2x2xf32>,
      tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
