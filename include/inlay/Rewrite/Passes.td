// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the rewrite phase.

#ifndef INLAY_REWRITE_PASSES_TD
#define INLAY_REWRITE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RewritePass : Pass<"inlay-rewrite", "::mlir::ModuleOp"> {
  let summary = "Rewrite the graph by patterns from files";
  let description = [{
    Applies PDL patterns, of which each `pdl.pattern`'s symbol is the label, until none matches. Ops of any dialect may
    be named, registered or not. Either the whole run succeeds or the module stays as it was: a replacement of another
    type, one that isn't there where it is used, and rules that undo each other are errors that name the label.
    docs/guide/rewrite.md says how to write patterns.

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
      "rules that come with Inlay: `cleanup`, `fusions`, `kernels`, `expansions`; docs/guide/rewrite.md lists them">,
    Option<"check", "check", "::inlay::RewriteCheck", "::inlay::RewriteCheck::Off",
      "whether patterns are run against their replacements on drawn inputs, and what differs is an error",
      [{::llvm::cl::values(
        clEnumValN(::inlay::RewriteCheck::Off, "off", "never"),
        clEnumValN(::inlay::RewriteCheck::Registration, "registration", "each pattern, on what it may match"),
        clEnumValN(::inlay::RewriteCheck::Each, "each", "each match, before it is rewritten"))}]>,
    ListOption<"meanings", "meanings", "std::string",
      "libraries or files of patterns that turn plugins into what they compute, for `check` alone">,
    ListOption<"labels", "labels", "std::string",
      "only patterns whose label fits one of these globs; one that fits none is an error">,
    ListOption<"disabled", "disabled", "std::string", "no patterns whose label fits one of these globs">,
    ListOption<"args", "args", "std::string",
      "arguments that constraints and rewrites see, as name=value; a value is an attribute's text, or else a string">,
    Option<"driver", "driver", "::inlay::RewriteDriver", "::inlay::RewriteDriver::Fixpoint",
      "how ops are visited: `fixpoint`, `sweep` or `greedy`",
      [{::llvm::cl::values(
        clEnumValN(::inlay::RewriteDriver::Fixpoint, "fixpoint", "until no pattern matches"),
        clEnumValN(::inlay::RewriteDriver::Sweep, "sweep", "each op once, in order"),
        clEnumValN(::inlay::RewriteDriver::Greedy, "greedy", "upstream's greedy driver, to compare with"))}]>,
    Option<"limit", "limit", "int64_t", "-1",
      "at most so many rewrites, to find by bisection the one that is wrong; -1 for no limit">,
    Option<"budget", "budget", "double", "10",
      "more rewrites per op than this (and 1000) are taken for rewriting without end, which is an error">,
    Option<"keepDeadCode", "keep-dead-code", "bool", "false", "don't erase ops that nothing uses">,
    Option<"acrossSegments", "across-segments", "bool", "false",
      "let a match reach out of an open `inlay.segment` into what is around it">,
    ListOption<"explain", "explain", "std::string",
      "labels of patterns to give a remark on, after all rewrites, about the op that comes nearest to matching">,
    Option<"trace", "trace", "std::string", "\"\"",
      "file for a JSON list of all rewrites, each with its label and the ops before and after; - is standard output">,
  ];
  let dependentDialects = ["::inlay::InlayDialect", "::mlir::func::FuncDialect", "::mlir::pdl::PDLDialect"];
}

#endif // INLAY_REWRITE_PASSES_TD
