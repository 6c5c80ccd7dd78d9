// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device | FileCheck %s
// RUN: inlay-run %s --targets=host | FileCheck %s

// Ties of doubles round to even, large numbers stay, and zeros keep their signs. llvmpipe truncates doubles on processors
// without AVX-512.

func.func public @forward() -> (tensor<8xf64>, tensor<6xf64>) {
  // CHECK:      result 0: float64[8] = 0 2 2 -2 4 -0 nan -inf
  %x = inlay.constant dense<[0.5, 1.5, 2.5, -1.5, 3.5, -0.4, 0x7FF8000000000000, 0xFFF0000000000000]>
    : tensor<8xf64>
  %small = inlay.round %x : (tensor<8xf64>) -> tensor<8xf64>
  // CHECK-NEXT: result 1: float64[6] = 0 0 0 1 0 -0
  %large = inlay.constant dense<[100000000.5, 4503599627370494.5, 4503599627370495.5, 3000000001.4, 9007199254740994.0,
    -1.0e300]> : tensor<6xf64>
  %rounded = inlay.round %large : (tensor<6xf64>) -> tensor<6xf64>
  %two = inlay.constant dense<2.0> : tensor<6xf64>
  %odd = inlay.remainder %rounded, %two : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %small, %odd : tensor<8xf64>, tensor<6xf64>
}
