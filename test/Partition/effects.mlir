// The order of effects is kept, through views and into regions.
// RUN: inlay-opt %s --inlay-partition --split-input-file | FileCheck %s

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  // Without the write, one host segment would be enough.
  // CHECK-LABEL: func @reader_stays_behind_the_writer
  // CHECK: "aten::add_"
  // CHECK: inlay.segment
  // CHECK: "f"
  // CHECK: inlay.segment
  // CHECK: "aten::mul_"
  func.func @reader_stays_behind_the_writer(%x: !t) -> !t {
    inlay.opaque "aten::add_"(%x) writes [0] : (!t) -> ()
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    inlay.opaque "aten::mul_"(%x) writes [0] : (!t) -> ()
    return %0 : !t
  }

  // CHECK-LABEL: func @write_through_a_view
  // CHECK: "f"
  // CHECK: "aten::view"
  // CHECK: "aten::add_"
  func.func @write_through_a_view(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "aten::view"(%x) aliases [0] : (!t) -> !t
    inlay.opaque "aten::add_"(%1) writes [0] : (!t) -> ()
    return %0 : !t
  }

  // CHECK-LABEL: func @write_in_a_region
  // CHECK: "f"
  // CHECK: scf.if
  // CHECK: "aten::add_"
  func.func @write_in_a_region(%x: !t, %c: i1) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    scf.if %c {
      inlay.opaque "aten::add_"(%x) writes [0] : (!t) -> ()
    }
    return %0 : !t
  }

  // CHECK-LABEL: func @write_of_a_loops_value
  // CHECK: "f"
  // CHECK: scf.for
  // CHECK: "aten::add_"
  func.func @write_of_a_loops_value(%x: !t, %n: index) -> (!t, !t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> !t {
      inlay.opaque "aten::add_"(%a) writes [0] : (!t) -> ()
      scf.yield %a : !t
    }
    return %0, %1 : !t, !t
  }

  // Calls with unknown effects, and accesses to memory other than tensors, stay in order.
  // CHECK-LABEL: func @other_memory
  // CHECK: memref.store
  // CHECK: call @unknown
  // CHECK: inlay.segment
  // CHECK: "f"
  // CHECK: inlay.segment
  // CHECK: memref.load
  // CHECK: call @known
  func.func @other_memory(%m: memref<f32>, %x: !t, %v: f32) -> (f32, !t) {
    memref.store %v, %m[] : memref<f32>
    %0 = func.call @unknown(%x) : (!t) -> !t
    %1 = inlay.opaque "f"(%0) : (!t) -> !t
    %2 = func.call @known(%1) : (!t) -> !t
    %3 = memref.load %m[] : memref<f32>
    func.call @known(%2) : (!t) -> !t
    return %3, %1 : f32, !t
  }
  func.func private @unknown(!t) -> !t
  func.func private @known(!t) -> !t

  // Accesses to different resources and to separate buffers are not ordered, so one host segment is enough.
  // CHECK-LABEL: func @apart
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "f"
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: memref.store
  // CHECK: memref.load
  // CHECK-NOT: inlay.segment
  func.func @apart(%m: memref<f32>, %x: !t, %v: f32) -> (f32, !t) {
    %b = memref.alloc() : memref<f32>
    memref.store %v, %b[] : memref<f32>
    %0 = memref.load %m[] : memref<f32>
    %1 = inlay.opaque "f"(%x) : (!t) -> !t
    inlay.opaque "g"(%1, %b) writes [1] : (!t, memref<f32>) -> ()
    return %0, %1 : f32, !t
  }

  // Ordered calls keep their order, although they share no value.
  // CHECK-LABEL: func @calls_in_order
  // CHECK: "aten::rand"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "aten::normal"
  // CHECK: "aten::randn"
  func.func @calls_in_order() -> (!t, !t) {
    %0 = inlay.opaque "aten::rand"() in_order : () -> !t
    %1 = inlay.opaque "f"(%0) : (!t) -> !t
    %2 = inlay.opaque "aten::normal"(%1) in_order : (!t) -> !t
    %3 = inlay.opaque "aten::randn"() in_order : () -> !t
    return %2, %3 : !t, !t
  }

  // A list shares memory with its elements: a reader of the list sees writes to an element.
  // CHECK-LABEL: func @write_of_an_element
  // CHECK: "f"
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "aten::add_"
  func.func @write_of_an_element(%x: !t, %y: !t) -> !t {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %y) : (!t, !t) -> !inlay.list<!t>
    %1 = inlay.opaque "prim::TupleIndex"(%0) : (!inlay.list<!t>) -> !t
    %2 = inlay.opaque "f"(%x) : (!t) -> !t
    inlay.opaque "aten::add_"(%1) writes [0] : (!t) -> ()
    return %2 : !t
  }

  // Two elements of a list are separate: a write to one does not affect readers of the other, ...
  // CHECK-LABEL: func @held_together
  // CHECK-COUNT-5: inlay.segment
  // CHECK-NOT: inlay.segment
  func.func @held_together(%a: !t, %b: !t, %x: !t) -> (!t, !t) {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "g"(%0) : (!t) -> !t
    %2 = inlay.opaque "f"(%1, %b) : (!t, !t) -> !t
    %3 = inlay.opaque "prim::ListConstruct"(%a, %b) : (!t, !t) -> !inlay.list<!t>
    inlay.opaque "h"(%3) : (!inlay.list<!t>) -> ()
    %4 = inlay.opaque "f"(%a) writes [0] aliases [0] : (!t) -> !t
    %5 = inlay.opaque "g"(%4) : (!t) -> !t
    %6 = inlay.opaque "f"(%5) : (!t) -> !t
    %7 = inlay.opaque "g"(%6) : (!t) -> !t
    return %2, %7 : !t, !t
  }

  // ... until something is taken out that may be either.
  // CHECK-LABEL: func @taken_out
  // CHECK-COUNT-6: inlay.segment
  // CHECK-NOT: inlay.segment
  func.func @taken_out(%a: !t, %b: !t, %x: !t) -> (!t, !t) {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "g"(%0) : (!t) -> !t
    %2 = inlay.opaque "f"(%1, %b) : (!t, !t) -> !t
    %3 = inlay.opaque "prim::ListConstruct"(%a, %b) : (!t, !t) -> !inlay.list<!t>
    %h = inlay.opaque "prim::TupleIndex"(%3) : (!inlay.list<!t>) -> !t
    inlay.opaque "h"(%h) : (!t) -> ()
    %4 = inlay.opaque "f"(%a) writes [0] aliases [0] : (!t) -> !t
    %5 = inlay.opaque "g"(%4) : (!t) -> !t
    %6 = inlay.opaque "f"(%5) : (!t) -> !t
    %7 = inlay.opaque "g"(%6) : (!t) -> !t
    return %2, %7 : !t, !t
  }
}
