// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[5-9]|[1-9][0-9]))}} of the largest element

// Each pointwise op, and each binary op on shapes that broadcast.

func.func public @forward(%arg0: tensor<3x17xf32>, %arg1: tensor<5x1x17xf32>, %arg2: tensor<f32>,
    %arg3: tensor<3x1xf32>) -> (tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>) {
  %0 = inlay.abs %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %1 = inlay.ceil %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %2 = inlay.cos %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %3 = inlay.erf %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %4 = inlay.exp %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %5 = inlay.floor %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %6 = inlay.gelu %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %7 = inlay.log %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %8 = inlay.neg %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %9 = inlay.reciprocal %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %10 = inlay.relu %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %11 = inlay.rsqrt %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %12 = inlay.sigmoid %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %13 = inlay.silu %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %14 = inlay.sin %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %15 = inlay.sqrt %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %16 = inlay.tanh %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %17 = inlay.add %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %18 = inlay.add %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %19 = inlay.add %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %20 = inlay.sub %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %21 = inlay.sub %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %22 = inlay.sub %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %23 = inlay.mul %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %24 = inlay.mul %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %25 = inlay.mul %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %26 = inlay.div %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %27 = inlay.div %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %28 = inlay.div %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %29 = inlay.maximum %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %30 = inlay.maximum %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %31 = inlay.maximum %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %32 = inlay.minimum %arg0, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %33 = inlay.minimum %arg2, %arg0 : (tensor<f32>, tensor<3x17xf32>) -> tensor<3x17xf32>
  %34 = inlay.minimum %arg0, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  %35 = inlay.abs %arg0 : (tensor<3x17xf32>) -> tensor<3x17xf32>
  %36 = inlay.pow %35, %arg1 : (tensor<3x17xf32>, tensor<5x1x17xf32>) -> tensor<5x3x17xf32>
  %37 = inlay.pow %35, %arg3 : (tensor<3x17xf32>, tensor<3x1xf32>) -> tensor<3x17xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22,
    %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %36, %37 : tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>,
    tensor<5x3x17xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<5x3x17xf32>, tensor<3x17xf32>
}
