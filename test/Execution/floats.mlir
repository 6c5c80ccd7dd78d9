// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[4-9]|[1-9][0-9]))}} of the largest element

// Half and double precision. Both sides accumulate sums of halves in single precision.

func.func public @forward(%arg0: tensor<3x5xf16>, %arg1: tensor<5xf16>, %arg2: tensor<4x5xf16>, %arg3: tensor<4xf16>,
    %arg4: tensor<1x2x5x5xf16>, %arg5: tensor<3x2x3x3xf16>, %arg6: tensor<3xf16>, %arg7: tensor<3x5xf64>,
    %arg8: tensor<5xf64>, %arg9: tensor<4x5xf64>, %arg10: tensor<4xf64>, %arg11: tensor<1x2x5x5xf64>,
    %arg12: tensor<3x2x3x3xf64>, %arg13: tensor<3xf64>) -> (tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>,
    tensor<3x5xf16>, tensor<3x3xf16>, tensor<3x4xf16>, tensor<1x3x5x5xf16>, tensor<1x2x3x3xf16>, tensor<1x2x3x3xf16>,
    tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>,
    tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>,
    tensor<3x5xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<3x4xf64>,
    tensor<1x3x5x5xf64>, tensor<1x2x3x3xf64>, tensor<1x2x3x3xf64>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf32>, tensor<3x5xf64>,
    tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi32>, tensor<3x5xi64>, tensor<3x5xf16>, tensor<3x5xf32>,
    tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi32>, tensor<3x5xi64>) {
  %0 = inlay.add %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %1 = inlay.sub %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %2 = inlay.mul %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %3 = inlay.div %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %4 = inlay.maximum %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %5 = inlay.minimum %arg0, %arg1 : (tensor<3x5xf16>, tensor<5xf16>) -> tensor<3x5xf16>
  %6 = inlay.abs %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %7 = inlay.neg %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %8 = inlay.relu %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %9 = inlay.floor %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %10 = inlay.ceil %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %11 = inlay.abs %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %12 = inlay.sqrt %11 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %13 = inlay.rsqrt %11 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %14 = inlay.sum %arg0 dims [1] : (tensor<3x5xf16>) -> tensor<3xf16>
  %15 = inlay.mean %arg0 dims [1] : (tensor<3x5xf16>) -> tensor<3xf16>
  %16 = inlay.amax %arg0 dims [1] : (tensor<3x5xf16>) -> tensor<3xf16>
  %17 = inlay.layer_norm %arg0, %arg1, %arg1 eps 1.0e-05 : (tensor<3x5xf16>, tensor<5xf16>,
    tensor<5xf16>) -> tensor<3x5xf16>
  %18 = inlay.permute %arg0 dims [1, 0] : (tensor<3x5xf16>) -> tensor<5x3xf16>
  %19 = inlay.matmul %arg0, %18 : (tensor<3x5xf16>, tensor<5x3xf16>) -> tensor<3x3xf16>
  %20 = inlay.linear %arg0, %arg2, %arg3 : (tensor<3x5xf16>, tensor<4x5xf16>, tensor<4xf16>) -> tensor<3x4xf16>
  %21 = inlay.conv %arg4, %arg5, %arg6 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<1x2x5x5xf16>,
    tensor<3x2x3x3xf16>, tensor<3xf16>) -> tensor<1x3x5x5xf16>
  %22 = inlay.max_pool %arg4 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1,
    1] : (tensor<1x2x5x5xf16>) -> tensor<1x2x3x3xf16>
  %23 = inlay.avg_pool %arg4 kernel [3, 3] stride [2, 2] padding [1, 1] : (tensor<1x2x5x5xf16>) -> tensor<1x2x3x3xf16>
  %24 = inlay.add %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %25 = inlay.sub %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %26 = inlay.mul %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %27 = inlay.div %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %28 = inlay.maximum %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %29 = inlay.minimum %arg7, %arg8 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3x5xf64>
  %30 = inlay.abs %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %31 = inlay.neg %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %32 = inlay.relu %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %33 = inlay.floor %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %34 = inlay.ceil %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %35 = inlay.abs %arg7 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %36 = inlay.sqrt %35 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %37 = inlay.rsqrt %35 : (tensor<3x5xf64>) -> tensor<3x5xf64>
  %38 = inlay.sum %arg7 dims [1] : (tensor<3x5xf64>) -> tensor<3xf64>
  %39 = inlay.mean %arg7 dims [1] : (tensor<3x5xf64>) -> tensor<3xf64>
  %40 = inlay.amax %arg7 dims [1] : (tensor<3x5xf64>) -> tensor<3xf64>
  %41 = inlay.layer_norm %arg7, %arg8, %arg8 eps 1.0e-05 : (tensor<3x5xf64>, tensor<5xf64>,
    tensor<5xf64>) -> tensor<3x5xf64>
  %42 = inlay.permute %arg7 dims [1, 0] : (tensor<3x5xf64>) -> tensor<5x3xf64>
  %43 = inlay.matmul %arg7, %42 : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<3x3xf64>
  %44 = inlay.linear %arg7, %arg9, %arg10 : (tensor<3x5xf64>, tensor<4x5xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  %45 = inlay.conv %arg11, %arg12, %arg13 stride [1, 1] padding [1, 1] dilation [1,
    1] groups 1 : (tensor<1x2x5x5xf64>, tensor<3x2x3x3xf64>, tensor<3xf64>) -> tensor<1x3x5x5xf64>
  %46 = inlay.max_pool %arg11 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1,
    1] : (tensor<1x2x5x5xf64>) -> tensor<1x2x3x3xf64>
  %47 = inlay.avg_pool %arg11 kernel [3, 3] stride [2, 2] padding [1, 1] : (tensor<1x2x5x5xf64>) -> tensor<1x2x3x3xf64>
  %48 = inlay.exp %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %49 = inlay.tanh %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %50 = inlay.gelu %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %51 = inlay.sigmoid %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %52 = inlay.silu %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %53 = inlay.erf %arg0 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %54 = inlay.softmax %arg0 dim 1 : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %55 = inlay.cast %arg0 to f32 : (tensor<3x5xf16>) -> tensor<3x5xf32>
  %56 = inlay.cast %arg0 to f64 : (tensor<3x5xf16>) -> tensor<3x5xf64>
  %57 = inlay.cast %arg0 to i8 : (tensor<3x5xf16>) -> tensor<3x5xi8>
  %58 = inlay.cast %arg0 to i16 : (tensor<3x5xf16>) -> tensor<3x5xi16>
  %59 = inlay.cast %arg0 to i32 : (tensor<3x5xf16>) -> tensor<3x5xi32>
  %60 = inlay.cast %arg0 to i64 : (tensor<3x5xf16>) -> tensor<3x5xi64>
  %61 = inlay.cast %arg7 to f16 : (tensor<3x5xf64>) -> tensor<3x5xf16>
  %62 = inlay.cast %arg7 to f32 : (tensor<3x5xf64>) -> tensor<3x5xf32>
  %63 = inlay.cast %arg7 to i8 : (tensor<3x5xf64>) -> tensor<3x5xi8>
  %64 = inlay.cast %arg7 to i16 : (tensor<3x5xf64>) -> tensor<3x5xi16>
  %65 = inlay.cast %arg7 to i32 : (tensor<3x5xf64>) -> tensor<3x5xi32>
  %66 = inlay.cast %arg7 to i64 : (tensor<3x5xf64>) -> tensor<3x5xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %12, %13, %14, %15, %16, %17, %19, %20, %21, %22, %23, %24,
    %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %36, %37, %38, %39, %40, %41, %43, %44, %45, %46, %47, %48,
    %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66 : tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3x5xf16>, tensor<3x3xf16>, tensor<3x4xf16>,
    tensor<1x3x5x5xf16>, tensor<1x2x3x3xf16>, tensor<1x2x3x3xf16>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>,
    tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>,
    tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>,
    tensor<3x5xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<1x3x5x5xf64>, tensor<1x2x3x3xf64>, tensor<1x2x3x3xf64>,
    tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>,
    tensor<3x5xf16>, tensor<3x5xf32>, tensor<3x5xf64>, tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi32>,
    tensor<3x5xi64>, tensor<3x5xf16>, tensor<3x5xf32>, tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi32>, tensor<3x5xi64>
}
