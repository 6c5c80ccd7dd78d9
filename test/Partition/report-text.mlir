// Each segment with its graph: values are named after the labels of their makers, and regions are below their owner.
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report=format=text -o /dev/null | FileCheck %s --strict-whitespace --match-full-lines
// RUN: inlay-opt %s --inlay-partition=report=%t.txt -o /dev/null && FileCheck %s --strict-whitespace --match-full-lines < %t.txt
// RUN: inlay-opt %s -o /dev/null --inlay-partition-report=format=text | FileCheck %s --check-prefix=NONE

//      CHECK:@forward: 8 ops in 5 segments
// CHECK-EMPTY:
// CHECK-NEXT:Segment Block @0:
// CHECK-NEXT:    Target: npu
// CHECK-NEXT:    Graph: graph(%x : tensor<4x4xf32>):
// CHECK-NEXT:        %layers.0.w : tensor<4x4xf32> = inlay.constant[value=@w]()
// CHECK-NEXT:        %constant : tensor<2xi64> = arith.constant[value=dense<[0, 1]>]()
// CHECK-NEXT:        %linear_2 : tensor<4x4xf32> = inlay.linear(%x, %layers.0.w)
// CHECK-NEXT:        %l : !inlay.list<tensor<4x4xf32>> = prim::ListConstruct(%x, %linear_2)  # clone
// CHECK-NEXT:        %a_b : tensor<4x4xf32> = aten::cat(%l, %constant)
// CHECK-NEXT:        %p : tensor<4x4xf32> = own[alpha=2, long="{{y+}}...](%a_b)
// CHECK-NEXT:        return (%linear_2, %p)
// CHECK-EMPTY:
// CHECK-NEXT:Segment Block @1:
// CHECK-NEXT:    Target: host
// CHECK-NEXT:    Graph: graph(%x : tensor<4x4xf32>, %linear_2 : tensor<4x4xf32>, %p : tensor<4x4xf32>):
// CHECK-NEXT:        %l : !inlay.list<tensor<4x4xf32>> = prim::ListConstruct(%x, %linear_2)  # non-tensor
// CHECK-NEXT:        %a_b_1 : tensor<4x4xf32>, %a_b_1#1 : tensor<?xf32> = g(%l, %p)  # no-converter
// CHECK-NEXT:        return (%a_b_1, %a_b_1#1)
// CHECK-EMPTY:
// CHECK-NEXT:Segment Block @2:
// CHECK-NEXT:    Target: host
// CHECK-NEXT:    Not merged with its neighbors
// CHECK-NEXT:    Graph: graph(%arg1 : i1, %a_b_1#1 : tensor<?xf32>):
// CHECK-NEXT:        %if : tensor<?xf32> = scf.if(%arg1)  # control-flow
// CHECK-NEXT:            region 0:
// CHECK-NEXT:                Segment Block @3:
// CHECK-NEXT:                    Target: npu
// CHECK-NEXT:                    Graph: graph(%a_b_1#1 : tensor<?xf32>):
// CHECK-NEXT:                        %t : tensor<?xf32> = f(%a_b_1#1)
// CHECK-NEXT:                        return (%t)
// CHECK-EMPTY:
// CHECK-NEXT:                yield (%t)
// CHECK-NEXT:            region 1:
// CHECK-NEXT:                Segment Block @4:
// CHECK-NEXT:                    Target: host
// CHECK-NEXT:                    Graph: graph(%a_b_1#1 : tensor<?xf32>):
// CHECK-NEXT:                        %e : tensor<?xf32> = g(%a_b_1#1)  # no-converter
// CHECK-NEXT:                        return (%e)
// CHECK-EMPTY:
// CHECK-NEXT:                yield (%e)
// CHECK-NEXT:        return (%if)
// CHECK-EMPTY:
// CHECK-NEXT:npu: 4 ops in 2 segments
// CHECK-NEXT:host: 4 ops in 3 segments

// A function that isn't partitioned has no segments.
// NONE: @forward: 0 ops in 0 segments

!t = tensor<4x4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::linear", "prim::ListConstruct", "aten::cat", "own", "f"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @forward(%x: !t loc("x"), %c: i1) -> (tensor<?xf32>, !t, !t) {
    %w = inlay.constant dense_resource<w> : !t loc("layers.0.w")
    %k = arith.constant dense<[0, 1]> : tensor<2xi64>
    %r = inlay.linear %x, %w : (!t, !t) -> !t
    %l = inlay.opaque "prim::ListConstruct"(%x, %r) : (!t, !t) -> !inlay.list<!t> loc("l")
    %a = inlay.opaque "aten::cat"(%l, %k) : (!inlay.list<!t>, tensor<2xi64>) -> !t loc("a b")
    %p = inlay.plugin "own"(%a) {alpha = 2 : i64, long = "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"} : (!t) -> !t loc("p")
    %s:2 = inlay.opaque "g"(%l, %p) : (!inlay.list<!t>, !t) -> (!t, tensor<?xf32>) loc("a+b")
    %i = scf.if %c -> tensor<?xf32> {
      %t = inlay.opaque "f"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("t")
      scf.yield %t : tensor<?xf32>
    } else {
      %e = inlay.opaque "g"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("e")
      scf.yield %e : tensor<?xf32>
    } loc("if")
    return %i, %s#0, %r : tensor<?xf32>, !t, !t
  }
}
{-#
  dialect_resources: { builtin: { w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F" } }
#-}
