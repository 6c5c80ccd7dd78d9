// Invalid placements: malformed, for another graph, or illegal for this graph.
// RUN: rm -rf %t && split-file %s %t
// RUN: inlay-opt %t/graph.mlir --inlay-partition="save-placement=%t/good.json" -o /dev/null
// RUN: inlay-opt %t/graph.mlir --inlay-partition="placement=%t/good.json" -o /dev/null

// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: can't read the placement '{{.*}}none.json': No such file or directory
// RUN: echo '{' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: error: malformed placement '{{.*}}bad.json': [
// RUN: %python -c "print('[' * 1000000)" > %t/deep.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/deep.json" 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="cost-model=%t/deep.json" 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not inlay-partition-diff %t/deep.json %t/good.json 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: {{.*}}deep.json{{.*}}: expected at most 64 nested levels, but got more
// RUN: sed 's/"inlay_placement": 1/"inlay_placement": 2/' %t/good.json > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: malformed placement '{{.*}}': expected a placement file of version 1, but got version 2
// RUN: sed 's/"clones"/"copies"/' %t/good.json > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: malformed placement '{{.*}}': functions[0].segments[0]: expected 'clones', but it is missing
// RUN: sed 's/"do_not_merge": false/"do_not_merge": 0/' %t/good.json > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: malformed placement '{{.*}}': functions[0].segments[0]: expected 'do_not_merge' to be true or false
// RUN: sed 's/"target": "npu"/"target": "npi"/' %t/good.json > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: the placement names a target that the module doesn't have: 'npi'; did you mean 'npu'?
// RUN: sed 's/"target": "host"/"target": "npu"/' %t/good.json > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=CANT
// CANT: error: {{.*}}the placement puts the op on 'npu', which can't run it: aten::sort is not among the ops that 'npu' declares
// RUN: %python %t/edit.py %t/good.json 'f["segments"].reverse()' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: {{.*}}the placement runs op 'b' before op 'a', which it depends on
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/good.json min-block-size=2" 2>&1 | FileCheck %s --check-prefix=BESIDES
// BESIDES: error: 'min-block-size' can't be combined with a placement, which already decides where every op runs

// RUN: %python %t/edit.py %t/good.json 'f["segments"][0]["colour"] = 1' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: malformed placement '{{.*}}': functions[0].segments[0]: unknown key 'colour'
// RUN: %python %t/edit.py %t/good.json 'f["segments"][0]["ops"].append("b")' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: malformed placement '{{.*}}': functions[0]: op 'b' is in two segments
// RUN: %python %t/edit.py %t/good.json 'f["segments"].pop()' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: malformed placement '{{.*}}': functions[0]: op 'b' is in no segment
// RUN: %python %t/edit.py %t/good.json 'f["segments"][0]["clones"] = ["q"]' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=CLONE
// CLONE: error: malformed placement '{{.*}}': functions[0]: a segment clones op 'q', which is not listed
// RUN: %python %t/edit.py %t/good.json 'f["segments"][0]["parent"] = {"op": "q", "region": 0}' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=PARENT
// PARENT: error: {{.*}}the placement has no segment for op 'a' in its block
// RUN: %python %t/edit.py %t/good.json 'all["functions"].append(f)' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: malformed placement '{{.*}}': function 'f' is listed twice
// RUN: %python %t/edit.py %t/good.json 'f["segments"][0]["bytes_in"] = -1' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: malformed placement '{{.*}}': functions[0].segments[0]: expected 'bytes_in' to be a number of at least 0, or null
// RUN: %python %t/edit.py %t/good.json 'f["ops"][0]["label"] = 3' > %t/bad.json
// RUN: not inlay-opt %t/graph.mlir --inlay-partition="placement=%t/bad.json" 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: error: malformed placement '{{.*}}': functions[0].ops[0]: expected 'label' to be a string

// RUN: not inlay-opt %t/renamed.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED: error: the placement is for another graph: op 'b' is aten::sort in it, but aten::topk in this graph
// RUN: not inlay-opt %t/missing.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: the placement is for another graph: it has op 'b' (aten::sort), which this graph lacks
// RUN: not inlay-opt %t/more.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: the placement is for another graph: it lacks op 'z' (aten::add)
// RUN: not inlay-opt %t/types.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: error: the placement is for another graph: op 'a' (aten::add) has other attributes, types or operands in it
// RUN: not inlay-opt %t/returns.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=RETURNS
// RETURNS: error: the placement is for another graph: the type or the results of the function differ
// RUN: not inlay-opt %t/other.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the placement '{{.*}}good.json' has no function of this name
// RUN: not inlay-opt %t/pinned.mlir --inlay-partition="placement=%t/good.json" 2>&1 | FileCheck %s --check-prefix=PINNED
// PINNED: error: {{.*}}op is pinned to 'host', but the placement puts it on 'npu'

#--- edit.py
import json, sys
placement = json.load(open(sys.argv[1]))
exec(sys.argv[2], {"all": placement, "f": placement["functions"][0]})
print(json.dumps(placement))
#--- graph.mlir
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.opaque "aten::add"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
    %1 = inlay.opaque "aten::sort"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    return %1 : tensor<4xf32>
  }
}
#--- renamed.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.opaque "aten::add"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  %1 = inlay.opaque "aten::topk"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
  return %1 : tensor<4xf32>
}
#--- missing.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.opaque "aten::add"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  return %0 : tensor<4xf32>
}
#--- more.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.opaque "aten::add"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  %1 = inlay.opaque "aten::sort"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
  %2 = inlay.opaque "aten::add"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("z")
  return %1 : tensor<4xf32>
}
#--- types.mlir
func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = inlay.opaque "aten::add"(%x) : (tensor<5xf32>) -> tensor<5xf32> loc("a")
  %1 = inlay.opaque "aten::sort"(%0) : (tensor<5xf32>) -> tensor<5xf32> loc("b")
  return %1 : tensor<5xf32>
}
#--- returns.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.opaque "aten::add"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  %1 = inlay.opaque "aten::sort"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
  return %0 : tensor<4xf32>
}
#--- other.mlir
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
#--- pinned.mlir
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.opaque "aten::add"(%x) {inlay.target = "host"} : (tensor<4xf32>) -> tensor<4xf32> loc("a")
    %1 = inlay.opaque "aten::sort"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    return %1 : tensor<4xf32>
  }
}
