// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

func.func public @forward(%arg0: tensor<2x5x33xf32>, %arg1: tensor<1xf32>, %arg2: tensor<3x1000xf32>,
    %arg3: tensor<33xf32>, %arg4: tensor<33xf32>, %arg5: tensor<5x33xf32>, %arg6: tensor<5x33xf32>,
    %arg7: tensor<5xf32>, %arg8: tensor<5xf32>, %arg9: tensor<5xf32>, %arg10: tensor<5xf32>) -> (tensor<2x5x33xf32>,
    tensor<2x5x33xf32>, tensor<2x5x33xf32>, tensor<1xf32>, tensor<3x1000xf32>, tensor<2x5x33xf32>,
    tensor<2x5x33xf32>, tensor<2x5x33xf32>) {
  %0 = inlay.softmax %arg0 dim 0 : (tensor<2x5x33xf32>) -> tensor<2x5x33xf32>
  %1 = inlay.softmax %arg0 dim 1 : (tensor<2x5x33xf32>) -> tensor<2x5x33xf32>
  %2 = inlay.softmax %arg0 dim -1 : (tensor<2x5x33xf32>) -> tensor<2x5x33xf32>
  %3 = inlay.softmax %arg1 dim 0 : (tensor<1xf32>) -> tensor<1xf32>
  %4 = inlay.softmax %arg2 dim 1 : (tensor<3x1000xf32>) -> tensor<3x1000xf32>
  %5 = inlay.layer_norm %arg0, %arg3, %arg4 eps 1.0e-05 : (tensor<2x5x33xf32>, tensor<33xf32>,
    tensor<33xf32>) -> tensor<2x5x33xf32>
  %6 = inlay.layer_norm %arg0, %arg5, %arg6 eps 0.001 : (tensor<2x5x33xf32>, tensor<5x33xf32>,
    tensor<5x33xf32>) -> tensor<2x5x33xf32>
  %7 = inlay.abs %arg7 : (tensor<5xf32>) -> tensor<5xf32>
  %8 = inlay.batch_norm %arg0, %arg8, %arg9, %arg10, %7 eps 0.01 : (tensor<2x5x33xf32>, tensor<5xf32>, tensor<5xf32>,
    tensor<5xf32>, tensor<5xf32>) -> tensor<2x5x33xf32>
  return %0, %1, %2, %3, %4, %5, %6, %8 : tensor<2x5x33xf32>, tensor<2x5x33xf32>, tensor<2x5x33xf32>, tensor<1xf32>,
    tensor<3x1000xf32>, tensor<2x5x33xf32>, tensor<2x5x33xf32>, tensor<2x5x33xf32>
}
