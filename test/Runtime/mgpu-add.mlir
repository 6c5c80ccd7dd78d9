// Upstream's Vulkan pipeline runs on this runtime: gpu.launch_func -> SPIR-V binary -> mgpu* calls.
//
// REQUIRES: vulkan
// RUN: mlir-opt %s -test-vulkan-runner-pipeline \
// RUN:   | mlir-runner --shared-libs=%inlay_libs/libinlay_mgpu_runtime.so,%mlir_libs/libmlir_runner_utils.so \
// RUN:     --entry-point-result=void \
// RUN:   | FileCheck %s

// CHECK: [3.3, 3.3, 3.3, 3.3, 3.3, 3.3, 3.3, 3.3]
module attributes {
  gpu.container_module,
  spirv.target_env = #spirv.target_env<
    #spirv.vce<v1.0, [Shader], [SPV_KHR_storage_buffer_storage_class]>, #spirv.resource_limits<>>
} {
  gpu.module @kernels {
    gpu.func @add(%lhs: memref<8xf32>, %rhs: memref<8xf32>, %sum: memref<8xf32>)
        kernel attributes {spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [1, 1, 1]>} {
      %i = gpu.block_id x
      %a = memref.load %lhs[%i] : memref<8xf32>
      %b = memref.load %rhs[%i] : memref<8xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %sum[%i] : memref<8xf32>
      gpu.return
    }
  }

  func.func @main() {
    %lhs = memref.alloc() : memref<8xf32>
    %rhs = memref.alloc() : memref<8xf32>
    %sum = memref.alloc() : memref<8xf32>
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.1 : f32
    %two = arith.constant 2.2 : f32
    %lhsDynamic = memref.cast %lhs : memref<8xf32> to memref<?xf32>
    %rhsDynamic = memref.cast %rhs : memref<8xf32> to memref<?xf32>
    %sumDynamic = memref.cast %sum : memref<8xf32> to memref<?xf32>
    call @fillResource1DFloat(%lhsDynamic, %one) : (memref<?xf32>, f32) -> ()
    call @fillResource1DFloat(%rhsDynamic, %two) : (memref<?xf32>, f32) -> ()
    call @fillResource1DFloat(%sumDynamic, %zero) : (memref<?xf32>, f32) -> ()
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @kernels::@add blocks in (%c8, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%lhs : memref<8xf32>, %rhs : memref<8xf32>, %sum : memref<8xf32>)
    %printable = memref.cast %sumDynamic : memref<?xf32> to memref<*xf32>
    call @printMemrefF32(%printable) : (memref<*xf32>) -> ()
    return
  }

  func.func private @fillResource1DFloat(%memref: memref<?xf32>, %value: f32)
  func.func private @printMemrefF32(%memref: memref<*xf32>)
}
