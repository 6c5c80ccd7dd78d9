// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare | FileCheck %s
// RUN: inlay-run %s --targets=vulkan,host --require-device --compare --fallback-ops=inlay.add,inlay.mul | FileCheck %s
// RUN: inlay-run %s --targets=host --compare | FileCheck %s

// Conditionals in nested loops with captures, loops that never run, and loop-carried values that are swapped.

// CHECK: result 0: int64[] = 285
// CHECK: result 1: float32[3] = 1 1 1
// CHECK: result 2: float32[3] = 11 22 33
// CHECK: result 3: float32[3] = 2 2 2
// CHECK: result 4: float32[3] = 1 2 3
// CHECK: result 5: int64[] = 7
// CHECK: result 6: float32[3] = 48 96 144
// CHECK: largest difference to the host alone: 0.0e+00

func.func public @forward() -> (tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i64>,
                              tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = inlay.constant dense<0> : tensor<i64>
  %one = inlay.constant dense<1> : tensor<i64>
  %three = inlay.constant dense<3> : tensor<i64>
  %ones = inlay.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf32>
  %v = inlay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %two = inlay.constant dense<2.0> : tensor<f32>

  // The sum of squares below 10.
  %squares = scf.for %k = %c0 to %c10 step %c1 iter_args(%s = %zero) -> tensor<i64> {
    %k64 = arith.index_cast %k : index to i64
    %kt = tensor.from_elements %k64 : tensor<i64>
    %q = inlay.mul %kt, %kt : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %n = inlay.add %s, %q : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %n : tensor<i64>
  }

  // This loop never runs.
  %never = scf.for %k = %c10 to %c10 step %c1 iter_args(%s = %ones) -> tensor<3xf32> {
    %n = inlay.add %s, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  }

  // i = 0, 1, 2: doubled unless i is 1, then v is added three times: (v*2 + 3v)*2 = 10v.
  %loop:2 = scf.while (%i = %zero, %a = %v) : (tensor<i64>, tensor<3xf32>) -> (tensor<i64>, tensor<3xf32>) {
    %t = inlay.lt %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    scf.condition(%c) %i, %a : tensor<i64>, tensor<3xf32>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>):
    %t = inlay.eq %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    %b = scf.if %c -> tensor<3xf32> {
      %m = scf.for %k = %c0 to %c10 step %c1 iter_args(%s = %a) -> tensor<3xf32> {
        %k64 = arith.index_cast %k : index to i64
        %kt = tensor.from_elements %k64 : tensor<i64>
        %early = inlay.lt %kt, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %p = tensor.extract %early[] : tensor<i1>
        %n = scf.if %p -> tensor<3xf32> {
          %u = inlay.add %s, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          scf.yield %u : tensor<3xf32>
        } else {
          scf.yield %s : tensor<3xf32>
        }
        scf.yield %n : tensor<3xf32>
      }
      scf.yield %m : tensor<3xf32>
    } else {
      %u = inlay.mul %a, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      scf.yield %u : tensor<3xf32>
    }
    %j = inlay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %j, %b : tensor<i64>, tensor<3xf32>
  }
  %more = inlay.add %loop#1, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

  // The values are swapped ten times, so each ends in its original position.
  %both = inlay.mul %ones, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %swap:3 = scf.for %k = %c0 to %c10 step %c1 iter_args(%a = %both, %b = %v, %n = %zero)
      -> (tensor<3xf32>, tensor<3xf32>, tensor<i64>) {
    %k64 = arith.index_cast %k : index to i64
    %last = tensor.from_elements %k64 : tensor<i64>
    scf.yield %b, %a, %last : tensor<3xf32>, tensor<3xf32>, tensor<i64>
  }
  %minus = inlay.constant dense<-2> : tensor<i64>
  %seven = inlay.add %swap#2, %minus : (tensor<i64>, tensor<i64>) -> tensor<i64>

  // Each iteration of the outer loop restarts the inner loop: 3 * 8 * (v + v).
  %twice = inlay.add %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %zeros = inlay.constant dense<0.0> : tensor<3xf32>
  %c3 = arith.constant 3 : index
  %outer = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %zeros) -> tensor<3xf32> {
    %inner = scf.for %l = %c0 to %c3 step %c1 iter_args(%a = %twice) -> tensor<3xf32> {
      %d = inlay.add %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      scf.yield %d : tensor<3xf32>
    }
    %n = inlay.add %s, %inner : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  }
  return %squares, %never, %more, %swap#0, %swap#1, %seven, %outer
    : tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i64>, tensor<3xf32>
}
