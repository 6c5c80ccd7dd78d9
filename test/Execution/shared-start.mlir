// Two sums start from equal fills, and both are results: they must not share memory.
// RUN: inlay-run %s --targets=host --output=%t.npz
// RUN: %python -c "import numpy, sys; a = numpy.load(sys.argv[1]); assert not (a['result_0'] == a['result_1']).all()" %t.npz
// RUN: inlay-run %s --targets=host --seed=3 | FileCheck %s

func.func public @forward(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: result 0: float32[4] = [[SUM:.*]]
  // CHECK-NOT: result 1: float32[4] = [[SUM]]
  %0 = inlay.sum %x dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
  %1 = inlay.mul %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = inlay.sum %1 dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}
