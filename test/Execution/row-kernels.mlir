// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --input-shape=x:n=1..200x130 \
// RUN:   --size=n=129 --compare | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-full-compilation --require-device --input-shape=x:n=1..200x130 \
// RUN:   --size=n=1 --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Rows whose number is known only at a call, and rows of odd sizes. Each is one kernel.

func.func public @forward(%x: tensor<?x130xf32> loc("x"), %y: tensor<3x129x7xf32> loc("y"), %w: tensor<7xf32> loc("w"),
    %z: tensor<5x1000xf32> loc("z")) -> (tensor<?x130xf32>, tensor<3x129x7xf32>, tensor<5x1000xf32>, tensor<5x1000xf32>,
    tensor<?x130xf32>) {
  %0 = inlay.softmax %x dim 1 : (tensor<?x130xf32>) -> tensor<?x130xf32>
  %1 = inlay.rms_norm %y, %w eps 1.0e-05 : (tensor<3x129x7xf32>, tensor<7xf32>) -> tensor<3x129x7xf32>
  %2 = inlay.softmax %z dim -1 : (tensor<5x1000xf32>) -> tensor<5x1000xf32>
  %3 = inlay.softmax %z dim -1 : (tensor<5x1000xf32>) -> tensor<5x1000xf32>
  %4 = inlay.flip %3 dims [1] : (tensor<5x1000xf32>) -> tensor<5x1000xf32>
  %5 = inlay.mul %x, %x : (tensor<?x130xf32>, tensor<?x130xf32>) -> tensor<?x130xf32>
  %6 = inlay.mean %5 dims [1] keepdim : (tensor<?x130xf32>) -> tensor<?x1xf32>
  %7 = inlay.rsqrt %6 : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %8 = inlay.mul %x, %7 : (tensor<?x130xf32>, tensor<?x1xf32>) -> tensor<?x130xf32>
  return %0, %1, %2, %4, %8 : tensor<?x130xf32>, tensor<3x129x7xf32>, tensor<5x1000xf32>, tensor<5x1000xf32>, tensor<?x130xf32>
}
