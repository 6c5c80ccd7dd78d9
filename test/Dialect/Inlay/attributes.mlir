// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --emit-bytecode | inlay-opt | FileCheck %s

// CHECK: module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::conv2d", "aten.relu"]>, #inlay.declared<"dsp", []>, #inlay.declared<"any", ["*"]>], inlay.weights = "model.safetensors"}
module attributes {
  inlay.targets = [#inlay.declared<"npu", ["aten::conv2d", "aten.relu"]>, #inlay.declared<"dsp", []>,
                   #inlay.declared<"any", ["*"]>],
  inlay.weights = "model.safetensors"
} {
  // CHECK-LABEL: func @placed
  func.func @placed(%x: tensor<2xf32>) {
    // CHECK: inlay.relu %{{.*}} {inlay.target = "npu", inlay.verdict = #inlay.verdict<"npu", "supported", "">}
    %0 = inlay.relu %x {inlay.target = "npu", inlay.verdict = #inlay.verdict<"npu", "supported", "">}
      : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: inlay.exp %{{.*}} {inlay.neutral, inlay.verdict = #inlay.verdict<"any", "non-tensor", "takes \22a list\22", "list.1">}
    %1 = inlay.exp %x {inlay.neutral, inlay.verdict = #inlay.verdict<"any", "non-tensor", "takes \"a list\"", "list.1">}
      : (tensor<2xf32>) -> tensor<2xf32>
    return
  }

  // CHECK-LABEL: func @targets
  // CHECK-SAME: test.defaults = #inlay.vulkan, test.facts = #inlay.vulkan<max_workgroup_invocations = 1024, subgroup_size = 8, features = ["float16", "int8"]>, test.host = #inlay.host, test.matrices = #inlay.vulkan<subgroup_size = 32, matrices = ["16x16x16xf16xf32", "8x8x32xs8xs32"]>, test.rows = #inlay.vulkan<max_workgroup_memory = 32768, row_kernels = false>, test.texels = #inlay.vulkan<features = ["subgroup-broadcast", "texel-reads"], max_texel_elements = 1024>, test.torch = #inlay.torch, test.tuned = #inlay.vulkan<tuning = {load = 8.000000e+00 : f64}>
  func.func @targets() attributes {
    test.defaults = #inlay.vulkan<>,
    test.facts = #inlay.vulkan<subgroup_size = 8, max_workgroup_invocations = 1024, features = ["float16", "int8"]>,
    test.matrices = #inlay.vulkan<matrices = ["16x16x16xf16xf32", "8x8x32xs8xs32"], subgroup_size = 32>,
    test.rows = #inlay.vulkan<row_kernels = false, max_workgroup_memory = 32768>,
    test.tuned = #inlay.vulkan<tuning = {load = 8.0}>,
    test.texels = #inlay.vulkan<features = ["subgroup-broadcast", "texel-reads"], max_texel_elements = 1024>,
    test.host = #inlay.host, test.torch = #inlay.torch
  } {
    return
  }
}
