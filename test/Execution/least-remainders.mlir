// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device | FileCheck %s
// RUN: inlay-run %s --targets=host | FileCheck %s

// The minimum integer has no absolute value, so the signs of remainders must not be computed from absolute values.

func.func public @forward() -> (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi8>) {
  %x = inlay.constant dense<[-9223372036854775808, 7, -7]> : tensor<3xi64>
  %thousand = inlay.constant dense<1000> : tensor<i64>
  %seven = inlay.constant dense<7> : tensor<i64>
  %small = inlay.constant dense<[-128, 7, -7]> : tensor<3xi8>
  %three = inlay.constant dense<3> : tensor<i8>
  // CHECK:      result 0: int64[3] = 192 7 993
  %0 = inlay.remainder %x, %thousand : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  // CHECK-NEXT: result 1: int64[3] = -808 7 -7
  %1 = inlay.fmod %x, %thousand : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  // CHECK-NEXT: result 2: int64[3] = 6 0 0
  %2 = inlay.remainder %x, %seven : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  // CHECK-NEXT: result 3: int8[3] = -43 2 -3
  %3 = inlay.floor_div %small, %three : (tensor<3xi8>, tensor<i8>) -> tensor<3xi8>
  return %0, %1, %2, %3 : tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi8>
}
