// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: 0.0e+00, 0.0e+00 of the largest element

// Integers of each width that device buffers may have, and casts from them.

func.func public @forward(%arg0: tensor<3x5xi8>, %arg1: tensor<5xi8>, %arg2: tensor<3x5xi16>, %arg3: tensor<5xi16>,
    %arg4: tensor<3x5xi32>, %arg5: tensor<5xi32>, %arg6: tensor<3x5xi64>, %arg7: tensor<5xi64>) -> (tensor<3x5xi8>,
    tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>,
    tensor<5xi8>, tensor<3xi8>, tensor<3x3xi8>, tensor<6x5xi8>, tensor<3x2xi8>, tensor<3x5xi16>, tensor<3x5xi16>,
    tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>,
    tensor<5xi16>, tensor<3xi16>, tensor<3x3xi16>, tensor<6x5xi16>, tensor<3x2xi16>, tensor<3x5xi32>,
    tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>,
    tensor<3x5xi32>, tensor<5xi32>, tensor<3xi32>, tensor<3x3xi32>, tensor<6x5xi32>, tensor<3x2xi32>,
    tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>,
    tensor<3x5xi64>, tensor<3x5xi64>, tensor<5xi64>, tensor<3xi64>, tensor<3x3xi64>, tensor<6x5xi64>,
    tensor<3x2xi64>, tensor<3x5xi16>, tensor<3x5xi32>, tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi32>,
    tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi16>,
    tensor<3x5xi32>) {
  %0 = inlay.add %arg0, %arg1 : (tensor<3x5xi8>, tensor<5xi8>) -> tensor<3x5xi8>
  %1 = inlay.sub %arg0, %arg1 : (tensor<3x5xi8>, tensor<5xi8>) -> tensor<3x5xi8>
  %2 = inlay.mul %arg0, %arg1 : (tensor<3x5xi8>, tensor<5xi8>) -> tensor<3x5xi8>
  %3 = inlay.maximum %arg0, %arg1 : (tensor<3x5xi8>, tensor<5xi8>) -> tensor<3x5xi8>
  %4 = inlay.minimum %arg0, %arg1 : (tensor<3x5xi8>, tensor<5xi8>) -> tensor<3x5xi8>
  %5 = inlay.abs %arg0 : (tensor<3x5xi8>) -> tensor<3x5xi8>
  %6 = inlay.neg %arg0 : (tensor<3x5xi8>) -> tensor<3x5xi8>
  %7 = inlay.relu %arg0 : (tensor<3x5xi8>) -> tensor<3x5xi8>
  %8 = inlay.sum %arg0 dims [0] : (tensor<3x5xi8>) -> tensor<5xi8>
  %9 = inlay.amax %arg0 dims [1] : (tensor<3x5xi8>) -> tensor<3xi8>
  %10 = inlay.permute %arg0 dims [1, 0] : (tensor<3x5xi8>) -> tensor<5x3xi8>
  %11 = inlay.matmul %arg0, %10 : (tensor<3x5xi8>, tensor<5x3xi8>) -> tensor<3x3xi8>
  %12 = inlay.cat %arg0, %arg0 dim 0 : (tensor<3x5xi8>, tensor<3x5xi8>) -> tensor<6x5xi8>
  %13 = inlay.slice %arg0 dim 1 start 1 end 5 step 2 : (tensor<3x5xi8>) -> tensor<3x2xi8>
  %14 = inlay.add %arg2, %arg3 : (tensor<3x5xi16>, tensor<5xi16>) -> tensor<3x5xi16>
  %15 = inlay.sub %arg2, %arg3 : (tensor<3x5xi16>, tensor<5xi16>) -> tensor<3x5xi16>
  %16 = inlay.mul %arg2, %arg3 : (tensor<3x5xi16>, tensor<5xi16>) -> tensor<3x5xi16>
  %17 = inlay.maximum %arg2, %arg3 : (tensor<3x5xi16>, tensor<5xi16>) -> tensor<3x5xi16>
  %18 = inlay.minimum %arg2, %arg3 : (tensor<3x5xi16>, tensor<5xi16>) -> tensor<3x5xi16>
  %19 = inlay.abs %arg2 : (tensor<3x5xi16>) -> tensor<3x5xi16>
  %20 = inlay.neg %arg2 : (tensor<3x5xi16>) -> tensor<3x5xi16>
  %21 = inlay.relu %arg2 : (tensor<3x5xi16>) -> tensor<3x5xi16>
  %22 = inlay.sum %arg2 dims [0] : (tensor<3x5xi16>) -> tensor<5xi16>
  %23 = inlay.amax %arg2 dims [1] : (tensor<3x5xi16>) -> tensor<3xi16>
  %24 = inlay.permute %arg2 dims [1, 0] : (tensor<3x5xi16>) -> tensor<5x3xi16>
  %25 = inlay.matmul %arg2, %24 : (tensor<3x5xi16>, tensor<5x3xi16>) -> tensor<3x3xi16>
  %26 = inlay.cat %arg2, %arg2 dim 0 : (tensor<3x5xi16>, tensor<3x5xi16>) -> tensor<6x5xi16>
  %27 = inlay.slice %arg2 dim 1 start 1 end 5 step 2 : (tensor<3x5xi16>) -> tensor<3x2xi16>
  %28 = inlay.add %arg4, %arg5 : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3x5xi32>
  %29 = inlay.sub %arg4, %arg5 : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3x5xi32>
  %30 = inlay.mul %arg4, %arg5 : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3x5xi32>
  %31 = inlay.maximum %arg4, %arg5 : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3x5xi32>
  %32 = inlay.minimum %arg4, %arg5 : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3x5xi32>
  %33 = inlay.abs %arg4 : (tensor<3x5xi32>) -> tensor<3x5xi32>
  %34 = inlay.neg %arg4 : (tensor<3x5xi32>) -> tensor<3x5xi32>
  %35 = inlay.relu %arg4 : (tensor<3x5xi32>) -> tensor<3x5xi32>
  %36 = inlay.sum %arg4 dims [0] : (tensor<3x5xi32>) -> tensor<5xi32>
  %37 = inlay.amax %arg4 dims [1] : (tensor<3x5xi32>) -> tensor<3xi32>
  %38 = inlay.permute %arg4 dims [1, 0] : (tensor<3x5xi32>) -> tensor<5x3xi32>
  %39 = inlay.matmul %arg4, %38 : (tensor<3x5xi32>, tensor<5x3xi32>) -> tensor<3x3xi32>
  %40 = inlay.cat %arg4, %arg4 dim 0 : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<6x5xi32>
  %41 = inlay.slice %arg4 dim 1 start 1 end 5 step 2 : (tensor<3x5xi32>) -> tensor<3x2xi32>
  %42 = inlay.add %arg6, %arg7 : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3x5xi64>
  %43 = inlay.sub %arg6, %arg7 : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3x5xi64>
  %44 = inlay.mul %arg6, %arg7 : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3x5xi64>
  %45 = inlay.maximum %arg6, %arg7 : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3x5xi64>
  %46 = inlay.minimum %arg6, %arg7 : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3x5xi64>
  %47 = inlay.abs %arg6 : (tensor<3x5xi64>) -> tensor<3x5xi64>
  %48 = inlay.neg %arg6 : (tensor<3x5xi64>) -> tensor<3x5xi64>
  %49 = inlay.relu %arg6 : (tensor<3x5xi64>) -> tensor<3x5xi64>
  %50 = inlay.sum %arg6 dims [0] : (tensor<3x5xi64>) -> tensor<5xi64>
  %51 = inlay.amax %arg6 dims [1] : (tensor<3x5xi64>) -> tensor<3xi64>
  %52 = inlay.permute %arg6 dims [1, 0] : (tensor<3x5xi64>) -> tensor<5x3xi64>
  %53 = inlay.matmul %arg6, %52 : (tensor<3x5xi64>, tensor<5x3xi64>) -> tensor<3x3xi64>
  %54 = inlay.cat %arg6, %arg6 dim 0 : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<6x5xi64>
  %55 = inlay.slice %arg6 dim 1 start 1 end 5 step 2 : (tensor<3x5xi64>) -> tensor<3x2xi64>
  %56 = inlay.cast %arg0 to i16 : (tensor<3x5xi8>) -> tensor<3x5xi16>
  %57 = inlay.cast %arg0 to i32 : (tensor<3x5xi8>) -> tensor<3x5xi32>
  %58 = inlay.cast %arg0 to i64 : (tensor<3x5xi8>) -> tensor<3x5xi64>
  %59 = inlay.cast %arg2 to i8 : (tensor<3x5xi16>) -> tensor<3x5xi8>
  %60 = inlay.cast %arg2 to i32 : (tensor<3x5xi16>) -> tensor<3x5xi32>
  %61 = inlay.cast %arg2 to i64 : (tensor<3x5xi16>) -> tensor<3x5xi64>
  %62 = inlay.cast %arg4 to i8 : (tensor<3x5xi32>) -> tensor<3x5xi8>
  %63 = inlay.cast %arg4 to i16 : (tensor<3x5xi32>) -> tensor<3x5xi16>
  %64 = inlay.cast %arg4 to i64 : (tensor<3x5xi32>) -> tensor<3x5xi64>
  %65 = inlay.cast %arg6 to i8 : (tensor<3x5xi64>) -> tensor<3x5xi8>
  %66 = inlay.cast %arg6 to i16 : (tensor<3x5xi64>) -> tensor<3x5xi16>
  %67 = inlay.cast %arg6 to i32 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,
    %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %39, %40, %41, %42, %43, %44, %45, %46, %47,
    %48, %49, %50, %51, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67 : tensor<3x5xi8>,
    tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>, tensor<3x5xi8>,
    tensor<5xi8>, tensor<3xi8>, tensor<3x3xi8>, tensor<6x5xi8>, tensor<3x2xi8>, tensor<3x5xi16>, tensor<3x5xi16>,
    tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>, tensor<3x5xi16>,
    tensor<5xi16>, tensor<3xi16>, tensor<3x3xi16>, tensor<6x5xi16>, tensor<3x2xi16>, tensor<3x5xi32>,
    tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>,
    tensor<3x5xi32>, tensor<5xi32>, tensor<3xi32>, tensor<3x3xi32>, tensor<6x5xi32>, tensor<3x2xi32>,
    tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>, tensor<3x5xi64>,
    tensor<3x5xi64>, tensor<3x5xi64>, tensor<5xi64>, tensor<3xi64>, tensor<3x3xi64>, tensor<6x5xi64>,
    tensor<3x2xi64>, tensor<3x5xi16>, tensor<3x5xi32>, tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi32>,
    tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi64>, tensor<3x5xi8>, tensor<3x5xi16>, tensor<3x5xi32>
}
