// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the partition phase, in the order of the pipeline.

#ifndef INLAY_PARTITION_PASSES_TD
#define INLAY_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateTargetsPass : Pass<"inlay-partition-annotate-targets", "::mlir::ModuleOp"> {
  let summary = "Decide for each op which target is to run it, and why";
  let description = [{
    Writes `inlay.verdict` on each op that partitioning places: the first target in `inlay.targets` that can run it, the
    reason why not an earlier one, and the label of the op that caused it. Constants get none: each segment has its own.
    A value that is neither tensor nor scalar never crosses the border of an accelerator; what would make it do so falls
    back. Ops without a name of their own get a name location, so that reports and reasons can say which op is meant.

    Before:
    ```mlir
    %0 = inlay.opaque "aten::lgamma"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = inlay.opaque "aten::lgamma"(%x) {inlay.verdict = #inlay.verdict<"host", "no-converter",
      "aten::lgamma is not among the ops that 'npu' declares">} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    See test/Partition/annotate-targets.mlir.
  }];
  let options = [
    ListOption<"fallbackOps", "fallback-ops", "std::string",
      "ops by name that go to the last listed target that can run them; a name that matches no op is an error">,
    ListOption<"fallbackModules", "fallback-modules", "std::string",
      "modules by instance path or class (globs) whose ops go there likewise; one that matches no module is an error">,
    ListOption<"fallbackLocations", "fallback-locations", "std::string",
      "ops by label (globs) or file:line that go there likewise; one that matches no op is an error">,
    ListOption<"allowOps", "allow-ops", "std::string",
      "ops that accelerators may run, on any (aten::add) or on one (aten::add@npu), which then runs no others">,
    Option<"enabled", "enabled", "bool", "true",
      "if false nothing is partitioned: the first target runs the graph as one segment, or the error lists each blocker">,
    Option<"requireFullCompilation", "require-full-compilation", "bool", "false",
      "every op must run on the first target; the error lists each that can't">,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def FormSegmentsPass : Pass<"inlay-partition-form-segments", "::mlir::ModuleOp"> {
  let summary = "Put ops into segments by their verdicts";
  let description = [{
    Every op goes into one `inlay.segment`; segments are closed (what they use is an input, constants are copied in) and
    stand in execution order. There are as few as the verdicts allow, whatever order the ops are written in; the labels
    of a path that proves it are on the function as `inlay.witness`. Unless `fewest-bytes=false`, ops
    stand in a later segment than the first that could hold them where less is then carried from segment to segment:
    the least of all partitions into as few segments for graphs of up to some thousand ops, nearly that for larger ones.
    Verdicts are changed where an op is demoted or
    joins another segment. With `strategy=cost` any op that nobody forced may go to a later target than its verdict's,
    and the reason has the numbers; docs/guide/cost-model.md says what they are made of. An `scf` op that is not wholly on one accelerator is a segment of its own, with its regions
    partitioned alike.

    Before:
    ```mlir
    %0 = inlay.relu %x {inlay.verdict = #inlay.verdict<"vulkan", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = inlay.segment #inlay.vulkan(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %1 = inlay.relu %arg0 {inlay.verdict = #inlay.verdict<"vulkan", "supported", "">}
        : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```
    `what-if` and `sweep` plan other partitions besides, without forming them; their figures
    are on the function in `inlay.partition`, and in reports.
    See test/Partition/form-segments.mlir and what-if.mlir.
  }];
  let options = [
    Option<"minBlockSize", "min-block-size", "int64_t", "1",
      "accelerator segments of fewer ops than this go to the next target that can run them">,
    ListOption<"exemptOps", "exempt-ops", "std::string",
      "ops by name that are worth a segment: one that holds such an op is never too small">,
    ListOption<"allowOps", "allow-ops", "std::string",
      "ops that accelerators may run, as for inlay-partition-annotate-targets">,
    Option<"fewestBytes", "fewest-bytes", "bool", "true",
      "ops may run later than they could, to carry fewer bytes from segment to segment">,
    Option<"costModel", "cost-model", "std::string", "\"\"",
      "file of the cost model to put into effect, or `default` for what the targets say of themselves">,
    Option<"whatIf", "what-if", "bool", "false",
      "find out what the partition would be if the first target ran ops that it has no code for, for reports">,
    Option<"sweep", "sweep", "bool", "false",
      "find out what the partition would be with min-block-size 1, 2, 3, 5, 8, ..., for reports">,
    Option<"strategy", "strategy", "::inlay::Strategy", "::inlay::Strategy::Levels",
      "how segments are formed: `levels`, the fewest; `cost`, the least time under the cost model; to compare with, "
      "`in-order` or `torch-tensorrt`",
      [{::llvm::cl::values(
        clEnumValN(::inlay::Strategy::Levels, "levels", "the fewest segments, whatever order the ops are written in"),
        clEnumValN(::inlay::Strategy::Cost, "cost",
                   "ops where compute, transfers and launches take the least time together"),
        clEnumValN(::inlay::Strategy::InOrder, "in-order",
                   "a new segment whenever the next op has another target; for comparison"),
        clEnumValN(::inlay::Strategy::TorchTensorRT, "torch-tensorrt",
                   "as Torch-TensorRT's TorchScript front end: an open segment per target, closed by the first op in "
                   "program order that depends on it; for comparison"))}]>,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def PartitionVerifyPass : Pass<"inlay-partition-verify", "::mlir::ModuleOp"> {
  let summary = "Check that the module is partitioned and that every segment is legal";
  let description = [{
    Independent of how segments are formed, in time linear in the graph:
    - every op of the function is in exactly one segment, and segments are closed;
    - each op has a verdict for its segment's target, that target can run it, and pins and forced fallbacks are met;
    - control flow that is split stands alone in a segment that is not merged;
    - nothing but tensors and scalars enters or leaves an accelerator;
    - ops that touch the same memory, one of them writing it, run in the order that `inlay.order` records;
    - copies equal their originals, and copies of a changed list have the changes made before it is read;
    - an accelerator's segments are not smaller than `min-block-size`, but for ops that have no other target.
    See test/Partition/verify.mlir and verify-invalid.mlir.
  }];
  let options = [
    Option<"minBlockSize", "min-block-size", "int64_t", "1", "what segments were formed with">,
    ListOption<"exemptOps", "exempt-ops", "std::string", "likewise: ops that are worth a segment however small">,
    ListOption<"fallbackOps", "fallback-ops", "std::string", "ops by name that had to fall back">,
  ];
}

def PartitionReportPass : Pass<"inlay-partition-report", "::mlir::ModuleOp"> {
  let summary = "Write a report on a partitioned module";
  let description = [{
    As `json` (segments with their inputs, outputs and bytes, ops with their reasons, a summary), as `text` (each
    segment with its ops, then the summary), as a short `table`, or as `html`: a page that needs no other file and no
    network. A module of several functions gives an array of reports, or one after the other. See test/Partition/report.mlir.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"\"",
      "json, text, table or html; by default what the file's name ends in: .txt and .html say so, anything else is json">,
    Option<"output", "output", "std::string", "\"-\"", "file to write; - is standard output">,
  ];
}

def SavePlacementPass : Pass<"inlay-partition-save-placement", "::mlir::ModuleOp"> {
  let summary = "Write which segment each op is in";
  let description = [{
    As a placement file: JSON with a fingerprint of each function's graph, for `inlay-partition-replay-placement` and
    `inlay-partition-diff`. See test/Partition/save-placement.mlir.
  }];
  let options = [Option<"output", "output", "std::string", "\"-\"", "file to write; - is standard output">];
}

def ReplayPlacementPass : Pass<"inlay-partition-replay-placement", "::mlir::ModuleOp"> {
  let summary = "Form the segments that a placement file has";
  let description = [{
    Instead of deciding anew: verdicts, segments, their order and copies are those of the file, whose graph must be this
    one. What the file says is checked like any input: that targets can run their ops, that nothing runs before what it
    depends on, that pins hold. See test/Partition/replay-placement.mlir.

    Before:
    ```mlir
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = inlay.segment #inlay.vulkan(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %1 = inlay.relu %arg0 {inlay.verdict = #inlay.verdict<"vulkan", "supported", "">}
        : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "the placement file">,
    ListOption<"besides", "besides", "std::string", "options given that would decide otherwise: an error that names them">,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def InlineSegmentsPass : Pass<"inlay-partition-inline-segments", "::mlir::ModuleOp"> {
  let summary = "Put the ops of all segments back into the graph";
  let description = [{
    Undoes the phase: gives the graph that was partitioned, in the order of the segments. Copies of ops and of constants
    become one with what they equal; verdicts and the witness go. Names that ops got stay.

    Before:
    ```mlir
    %0 = inlay.segment #inlay.vulkan(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %1 = inlay.relu %arg0 {inlay.verdict = #inlay.verdict<"vulkan", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
    ```
    See test/Partition/inline-segments.mlir.
  }];
}

def MergeSegmentsPass : Pass<"inlay-partition-merge-segments", "::mlir::ModuleOp"> {
  let summary = "Join neighbouring segments of one target";
  let description = [{
    Segments that stand next to each other in a block, constants between them aside, have one target and no
    `do_not_merge` become one, whoever made them. What one made for the other alone is no result any more; constants
    and copies of ops that both had become one.

    Before:
    ```mlir
    %0 = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %1 = inlay.neg %arg0 : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    %2 = inlay.segment #inlay.host(%0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %3 = inlay.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %3 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    %0 = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %1 = inlay.neg %arg0 : (tensor<4xf32>) -> tensor<4xf32>
      %2 = inlay.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %2 : tensor<4xf32>
    }
    ```
    See test/Partition/merge-segments.mlir.
  }];
}

#endif // INLAY_PARTITION_PASSES_TD
