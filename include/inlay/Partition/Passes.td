// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the partition phase, in the order of the pipeline.

#ifndef INLAY_PARTITION_PASSES_TD
#define INLAY_PARTITION_PASSES_TD

include "inlay/Support/Options.td"
include "mlir/Pass/PassBase.td"

/// The option of a pass that sets the same member of PartitionInfo as an option of the phase.
class SettingOption<PartitionOption option, string default = option.Default, string flags = "">
    : Option<option.Member, option.Flag, option.Type.CppType,
             !if(!eq(option.Type.CppType, "std::string"), "\"\"", default), option.Text, flags>;
class NamesSettingOption<PartitionOption option>
    : ListOption<option.Member, option.Flag, option.Type.CppType, option.Text>;

def OptionNamesOption : Option<"optionNames", "option-names", "::inlay::OptionNames", "::inlay::OptionNames::Flags",
  "names of options in errors and reasons: `flags` (fallback-ops) or `keywords` of Python and C++ (torch_executed_ops)",
  [{::llvm::cl::values(clEnumValN(::inlay::OptionNames::Flags, "flags", "names on command lines"),
                       clEnumValN(::inlay::OptionNames::Keywords, "keywords", "names in Python and C++"))}]>;

def AnnotateTargetsPass : Pass<"inlay-partition-annotate-targets", "::mlir::ModuleOp"> {
  let summary = "Decide for each op which target runs it, and record the reason";
  let description = [{
    Sets `inlay.verdict` on each op that partitioning places: the first target in `inlay.targets` that can run it, the
    reason why an earlier target does not, and the label of the op that caused this. Constants get no verdict, since
    each segment has a copy of them. Only tensors and scalars cross the border of an accelerator; an op that would break
    this rule falls back. Ops without a unique name get a name location, so that reports and reasons can name them.

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
    NamesSettingOption<torch_executed_ops>,
    NamesSettingOption<torch_executed_modules>,
    NamesSettingOption<torch_executed_locations>,
    NamesSettingOption<allow_ops>,
    SettingOption<enabled>,
    SettingOption<require_full_compilation>,
    OptionNamesOption,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def FormSegmentsPass : Pass<"inlay-partition-form-segments", "::mlir::ModuleOp"> {
  let summary = "Form segments from the verdicts of ops";
  let description = [{
    Every op goes into one `inlay.segment`. Segments are closed (values that they use are inputs, constants are copied
    in) and are in execution order. There are as few segments as the verdicts allow, for any order in which the ops are
    written. `inlay.witness` on the function lists the labels of a path that proves this. Unless `fewest-bytes=false`,
    an op may be in a later segment than the first that could hold it if fewer bytes are then carried from segment to
    segment. The result is the minimum for graphs of up to some thousand ops and close to it for larger ones. Verdicts
    change where an op is demoted or joins another segment. With `strategy=cost`, any op that is not forced may go to a
    later target than that of its verdict; the reason has the numbers, which docs/guide/cost-model.md explains. An `scf`
    op that is not wholly on one accelerator is isolated in a segment, and its regions are partitioned too.

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
    `what-if` and `sweep` also plan other partitions without forming them. Their figures are in `inlay.partition` of the
    function and in reports.
    See test/Partition/form-segments.mlir and what-if.mlir.
  }];
  let options = [
    SettingOption<min_block_size>,
    NamesSettingOption<exempt_ops>,
    NamesSettingOption<allow_ops>,
    SettingOption<fewest_bytes>,
    SettingOption<cost_model>,
    SettingOption<what_if>,
    SettingOption<sweep>,
    OptionNamesOption,
    SettingOption<strategy, "::inlay::Strategy::Levels",
      [{::llvm::cl::values(
        clEnumValN(::inlay::Strategy::Levels, "levels",
                   "the fewest segments, for any order in which the ops are written"),
        clEnumValN(::inlay::Strategy::Cost, "cost",
                   "the placement for which compute, transfers and launches take the least time together"),
        clEnumValN(::inlay::Strategy::InOrder, "in-order",
                   "a new segment whenever the next op has another target; for comparison"),
        clEnumValN(::inlay::Strategy::TorchTensorRT, "torch-tensorrt",
                   "like the TorchScript front end of Torch-TensorRT: an open segment per target, closed by the first op "
                   "in program order that depends on it; for comparison"))}]>,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def PartitionVerifyPass : Pass<"inlay-partition-verify", "::mlir::ModuleOp"> {
  let summary = "Check that the module is partitioned and that every segment is legal";
  let description = [{
    The check is independent of the code that forms segments and takes linear time:
    - every op of the function is in exactly one segment, and segments are closed;
    - each op has a verdict for the target of its segment, that target can run it, and pins and forced fallbacks hold;
    - control flow that is split is isolated in a segment that is not merged;
    - only tensors and scalars enter or leave an accelerator;
    - ops that access the same memory run in the order that `inlay.order` records if one of them writes it;
    - clones equal their originals, and clones of a changed list have the changes that were made before it is read;
    - accelerator segments are not smaller than `min-block-size`, except for ops that have no other target.
    See test/Partition/verify.mlir and verify-invalid.mlir.
  }];
  let options = [
    SettingOption<min_block_size>,
    NamesSettingOption<exempt_ops>,
    NamesSettingOption<torch_executed_ops>,
  ];
}

def PartitionReportPass : Pass<"inlay-partition-report", "::mlir::ModuleOp"> {
  let summary = "Write a report on a partitioned module";
  let description = [{
    The formats are `json` (segments with their inputs, outputs and bytes, ops with their reasons, a summary), `text`
    (each segment with its ops, then the summary), `table` (short), and `html` (a page that needs no other file and no
    network). For a module with several functions, `json` is an array of reports; the other formats append them. See
    test/Partition/report.mlir.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"\"",
      "json, text, table or html; by default text for .txt, html for .html, and json for other file names">,
    Option<"output", "output", "std::string", "\"-\"", "file to write; - is standard output">,
  ];
}

def SavePlacementPass : Pass<"inlay-partition-save-placement", "::mlir::ModuleOp"> {
  let summary = "Write the segment of each op to a placement file";
  let description = [{
    A placement file is JSON with a fingerprint of the graph of each function. `inlay-partition-replay-placement` and
    `inlay-partition-diff` read it. See test/Partition/save-placement.mlir.
  }];
  let options = [Option<"output", "output", "std::string", "\"-\"", "file to write; - is standard output">];
}

def ReplayPlacementPass : Pass<"inlay-partition-replay-placement", "::mlir::ModuleOp"> {
  let summary = "Form the segments of a placement file";
  let description = [{
    Verdicts, segments, their order and clones come from the file, which must be for the same graph. The file is checked
    like any input: targets must be able to run their ops, no op may run before an op that it depends on, and pins must
    hold. See test/Partition/replay-placement.mlir.

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
    ListOption<"besides", "besides", "std::string",
      "given options that contradict a placement: an error names the first">,
  ];
  let dependentDialects = ["::inlay::InlayDialect"];
}

def InlineSegmentsPass : Pass<"inlay-partition-inline-segments", "::mlir::ModuleOp"> {
  let summary = "Inline all segments into the graph";
  let description = [{
    Undoes the phase: the result is the graph before partitioning, in the order of the segments. Clones of ops and
    copies of constants are merged with their equals. Verdicts and the witness are removed. Names that ops got stay.

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
  let summary = "Merge adjacent segments of one target";
  let description = [{
    Adjacent segments of a block with the same target and without `do_not_merge` become one. Constants between them do
    not separate them. A value that only the other segments read is no result any more. Constants and clones of ops that
    several segments had are merged.

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
