// linalg on buffers: a buffer may cross a border, and accesses to memory keep their order.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s

module attributes {inlay.targets = [#inlay.declared<"npu", ["linalg.matmul", "linalg.fill", "memref.subview"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  // CHECK-LABEL: func @buffers
  // CHECK: inlay.segment #inlay.declared<"npu"{{.*}} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
  // CHECK: linalg.fill
  // CHECK: linalg.matmul
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: linalg.exp
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  // CHECK-NOT: inlay.segment
  func.func @buffers(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
    linalg.matmul ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
    linalg.exp ins(%c : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
    linalg.matmul ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
    return
  }

  // The second product reads, through a view, memory that the host wrote before.
  // CHECK-LABEL: func @views
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: linalg.exp
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  // CHECK-NOT: inlay.segment
  func.func @views(%a: memref<8x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
    %top = memref.subview %a[0, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1]>>
    linalg.matmul ins(%top, %b : memref<4x4xf32, strided<[4, 1]>>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
    linalg.exp ins(%a : memref<8x4xf32>) outs(%a : memref<8x4xf32>)
    linalg.matmul ins(%top, %b : memref<4x4xf32, strided<[4, 1]>>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
    return
  }

  // The stated effects of an op on a buffer and the effects of upstream ops keep their order.
  // CHECK-LABEL: func @stated
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.fill
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: call @scale
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  func.func @stated(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %v: f32) {
    linalg.fill ins(%v : f32) outs(%a : memref<4x4xf32>)
    func.call @scale(%a) {inlay.writes = array<i64: 0>} : (memref<4x4xf32>) -> ()
    linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
    return
  }
  func.func private @scale(memref<4x4xf32>)
}
