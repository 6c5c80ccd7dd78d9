// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures rewriting of one graph, by Inlay and upstream. Suites/RewriteSuite.cpp lists the sizes, and
// Contest/RewritePeers.cpp runs Python's rewriters.

#include "RewriteSteps.h"
#include "Measure/Measure.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Rewrite/Explain.h"
#include "inlay/Rewrite/RewritePatternManager.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

llvm::ArrayRef<NamedRewriter> bench::getRewriters() {
  static const NamedRewriter rewriters[] = {{"inlay", Rewriter::Inlay},
                                            {"inlay-greedy", Rewriter::InlayGreedy},
                                            {"mlir-greedy", Rewriter::Upstream},
                                            {"mlir-greedy-top-down", Rewriter::UpstreamTop}};
  return rewriters;
}

namespace {
struct Setting {
  Setting() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<InlayDialect, func::FuncDialect, pdl::PDLDialect, pdl_interp::PDLInterpDialect>();
    context.allowUnregisteredDialects();
  }
  MLIRContext context;
};
} // namespace

static OwningOpRef<ModuleOp> makeBlocks(MLIRContext &context, uint32_t ops) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Type type = RankedTensorType::get({4, 4}, builder.getF32Type());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({type, type, type, type}, {type}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  Value x = block->getArgument(0), w = block->getArgument(1), b = block->getArgument(2), s = block->getArgument(3);
  for (uint32_t made = 0; made + 5 <= ops; made += 5) {
    x = MatmulOp::create(builder, loc, type, x, w);
    x = AddOp::create(builder, loc, type, x, b);
    x = ReluOp::create(builder, loc, type, x);
    x = MulOp::create(builder, loc, type, x, s);
    x = SigmoidOp::create(builder, loc, type, x);
  }
  func::ReturnOp::create(builder, loc, x);
  return module;
}

static std::string writePattern(unsigned number) {
  std::string name = number == 0 ? "inlay.matmul" : "t.other" + std::to_string(number);
  return "pdl.pattern @p" + std::to_string(number) + R"( : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %first = pdl.operation ")" +
         name + R"("(%x, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %product = pdl.result 0 of %first
  %add = pdl.operation "inlay.add"(%product, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %sum = pdl.result 0 of %add
  %relu = pdl.operation "inlay.relu"(%sum : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu {
    %name = pdl.attribute = "fused_linear"
    %new = pdl.operation "inlay.plugin"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %relu with %new
  }
}
)";
}

static std::string writePatterns(uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i)
    text += writePattern(i);
  return text;
}

static Status addPatterns(RewritePatternManager &manager, const std::string &text, MLIRContext &context) {
  if (llvm::Error error = manager.addPDL(text, "patterns", &context))
    return {StatusCode::Internal, llvm::toString(std::move(error))};
  return Status::ok();
}

static StatusOr<double> runInlay(ModuleOp module, const std::string &text, bool greedy, json::Object &found) {
  RewritePatternManager manager;
  Stopwatch compiling;
  INLAY_RETURN_IF_ERROR(addPatterns(manager, text, *module.getContext()));
  found["compile_ms"] = compiling.milliseconds();
  RewriteOptions options;
  options.driver = greedy ? RewriteDriver::Greedy : RewriteDriver::Fixpoint;
  Stopwatch watch;
  if (failed(manager.rewrite(module, options)))
    return Status(StatusCode::Internal, "rewriting failed");
  return watch.milliseconds();
}

static StatusOr<double> runUpstream(ModuleOp module, const std::string &text, bool topDown, json::Object &found) {
  Stopwatch compiling;
  auto patterns = parseSourceString<ModuleOp>(text, module.getContext());
  if (!patterns)
    return Status(StatusCode::Internal, "the patterns don't parse");
  RewritePatternSet set(module.getContext());
  set.add(PDLPatternModule(std::move(patterns)));
  FrozenRewritePatternSet frozen(std::move(set));
  found["compile_ms"] = compiling.milliseconds();
  GreedyRewriteConfig config;
  if (topDown)
    config.setUseTopDownTraversal().enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
  Stopwatch watch;
  if (failed(applyPatternsGreedily(module, frozen, config)))
    return Status(StatusCode::Internal, "upstream's driver did not reach a fixpoint");
  return watch.milliseconds();
}

