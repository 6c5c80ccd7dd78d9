// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that one pass per phase, in a pass manager that is filled by hand, has the same result as the pipeline.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Pipeline/Pipeline.h"
#include "inlay/Rewrite/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace inlay;

namespace {

constexpr const char *kModule = R"(
module attributes {inlay.targets = [#inlay.host]} {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = inlay.opaque "aten::view"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

class PhasePassesTest : public testing::Test {
protected:
  PhasePassesTest() {
    DialectRegistry registry;
    registerAll(registry);
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> parse(llvm::StringRef text = kModule) { return parseSourceString<ModuleOp>(text, &context); }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  MLIRContext context;
};

std::string dropOpaque(std::string text) {
  size_t begin = text.find("    %1 ");
  return text.erase(begin, text.find('\n', begin) - begin + 1);
}

TEST_F(PhasePassesTest, DoWhatThePipelineDoes) {
  std::string text = dropOpaque(kModule);
  OwningOpRef<ModuleOp> byPasses = parse(text), byPipeline = parse(text);
  ASSERT_TRUE(byPasses && byPipeline);
  PassManager passes(&context), pipeline(&context);
  passes.addPass(createImportPass());
  passes.addPass(createRewritePass());
  passes.addPass(createCSEPass());
  passes.addPass(createPartitionPass());
  passes.addPass(createShapePass());
  passes.addPass(createConvertPass());
  passes.addPass(createStitchPass());
  buildPipeline(pipeline, Options());
  EXPECT_TRUE(succeeded(passes.run(*byPasses)));
  EXPECT_TRUE(succeeded(pipeline.run(*byPipeline)));
  EXPECT_FALSE(byPasses->getOps<plan::ProgramOp>().empty());
  EXPECT_EQ(print(*byPasses), print(*byPipeline));
}

TEST_F(PhasePassesTest, StandAloneToo) {
  OwningOpRef<ModuleOp> module = parse(dropOpaque(kModule));
  PassManager manager(&context);
  PartitionInfo info;
  info.minBlockSize = 2;
  manager.addPass(createPartitionPass(info));
  ASSERT_TRUE(succeeded(manager.run(*module)));
  EXPECT_TRUE(module->walk([](SegmentOp) { return WalkResult::interrupt(); }).wasInterrupted());
}

TEST_F(PhasePassesTest, FailWhereThePhaseFails) {
  OwningOpRef<ModuleOp> module = parse();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  PassManager manager(&context);
  manager.addPass(createPartitionPass());
  EXPECT_TRUE(failed(manager.run(*module)));
  EXPECT_EQ(message, "no target can run 'aten::view'");
}

} // namespace
