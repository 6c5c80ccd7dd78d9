// RUN: split-file %s %t

// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/sub.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=DIFFERS
// DIFFERS: sub.pdl.mlir:1:1: error: pattern 'add_to_sub' changes what is computed, with a: tensor<{{.*}}>, b: tensor<{{.*}}>: element [{{.*}}] of result #0 is {{.*}} before and {{.*}} after (seed {{[0-9]+}})
// DIFFERS: note: before and after:
// DIFFERS: inlay.add
// DIFFERS: inlay.sub
//--- sub.pdl.mlir
pdl.pattern @add_to_sub : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %add = pdl.operation "inlay.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    %sub = pdl.operation "inlay.sub"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %add with %sub
  }
}

// The check also finds errors that occur only with an attribute value that the author did not think of.
// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/keepdim.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=KEEPDIM
// KEEPDIM: error: pattern 'mean_of_neg' makes an invalid graph, with x: tensor<{{.*}}>: can't make 'inlay.neg'
//--- keepdim.pdl.mlir
pdl.pattern @mean_of_neg : benefit(1) {
  %x = pdl.operand
  %dims = pdl.attribute
  %neg = pdl.operation "inlay.neg"(%x : !pdl.value)
  %y = pdl.result 0 of %neg
  %mean = pdl.operation "inlay.mean"(%y : !pdl.value) {"dims" = %dims}
  pdl.rewrite %mean {
    %inner = pdl.operation "inlay.mean"(%x : !pdl.value) {"dims" = %dims}
    %z = pdl.result 0 of %inner
    %new = pdl.operation "inlay.neg"(%z : !pdl.value)
    pdl.replace %mean with %new
  }
}

// Infinities and NaN are tested unless the pattern is marked `finite`.
// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/zero.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: error: pattern 'mul_zero' changes what is computed, {{.*}}nan before and 0 after
// RUN: sed 's/benefit(1)/benefit(1) attributes {finite}/' %t/zero.pdl.mlir > %t/finite.pdl.mlir
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/finite.pdl.mlir check=registration" -o /dev/null
//--- zero.pdl.mlir
pdl.pattern @mul_zero : benefit(1) {
  %t = pdl.type
  %x = pdl.operand
  %c = pdl.operand : %t
  %zero = pdl.attribute = 0.0 : f64
  pdl.apply_native_constraint "splat"(%c, %zero : !pdl.value, !pdl.attribute)
  %mul = pdl.operation "inlay.mul"(%x, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    pdl.replace %mul with (%c : !pdl.value)
  }
}

// A rule that cannot be checked does not pass.
// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/to-plugin.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=TO-PLUGIN
// TO-PLUGIN: error: pattern 'to_plugin' can't be checked: {{.*}}no target can run 'fast_relu'
//--- to-plugin.pdl.mlir
pdl.pattern @to_plugin : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %relu = pdl.operation "inlay.relu"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu {
    %name = pdl.attribute = "fast_relu"
    %new = pdl.operation "inlay.plugin"(%x : !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %relu with %new
  }
}

// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/of-plugin.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=OF-PLUGIN
// OF-PLUGIN: error: pattern 'of_plugin' can't be instantiated: the result types of 'inlay.plugin' can't be inferred
//--- of-plugin.pdl.mlir
pdl.pattern @of_plugin : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %name = pdl.attribute = "fast_relu"
  %plugin = pdl.operation "inlay.plugin"(%x : !pdl.value) {"name" = %name} -> (%t : !pdl.type)
  pdl.rewrite %plugin {
    %new = pdl.operation "inlay.relu"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %plugin with %new
  }
}

// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/never.pdl.mlir check=registration" 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: pattern 'never' can't be instantiated: found no operands and attributes that 'inlay.softmax' accepts
//--- never.pdl.mlir
pdl.pattern @never : benefit(1) {
  %x = pdl.operand
  %i32 = pdl.attribute = i32
  pdl.apply_native_constraint "dtype"(%x, %i32 : !pdl.value, !pdl.attribute)
  %softmax = pdl.operation "inlay.softmax"(%x : !pdl.value)
  pdl.rewrite %softmax {
    pdl.replace %softmax with (%x : !pdl.value)
  }
}

// At each match, the check uses the types, constants and attributes of the graph. A rule that is wrong only elsewhere
// passes.
// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/sub.pdl.mlir check=each" 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: loc("first"): pattern 'add_to_sub' changes what is computed, with argument #0: tensor<4x3x8xf32>, argument #1: tensor<8xf32>: element [0, 0, 0] of result #0 is
// RUN: not inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/twice.pdl.mlir check=registration" -o /dev/null
// RUN: inlay-opt %t/graph.mlir --inlay-rewrite="patterns=%t/twice.pdl.mlir check=each" | FileCheck %s --check-prefix=TWICE
// TWICE: inlay.pow
// TWICE: inlay.mul
// TWICE-NOT: inlay.pow
//--- twice.pdl.mlir
pdl.pattern @square : benefit(1) {
  %x = pdl.operand
  %c = pdl.operand
  pdl.apply_native_constraint "constant"(%c : !pdl.value)
  %pow = pdl.operation "inlay.pow"(%x, %c : !pdl.value, !pdl.value)
  pdl.rewrite %pow {
    %new = pdl.operation "inlay.mul"(%x, %x : !pdl.value, !pdl.value)
    pdl.replace %pow with %new
  }
}

// RUN: not mlir-opt --load-dialect-plugin=%inlay_libs/InlayPlugin.so --load-pass-plugin=%inlay_libs/InlayPlugin.so %t/graph.mlir \
// RUN:   --pass-pipeline="builtin.module(inlay-rewrite{libraries=cleanup check=each})" 2>&1 | FileCheck %s --check-prefix=NO-RUNNER
// NO-RUNNER: error: patterns can't be checked: this tool can't run graphs

//--- graph.mlir
func.func @forward(%x: tensor<4x?x8xf32>, %b: tensor<8xf32>, %y: tensor<f32>) -> (tensor<4x?x8xf32>, tensor<f32>) {
  %two = inlay.constant dense<2.0> : tensor<f32>
  %0 = inlay.add %x, %b : (tensor<4x?x8xf32>, tensor<8xf32>) -> tensor<4x?x8xf32> loc("first")
  %1 = inlay.pow %y, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = inlay.pow %0, %two : (tensor<4x?x8xf32>, tensor<f32>) -> tensor<4x?x8xf32>
  return %2, %1 : tensor<4x?x8xf32>, tensor<f32>
}