StatusOr<json::Object> bench::measureRewrite(uint32_t ops, uint32_t patterns, Rewriter rewriter) {
  Setting setting;
  OwningOpRef<ModuleOp> module = makeBlocks(setting.context, ops);
  uint32_t blocks = ops / 5;
  std::string text = writePatterns(patterns);
  json::Object found{{"ops", blocks * 5}, {"patterns", patterns}};
  bool ours = rewriter == Rewriter::Inlay || rewriter == Rewriter::InlayGreedy;
  StatusOr<double> taken = ours ? runInlay(*module, text, rewriter == Rewriter::InlayGreedy, found)
                                : runUpstream(*module, text, rewriter == Rewriter::UpstreamTop, found);
  if (!taken.isOk())
    return taken.status();
  uint32_t fused = 0, left = 0;
  module->walk([&](Operation *op) {
    fused += isa<PluginOp>(op);
    left += !isa<ModuleOp, func::FuncOp, func::ReturnOp>(op);
  });
  if (fused != blocks || left != blocks * 3)
    return Status(StatusCode::Internal, "expected " + std::to_string(blocks) + " fused ops of " +
                                            std::to_string(blocks * 3) + ", but got " + std::to_string(fused) + " of " +
                                            std::to_string(left));
  found["rewrite_ms"] = *taken;
  return found;
}

StatusOr<json::Object> bench::measureTraced(uint32_t ops, const std::string &pdl) {
  Setting setting;
  std::string text;
  llvm::raw_string_ostream(text) << *makeBlocks(setting.context, ops);
  // Everything runs once before it is timed, as for the peers, since the first allocations of a process are not part of
  // rewriting. The first module has another name because the context keeps locations, and creating the locations of the
  // timed module is part of its import.
  auto first = parseSourceString<ModuleOp>(text, &setting.context, "first");
  json::Object untimed;
  INLAY_RETURN_IF_ERROR(runInlay(*first, pdl, /*greedy=*/false, untimed).status());
  first = nullptr;
  Stopwatch importing;
  auto module = parseSourceString<ModuleOp>(text, &setting.context);
  json::Object found{{"ops", ops / 5 * 5}, {"import_ms", importing.milliseconds()}};
  StatusOr<double> taken = runInlay(*module, pdl, /*greedy=*/false, found);
  if (!taken.isOk())
    return taken.status();
  found["rewrite_ms"] = *taken;
  std::string after;
  Stopwatch exporting;
  llvm::raw_string_ostream(after) << *module;
  found["export_ms"] = exporting.milliseconds();
  uint32_t fused = llvm::StringRef(after).count("\"my.linear_relu\"(");
  if (fused != ops / 5)
    return Status(StatusCode::Internal,
                  "expected " + std::to_string(ops / 5) + " fused ops, but got " + std::to_string(fused));
  return found;
}

StatusOr<json::Object> bench::measureSharedValue(uint32_t users, bool pairs) {
  Setting setting;
  std::string body;
  for (uint32_t i = 0; i < users; ++i)
    body += "%v" + std::to_string(i) + " = \"t." +
            (i % 2   ? "left"
             : pairs ? "right"
                     : "other") +
            "\"(%x, %y) : (f32, f32) -> f32\n\"t.use\"(%v" + std::to_string(i) + ") : (f32) -> ()\n";
  auto module =
      parseSourceString<ModuleOp>("func.func @main(%x: f32, %y: f32) {\n" + body + "return\n}", &setting.context);
  RewritePatternManager manager;
  INLAY_RETURN_IF_ERROR(addPatterns(manager, R"(pdl.pattern @both : benefit(1) {
  %x = pdl.operand
  %a = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %p = pdl.operation "t.left"(%x, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %q = pdl.operation "t.right"(%x, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "t.both"(%x, %a, %b : !pdl.value, !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
    %r0 = pdl.result 0 of %new
    %r1 = pdl.result 1 of %new
    pdl.replace %p with (%r0 : !pdl.value)
    pdl.replace %q with (%r1 : !pdl.value)
  }
})",
                                    setting.context));
  Stopwatch watch;
  FailureOr<uint64_t> count = manager.rewrite(*module);
  double taken = watch.milliseconds();
  uint64_t wanted = pairs ? users / 2 : 0;
  if (failed(count) || *count != wanted)
    return Status(StatusCode::Internal,
                  "expected " + std::to_string(wanted) + " rewrites, but got " + std::to_string(count.value_or(0)));
  return json::Object{{"users", users}, {"rewrites", static_cast<int64_t>(wanted)}, {"rewrite_ms", taken}};
}

StatusOr<json::Object> bench::measureExplain(uint32_t ops) {
  Setting setting;
  OwningOpRef<ModuleOp> module = makeBlocks(setting.context, ops);
  RewritePatternManager manager;
  INLAY_RETURN_IF_ERROR(addPatterns(manager, writePatterns(2), setting.context));
  Stopwatch watch;
  Explanation explanation = explain(*manager.get("p1"), *module);
  double taken = watch.milliseconds();
  if (explanation.mismatches.empty() || !isa<MatmulOp>(explanation.mismatches.front().op))
    return Status(StatusCode::Internal,
                  "expected the explanation to name the matmul, but got: " + explanation.str("p1"));
  return json::Object{{"ops", ops / 5 * 5}, {"explain_ms", taken}};
}
