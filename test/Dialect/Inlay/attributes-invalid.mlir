// RUN: inlay-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected 'inlay.targets' on a module, but got it on 'func.func'}}
func.func @targets_elsewhere() attributes {inlay.targets = [#inlay.declared<"npu", []>]} { return }

// -----

// expected-error @+1 {{expected 'inlay.targets' to be a non-empty array of targets, but got []}}
module attributes {inlay.targets = []} {}

// -----

// expected-error @+1 {{expected 'inlay.targets' to be a non-empty array of targets, but got "npu"}}
module attributes {inlay.targets = "npu"} {}

// -----

// expected-error @+1 {{expected each of 'inlay.targets' to be a target, but got "npu"}}
module attributes {inlay.targets = ["npu"]} {}

// -----

// expected-error @+1 {{expected targets of different names, but got 'npu' twice}}
module attributes {inlay.targets = [#inlay.declared<"npu", []>, #inlay.declared<"npu", ["*"]>]} {}

// -----

// expected-error @+1 {{expected 'inlay.target' to be a string, but got 1 : i64}}
func.func @target() attributes {inlay.target = 1} { return }

// -----

func.func @reason(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 'inlay.reason' to be a string, but got unit}}
  %0 = inlay.opaque "aten::sort"(%x) {inlay.reason} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'inlay.weights' to be a string, but got unit}}
module attributes {inlay.weights} {}

// -----

// expected-error @+1 {{expected 'inlay.neutral' to be a unit attribute, but got true}}
func.func @neutral() attributes {inlay.neutral = true} { return }

// -----

// expected-error @+1 {{expected 'inlay.order' to be an integer, but got "1"}}
func.func @order() attributes {inlay.order = "1"} { return }

// -----

// expected-error @+1 {{expected 'inlay.size' to be an integer, but got unit}}
func.func @size() attributes {inlay.size = unit} { return }

// -----

// expected-error @+1 {{expected 'inlay.verdict' to be a verdict, but got "host"}}
func.func @verdict() attributes {inlay.verdict = "host"} { return }

// -----

// expected-error @+1 {{unknown attribute 'inlay.tragets' of the inlay dialect}}
module attributes {inlay.tragets = []} {}

// -----

// expected-error @+1 {{unknown attribute 'inlay.target' on argument 0 of 'func.func'}}
func.func @argument(%x: tensor<2xf32> {inlay.target = "npu"}) { return }

// -----

// expected-error @+1 {{unknown attribute 'inlay.target' on result 0 of 'func.func'}}
func.func private @result() -> (tensor<2xf32> {inlay.target = "npu"})

// -----

// expected-error @+1 {{expected device limits of at least 1}}
#a = #inlay.vulkan<max_workgroup_count = 0>

// -----

// expected-error @+1 {{expected device limits of at least 1}}
#a = #inlay.vulkan<max_workgroup_memory = 0>

// -----

// expected-error @+1 {{expected subgroup_size to be a power of two or 0, but got 12}}
#a = #inlay.vulkan<subgroup_size = 12>

// -----

// expected-error @+1 {{expected keys of tuning among load, quad, broadcast, launch, points, subgroups, but got "speed"}}
#a = #inlay.vulkan<tuning = {speed = 3.0}>

// -----

// expected-error @+1 {{expected tuning's "load" to be a float above 0, but got -3.0}}
#a = #inlay.vulkan<tuning = {load = -3.0}>

// -----

// expected-error @+1 {{expected tuning's "load" to be a float above 0, but got 3 : i64}}
#a = #inlay.vulkan<tuning = {load = 3}>

// -----

// expected-error @+1 {{expected kind to be discrete, integrated or software, but got 'laptop'}}
#a = #inlay.vulkan<kind = "laptop">

// -----

// expected-error @+1 {{expected features among float16, float64, int8, int16, int64, subgroup-arithmetic, subgroup-broadcast, subgroup-shuffle, texel-reads, but got "bfloat16"}}
#a = #inlay.vulkan<features = ["bfloat16"]>

// -----

// expected-error @+1 {{expected features among float16, float64, int8, int16, int64, subgroup-arithmetic, subgroup-broadcast, subgroup-shuffle, texel-reads, but got 1 : i64}}
#a = #inlay.vulkan<features = [1]>

// -----

// expected-error @+1 {{expected matrices as "16x8x16xf16xf32": rows, columns and depth, which are powers of two up to 256, the type of elements and that of sums, but got "16x12x16xf16xf32"}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = ["16x16x16xf16xf32", "16x12x16xf16xf32"]>

// -----

// expected-error @+1 {{the type of elements and that of sums, but got "16x16xf16xf32"}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = ["16x16xf16xf32"]>

// -----

// expected-error @+1 {{the type of elements and that of sums, but got "16x16x512xf16xf32"}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = ["16x16x512xf16xf32"]>

// -----

// expected-error @+1 {{the type of elements and that of sums, but got "16x+16x16xf16xf32"}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = ["16x+16x16xf16xf32"]>

// -----

// expected-error @+1 {{the type of elements and that of sums, but got "16x16x16xbf8xf32"}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = ["16x16x16xbf8xf32"]>

// -----

// expected-error @+1 {{the type of elements and that of sums, but got 16 : i64}}
#a = #inlay.vulkan<subgroup_size = 32, matrices = [16]>

// -----

// expected-error @+1 {{expected a subgroup_size if there are matrices, because subgroups multiply them}}
#a = #inlay.vulkan<matrices = ["16x16x16xf16xf32"]>

// -----

// expected-error @+1 {{expected a target name, but got an empty string}}
#a = #inlay.declared<"", []>

// -----

// expected-error @+1 {{expected names of ops, but got an empty string in target 'npu'}}
#a = #inlay.declared<"npu", ["aten::relu", ""]>

// -----

// expected-error @+1 {{expected the name of a target, but got an empty string}}
#a = #inlay.verdict<"", "cost", "">

// -----

// expected-error @+1 {{expected a reason code, but got 'costly'}}
#a = #inlay.verdict<"host", "costly", "">

// -----

// expected-error @+1 {{expected 'inlay.do_not_merge' to be a unit attribute, but got true}}
func.func @do_not_merge() attributes {inlay.do_not_merge = true} { return }

// -----

// expected-error @+1 {{expected 'inlay.signatures' to be an array of dictionaries, but got {f_0 = {}}}}
module attributes {inlay.signatures = {f_0 = {}}} {}

// -----

// expected-error @+1 {{expected 'inlay.signatures' to be an array of dictionaries, but got [{}, 1]}}
module attributes {inlay.signatures = [{}, 1]} {}

// -----

// expected-error @+1 {{expected 'inlay.refused' to be a dictionary, but got "npu"}}
func.func @refused() attributes {inlay.refused = "npu"} { return }

// -----

// expected-error @+1 {{expected a string as the reason of 'npu' in 'inlay.refused', but got 1 : i64}}
func.func @refused_why() attributes {inlay.refused = {npu = 1}} { return }

// -----

// expected-error @+1 {{expected 'inlay.length' of argument 0 to be an i64 from 1 to 1048576, but got 0 : i64}}
func.func @f(%x: !inlay.list<tensor<4xf32>> {inlay.length = 0 : i64}) {
  return
}

// -----

// expected-error @+1 {{expected 'inlay.length' of argument 0 to be an i64 from 1 to 1048576, but got 1000000000000 : i64}}
func.func @f(%x: !inlay.list<tensor<4xf32>> {inlay.length = 1000000000000 : i64}) {
  return
}

// -----

// expected-error @+1 {{expected 'inlay.length' on an argument that is a list, but argument 0 is not}}
func.func @f(%x: tensor<4xf32> {inlay.length = 2 : i64}) {
  return
}

// -----

// expected-error @+1 {{expected 'inlay.states' to be an i64 of at least 0 on a function, but got "one"}}
func.func private @states_type() attributes {inlay.states = "one"}

// -----

// expected-error @+1 {{expected at least 2 arguments and results, which are states, but got 1 and 2}}
func.func private @states_count(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {inlay.states = 2}

// -----

// expected-error @+1 {{expected state 0 to be a tensor and to keep its type, but got 'tensor<4xf32>' and 'tensor<5xf32>'}}
func.func private @states_types(tensor<4xf32>) -> tensor<5xf32> attributes {inlay.states = 1}
