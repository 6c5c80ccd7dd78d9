// RUN: split-file %s %t

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/nowhere.pdl" 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: error: can't read patterns from '{{.*}}nowhere.pdl': {{[Nn]}}o such file

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/unknown-op.pdl" 2>&1 | FileCheck %s --check-prefix=UNKNOWN-OP
// UNKNOWN-OP: unknown-op.pdl:3:9: unknown op 'inlay.rellu'; did you mean 'inlay.relu'?
//--- unknown-op.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %op = pdl.operation "inlay.rellu"(%x : !pdl.value)
  pdl.rewrite %op {
    pdl.erase %op
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/unknown-constraint.pdl" 2>&1 | FileCheck %s --check-prefix=UNKNOWN-CONSTRAINT
// UNKNOWN-CONSTRAINT: unknown constraint 'rnk'; did you mean 'rank'?
//--- unknown-constraint.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  pdl.apply_native_constraint "rnk"(%x : !pdl.value)
  %op = pdl.operation "inlay.relu"(%x : !pdl.value)
  pdl.rewrite %op {
    pdl.erase %op
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/unknown-rewrite.pdl" 2>&1 | FileCheck %s --check-prefix=UNKNOWN-REWRITE
// UNKNOWN-REWRITE: unknown rewrite function 'take_region'; did you mean 'take_regions'?
//--- unknown-rewrite.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %op = pdl.operation "inlay.relu"(%x : !pdl.value)
  pdl.rewrite %op {
    pdl.apply_native_rewrite "take_region"(%op, %op : !pdl.operation, !pdl.operation)
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/no-dim.pdl" 2>&1 | FileCheck %s --check-prefix=NO-DIM
// NO-DIM: error: pattern 'p' can't rewrite: can't make 'inlay.softmax': 'inlay.softmax' op requires attribute 'dim'
//--- no-dim.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %add = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %add {
    %softmax = pdl.operation "inlay.softmax"(%x : !pdl.value)
    %z = pdl.result 0 of %softmax
    %new = pdl.operation "inlay.exp"(%z : !pdl.value)
    pdl.replace %add with %new
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/empty.pdl" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: expected patterns (pdl.pattern), but got none
//--- empty.pdl
func.func private @f()

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/add.pdl,%t/add.pdl" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: expected a new label, but there is a pattern labeled 'add' already
//--- add.pdl
pdl.pattern @add : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %op = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %op {
    pdl.replace %op with (%x : !pdl.value)
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/captured-twice.pdl" 2>&1 | FileCheck %s --check-prefix=CAPTURED-TWICE
// CAPTURED-TWICE: captured-twice.pdl:3:8: expected each name to be captured once, but 'x' is captured twice
//--- captured-twice.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand {capture = "x"}
  %op = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %op {
    pdl.replace %op with (%x : !pdl.value)
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/two-lists.pdl" 2>&1 | FileCheck %s --check-prefix=TWO-LISTS
// TWO-LISTS: expected at most one list among the operands of an op, but got two
//--- two-lists.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operands
  %y = pdl.operands
  %op = pdl.operation "inlay.opaque"(%x, %y : !pdl.range<value>, !pdl.range<value>)
  pdl.rewrite %op {
    pdl.erase %op
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/unjoined.pdl" 2>&1 | FileCheck %s --check-prefix=UNJOINED
// UNJOINED: the operations must form a connected component
//--- unjoined.pdl
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %a = pdl.operation "inlay.relu"(%x : !pdl.value)
  %b = pdl.operation "inlay.neg"(%y : !pdl.value)
  pdl.rewrite %a {
    pdl.replace %a with (%x : !pdl.value)
    pdl.replace %b with (%y : !pdl.value)
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/joined-by-list.pdl" 2>&1 | FileCheck %s --check-prefix=BY-LIST
// BY-LIST: joined-by-list.pdl:4:8: expected an op that a shared value connects to the root, but no value does
//--- joined-by-list.pdl
pdl.pattern @p : benefit(1) {
  %xs = pdl.operands
  %a = pdl.operation "inlay.cat"(%xs : !pdl.range<value>)
  %b = pdl.operation "inlay.cat"(%xs : !pdl.range<value>)
  pdl.rewrite %a {
    pdl.erase %a
    pdl.erase %b
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/add.pdl labels=sub*" 2>&1 | FileCheck %s --check-prefix=NO-LABEL
// NO-LABEL: error: expected a label of a pattern, but none matches 'sub*'

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/add.pdl args=4" 2>&1 | FileCheck %s --check-prefix=BAD-ARG
// BAD-ARG: error: expected an argument as name=value, but got '4'

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/add.pdl args=a=4,a=5" 2>&1 | FileCheck %s --check-prefix=ARG-TWICE
// ARG-TWICE: error: expected each argument once, but got 'a' twice

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/add.pdl trace=%t/no/where" 2>&1 | FileCheck %s --check-prefix=NO-TRACE
// NO-TRACE: error: can't write the trace to '{{.*}}where': {{[Nn]}}o such file

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/type.pdl" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: add.mlir:2:8: error: pattern 'type' can't rewrite: expected a value of type 'tensor<4xf32>', but got 'tensor<1xf32>'
//--- type.pdl
pdl.pattern @type : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %op = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %op {
    pdl.replace %op with (%x : !pdl.value)
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/used.pdl" 2>&1 | FileCheck %s --check-prefix=USED
// USED: add.mlir:2:8: error: pattern 'used' can't rewrite: expected no uses of the erased 'inlay.add', but 'func.return' uses a result
//--- used.pdl
pdl.pattern @used : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %op = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %op {
    pdl.erase %op
  }
}

// RUN: not inlay-opt %t/add.mlir --inlay-rewrite="patterns=%t/broken.pdl" 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: add.mlir:2:8: error: pattern 'broken' can't rewrite: can't make 'inlay.softmax': {{.*}}dim
//--- broken.pdl
pdl.pattern @broken : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %op = pdl.operation "inlay.add"(%x, %y : !pdl.value, !pdl.value)
  pdl.rewrite %op {
    %new = pdl.operation "inlay.softmax"(%y : !pdl.value)
    pdl.replace %op with %new
  }
}

//--- add.mlir
func.func @add(%x: tensor<1xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.add %x, %y : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: not inlay-opt %t/cycle.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/cycle.pdl" 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: not inlay-opt %t/cycle.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/cycle.pdl driver=greedy" 2>&1 | FileCheck %s --check-prefix=CYCLE
// CYCLE: cycle.mlir:2:8: error: rewriting doesn't end: patterns {{.*}}'a_to_b'{{.*}} lead back to where they started
//--- cycle.pdl
pdl.pattern @a_to_b : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.b"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @b_to_c : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.b"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.c"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @c_to_a : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.c"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.a"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
//--- cycle.mlir
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "t.a"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: not inlay-opt %t/grow.mlir --allow-unregistered-dialect --inlay-rewrite="patterns=%t/grow.pdl" 2>&1 | FileCheck %s --check-prefix=GROW
// GROW: grow.mlir:2:8: error: rewriting doesn't seem to end: 1021 rewrites for 2 ops, the last by 'grow'
//--- grow.pdl
pdl.pattern @grow : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.g"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %inner = pdl.operation "t.g"(%x : !pdl.value) -> (%t : !pdl.type)
    %v = pdl.result 0 of %inner
    %outer = pdl.operation "t.g"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %outer
  }
}
//--- grow.mlir
func.func @grow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "t.g"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
