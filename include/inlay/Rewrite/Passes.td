// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the rewrite phase.

#ifndef INLAY_REWRITE_PASSES_TD
#define INLAY_REWRITE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RewritePass : Pass<"inlay-rewrite", "::mlir::ModuleOp"> {
  let summary = "Rewrite the graph with patterns from files";
  let description = [{
    Applies PDL patterns until none matches. The symbol of each `pdl.pattern` is its label. Patterns may name ops of any
    dialect, registered or not. Either the whole run succeeds or the module stays unchanged. A replacement with another
    type, a replacement that is not available at a use, and rules that undo each other are errors that name the label.
    docs/guide/rewrite.md describes how to write patterns.

    With the pattern
    ```mlir
    pdl.pattern @add_to_sub : benefit(1) {
      %a = pdl.operand
      %b = pdl.operand
      %type = pdl.type
      %add = pdl.operation "inlay.add"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
      pdl.rewrite %add {
        %sub = pdl.operation "inlay.sub"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
        pdl.replace %add with %sub
      }
    }
    ```
    the op
    ```mlir
    %0 = inlay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = inlay.sub %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    See test/Rewrite/rewrite.mlir.
  }];
  let options = [
    ListOption<"patterns", "patterns", "std::string", "files of PDL patterns">,
    ListOption<"libraries", "libraries", "std::string",
      "rule libraries of Inlay: `cleanup`, `fusions`, `kernels`, `expansions`; docs/guide/rewrite.md lists their rules">,
    Option<"check", "check", "::inlay::RewriteCheck", "::inlay::RewriteCheck::Off",
      "when to run patterns and their replacements on random inputs; different results are an error",
      [{::llvm::cl::values(
        clEnumValN(::inlay::RewriteCheck::Off, "off", "never"),
        clEnumValN(::inlay::RewriteCheck::Registration, "registration", "each pattern, on random graphs that it matches"),
        clEnumValN(::inlay::RewriteCheck::Each, "each", "each match, before it is rewritten"))}]>,
    ListOption<"meanings", "meanings", "std::string",
      "libraries or files of patterns that expand plugins into ops of the dialect; only `check` uses them">,
    ListOption<"labels", "labels", "std::string",
      "enable only patterns whose label matches one of these globs; a glob that matches no label is an error">,
    ListOption<"disabled", "disabled", "std::string", "disable patterns whose label matches one of these globs">,
    ListOption<"args", "args", "std::string",
      "arguments for constraints and rewrites, as name=value; the value is the text of an attribute, else a string">,
    Option<"driver", "driver", "::inlay::RewriteDriver", "::inlay::RewriteDriver::Fixpoint",
      "order in which ops are visited: `fixpoint`, `sweep` or `greedy`",
      [{::llvm::cl::values(
        clEnumValN(::inlay::RewriteDriver::Fixpoint, "fixpoint", "until no pattern matches"),
        clEnumValN(::inlay::RewriteDriver::Sweep, "sweep", "each op once, in order"),
        clEnumValN(::inlay::RewriteDriver::Greedy, "greedy", "MLIR's greedy driver, for comparison"))}]>,
    Option<"limit", "limit", "int64_t", "-1",
      "maximum number of rewrites, to find a wrong one by bisection; -1 for no limit">,
    // The default is that of RewriteOptions::budget.
    Option<"budget", "budget", "double", "10",
      "rewrites per op; a run that does more, plus 1000, is considered non-terminating, which is an error">,
    Option<"keepDeadCode", "keep-dead-code", "bool", "false", "keep ops whose results have no uses">,
    Option<"acrossSegments", "across-segments", "bool", "false",
      "let a match reach from an open `inlay.segment` into the ops around it">,
    ListOption<"explain", "explain", "std::string",
      "labels of patterns; after all rewrites, a remark for each names the op that comes closest to matching">,
    Option<"trace", "trace", "std::string", "\"\"",
      "file for a JSON list of all rewrites, each with its label and the ops before and after; - for standard output">,
  ];
  let dependentDialects = ["::inlay::InlayDialect", "::mlir::func::FuncDialect", "::mlir::pdl::PDLDialect"];
}

#endif // INLAY_REWRITE_PASSES_TD
