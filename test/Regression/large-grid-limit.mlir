// Devices report grids of up to 2^32 - 1 workgroups along an axis. The square of this number does not fit in 64 bits.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s
// CHECK: #inlay.verdict<"vulkan", "supported"
module attributes {inlay.targets = [#inlay.vulkan<max_workgroup_count = 4294967295>, #inlay.host]} {
  func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
    %0 = inlay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
