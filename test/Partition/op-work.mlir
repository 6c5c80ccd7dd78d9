// The work of ops of any dialect: FLOP for products, bytes for others. A FLOP or byte takes a nanosecond; bytes take
// two for reductions, four for layout and eight for other ops.
// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host], inlay.cost_model = {version = 1, targets = {host = {
    op_seconds = 0.0, launch_seconds = 0.0, throughput = {matmul = 1.0e9, convolution = 1.0e9, elementwise = 1.0e9,
                                                          reduction = 5.0e8, layout = 2.5e8, other = 1.25e8}}}}} {
  // CHECK: "function": "product"
  // CHECK: "modelled_ns": 2000,
  func.func @product(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
    %0 = inlay.matmul %x, %x : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
    return %0 : tensor<10x10xf32>
  }
  // The op is bound by its 40800 bytes, not by its 20000 FLOP.
  // CHECK: "function": "vector_product"
  // CHECK: "modelled_ns": 40800,
  func.func @vector_product(%x: tensor<1x100xf32>, %w: tensor<100x100xf32>) -> tensor<1x100xf32> {
    %0 = inlay.linear %x, %w : (tensor<1x100xf32>, tensor<100x100xf32>) -> tensor<1x100xf32>
    return %0 : tensor<1x100xf32>
  }
  // CHECK: "function": "framework_product"
  // CHECK: "modelled_ns": 2000,
  func.func @framework_product(%b: tensor<10xf32>, %x: tensor<10x10xf32>) -> tensor<10x10xf32> {
    %0 = inlay.opaque "aten::addmm"(%b, %x, %x) : (tensor<10xf32>, tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
    return %0 : tensor<10x10xf32>
  }
  // 2 x 9 for each of 400 elements of the result.
  // CHECK: "function": "convolution"
  // CHECK: "modelled_ns": 7200,
  func.func @convolution(%x: tensor<1x1x12x12xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x10x10xf32> {
    %0 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
      : (tensor<1x1x12x12xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x10x10xf32>
    return %0 : tensor<1x4x10x10xf32>
  }
  // CHECK: "function": "elementwise"
  // CHECK: "modelled_ns": 1000,
  func.func @elementwise(%x: tensor<125xf32>) -> tensor<125xf32> {
    %0 = inlay.relu %x : (tensor<125xf32>) -> tensor<125xf32>
    return %0 : tensor<125xf32>
  }
  // CHECK: "function": "reduction"
  // CHECK: "modelled_ns": 2000,
  func.func @reduction(%x: tensor<249xf32>) -> tensor<f32> {
    %0 = inlay.sum %x dims [0] : (tensor<249xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  // The op only reads the elements that it returns.
  // CHECK: "function": "slice"
  // CHECK: "modelled_ns": 4000,
  func.func @slice(%x: tensor<4096xf32>) -> tensor<125xf32> {
    %0 = inlay.slice %x dim 0 start 0 end 125 step 1 : (tensor<4096xf32>) -> tensor<125xf32>
    return %0 : tensor<125xf32>
  }
  // CHECK: "function": "rename"
  // CHECK: "modelled_ns": 0,
  func.func @rename(%x: tensor<10x10xf32>) -> tensor<100xf32> {
    %0 = inlay.reshape %x shape [100] : (tensor<10x10xf32>) -> tensor<100xf32>
    return %0 : tensor<100xf32>
  }
  // CHECK: "function": "other"
  // CHECK: "modelled_ns": 8000,
  func.func @other(%x: tensor<125xf32>) -> tensor<125xf32> {
    %0 = inlay.opaque "custom::thing"(%x) : (tensor<125xf32>) -> tensor<125xf32>
    return %0 : tensor<125xf32>
  }
  // An unknown dimension counts as 64.
  // CHECK: "function": "dynamic"
  // CHECK: "modelled_ns": 512,
  func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = inlay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  // CHECK: "function": "linalg"
  // CHECK: "modelled_ns": 2000,
  func.func @linalg(%x: tensor<10x10xf32>, %o: tensor<10x10xf32>) -> tensor<10x10xf32> {
    %0 = linalg.matmul ins(%x, %x : tensor<10x10xf32>, tensor<10x10xf32>) outs(%o : tensor<10x10xf32>) -> tensor<10x10xf32>
    return %0 : tensor<10x10xf32>
  }
  // The op does not read the elements that it overwrites.
  // CHECK: "function": "destination"
  // CHECK: "modelled_ns": 800,
  func.func @destination(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
    %0 = linalg.exp ins(%x : tensor<100xf32>) outs(%y : tensor<100xf32>) -> tensor<100xf32>
    return %0 : tensor<100xf32>
  }
  // 2 x 10 queries x 20 keys, with elements of 16 numbers in the first product and of 8 in the second.
  // CHECK: "function": "attention"
  // CHECK: "modelled_ns": 9600,
  func.func @attention(%q: tensor<10x16xf32>, %k: tensor<20x16xf32>, %v: tensor<20x8xf32>) -> tensor<10x8xf32> {
    %0 = inlay.opaque "aten::scaled_dot_product_attention"(%q, %k, %v)
      : (tensor<10x16xf32>, tensor<20x16xf32>, tensor<20x8xf32>) -> tensor<10x8xf32>
    return %0 : tensor<10x8xf32>
  }
  // CHECK: "function": "complex"
  // CHECK: "modelled_ns": 16000,
  func.func @complex(%x: tensor<125xcomplex<f32>>) -> tensor<125xcomplex<f32>> {
    %0 = inlay.opaque "custom::thing"(%x) : (tensor<125xcomplex<f32>>) -> tensor<125xcomplex<f32>>
    return %0 : tensor<125xcomplex<f32>>
  }
  // CHECK: "function": "tosa"
  // CHECK: "modelled_ns": 1500,
  func.func @tosa(%x: tensor<125xf32>) -> tensor<125xf32> {
    %0 = tosa.add %x, %x : (tensor<125xf32>, tensor<125xf32>) -> tensor<125xf32>
    return %0 : tensor<125xf32>
  }
  // CHECK: "function": "loop"
  // CHECK: "summary"
  // CHECK: "modelled_ns": 5000,
  func.func @loop(%x: tensor<125xf32>) -> tensor<125xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %0 = scf.for %i = %zero to %five step %one iter_args(%v = %x) -> tensor<125xf32> {
      %1 = inlay.relu %v : (tensor<125xf32>) -> tensor<125xf32>
      scf.yield %1 : tensor<125xf32>
    }
    return %0 : tensor<125xf32>
  }
  // A branch counts as its longer side.
  // CHECK: "function": "branch"
  // CHECK: "summary"
  // CHECK: "modelled_ns": 8000,
  func.func @branch(%c: i1, %x: tensor<125xf32>) -> tensor<125xf32> {
    %0 = scf.if %c -> tensor<125xf32> {
      %1 = inlay.relu %x : (tensor<125xf32>) -> tensor<125xf32>
      scf.yield %1 : tensor<125xf32>
    } else {
      %2 = inlay.opaque "custom::thing"(%x) : (tensor<125xf32>) -> tensor<125xf32>
      scf.yield %2 : tensor<125xf32>
    }
    return %0 : tensor<125xf32>
  }
}
