// Fallback of single ops by label, as a glob or in full, and by the line of the user's source.
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-locations=blk.*" | FileCheck %s --check-prefix=GLOB
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-locations=x[0]" | FileCheck %s --check-prefix=LABEL
// RUN: inlay-opt %s --inlay-partition-annotate-targets="fallback-locations=model.py:7" | FileCheck %s --check-prefix=LINE
// RUN: inlay-opt %s --inlay-partition="fallback-locations=src/model.py:7,inlay.exp#3" | FileCheck %s --check-prefix=BOTH
// RUN: inlay-compile %s --to=partition --fallback-locations=model.py:7 | FileCheck %s --check-prefix=LINE
// RUN: not inlay-opt %s --inlay-partition="fallback-locations=blk.rleu" 2>&1 | FileCheck %s --check-prefix=NOLABEL
// RUN: not inlay-opt %s --inlay-partition="fallback-locations=model.py:8,del.py:7" 2>&1 | FileCheck %s --check-prefix=NOLINE
// RUN: not inlay-opt %s --inlay-partition="fallback-locations=[" 2>&1 | FileCheck %s --check-prefix=MALFORMED

// NOLABEL: error: 'blk.rleu' in fallback-locations matches no op's label and no line; did you mean 'blk.relu'?
// NOLINE: error: 'del.py:7' in fallback-locations matches no op's label and no line; did you mean 'model.py:7'?
// NOLINE: error: 'model.py:8' in fallback-locations matches no op's label and no line; did you mean 'model.py:7'?
// MALFORMED: error: malformed glob '[' in fallback-locations

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // GLOB: inlay.relu {{.*}}<"host", "fallback-location", "'blk.relu' matches 'blk.*' in fallback-locations">
    // LINE: inlay.relu {{.*}}<"npu", "supported"
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc("blk.relu")
    // GLOB: inlay.neg {{.*}}<"host", "fallback-location", "'blk.neg' matches 'blk.*' in fallback-locations">
    // LINE: inlay.neg {{.*}}<"host", "fallback-location", "'model.py:7' matches 'model.py:7' in fallback-locations">
    // BOTH: inlay.neg {{.*}}<"host", "fallback-location", "'model.py:7' matches 'src/model.py:7' in fallback-locations">
    %1 = inlay.neg %0 : (tensor<4xf32>) -> tensor<4xf32> loc("blk.neg"("/somewhere/src/model.py":7:3))
    // GLOB: inlay.abs {{.*}}<"npu", "supported"
    // LABEL: inlay.abs {{.*}}<"host", "fallback-location", "'x[0]' matches 'x[0]' in fallback-locations">
    %2 = inlay.abs %1 : (tensor<4xf32>) -> tensor<4xf32> loc("x[0]")
    // BOTH: inlay.exp {{.*}}<"host", "fallback-location", "'inlay.exp#3' matches 'inlay.exp#3' in fallback-locations">
    %3 = inlay.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
