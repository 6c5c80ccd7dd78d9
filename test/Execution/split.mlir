// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare --fallback-ops=inlay.relu | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare --fallback-ops=inlay.relu --strategy=in-order \
// RUN: | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare --fallback-ops=inlay.add,inlay.conv \
// RUN: | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare --fallback-ops=inlay.exp --min-block-size=3 \
// RUN: | FileCheck %s
// RUN: inlay-run %s --targets=host --compare | FileCheck %s --check-prefix=SAME

// A graph computes the same no matter how it is split and what it returns: arguments, constants, a value twice, values
// with further users.

// CHECK: result 0: float32[3] = 1 2 3
// CHECK: result 1: float32[1x4x6x6] = [[X:.*]]
// CHECK: result 2: float32[1x4x6x6] = [[R:.*]]
// CHECK: result 3: float32[1x4x6x6] = [[R]]
// CHECK: result 5: float32[1x4x6x6] = [[X]]
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element
// SAME:  largest difference to the host alone: 0.0e+00, 0.0e+00 of the largest element

func.func public @forward(%x: tensor<1x4x6x6xf32>, %unused: tensor<9xf32>, %w: tensor<4x4x3x3xf32>)
    -> (tensor<3xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<4xf32>,
        tensor<1x4x6x6xf32>) {
  %c = inlay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = inlay.constant dense<[0.5, -0.5, 0.25, -0.25]> : tensor<4xf32>
  %0 = inlay.conv %x, %w, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = inlay.relu %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = inlay.add %1, %x : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = inlay.conv %2, %w, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %4 = inlay.relu %3 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %nobody = inlay.exp %4 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %5 = inlay.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  return %c, %x, %1, %1, %5, %x : tensor<3xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>,
    tensor<4xf32>, tensor<1x4x6x6xf32>
}
