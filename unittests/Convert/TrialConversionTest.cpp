// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Convert/GraphToLinalg/TrialConversion.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace inlay;

namespace {

class TrialConversion : public testing::Test {
protected:
  TrialConversion() {
    DialectRegistry registry;
    registerGraphToLinalgDialects(registry);
    registry.insert<InlayDialect, scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Returns the first op in `text`, which may use the floats %x, the integers %i and the condition %p.
  Operation *parse(StringRef text) {
    std::string source = ("func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>, %p: i1) {\n" + text + "\nreturn }").str();
    module = parseSourceString<ModuleOp>(source, &context);
    return module ? &(*module->getOps<func::FuncOp>().begin()).front().front() : nullptr;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(TrialConversion, HandsOutWhatTheOpBecame) {
  Operation *op = parse("%0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>");
  ASSERT_TRUE(op);
  OwningOpRef<ModuleOp> result;
  EXPECT_TRUE(tryConvertToLinalg(op, &result).isSupported());
  ASSERT_TRUE(result);
  EXPECT_TRUE(succeeded(verify(*result)));
  auto function = result->lookupSymbol<func::FuncOp>("trial");
  ASSERT_TRUE(function);
  EXPECT_EQ(function.getArgumentTypes(), op->getOperandTypes());
  EXPECT_EQ(function.getResultTypes(), op->getResultTypes());
  EXPECT_FALSE(function.getOps<linalg::GenericOp>().empty());
  EXPECT_EQ(op->getName().getStringRef(), "inlay.relu"); // The original does not change.
}

TEST_F(TrialConversion, SaysWhyNotAndNothingElse) {
  Operation *op = parse("%0 = inlay.div %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>");
  ASSERT_TRUE(op);
  unsigned diagnostics = 0;
  ScopedDiagnosticHandler count(&context, [&](Diagnostic &) { ++diagnostics; });
  OwningOpRef<ModuleOp> result;
  Verdict verdict = tryConvertToLinalg(op, &result);
  EXPECT_EQ(verdict.code, ReasonCode::UnsupportedType);
  EXPECT_EQ(verdict.text, "inlay.div isn't defined on elements of i32");
  EXPECT_FALSE(result);
  EXPECT_EQ(diagnostics, 0u);
}

TEST_F(TrialConversion, NamesForeignOps) {
  Verdict verdict = tryConvertToLinalg(parse("%0 = inlay.opaque \"aten::foo\"(%x) : (tensor<4xf32>) -> tensor<4xf32>"));
  EXPECT_EQ(verdict.code, ReasonCode::NoConverter);
  EXPECT_EQ(verdict.text, "no pattern converts aten::foo");
}

TEST_F(TrialConversion, LooksIntoRegions) {
  Operation *op = parse(R"(%0 = scf.if %p -> tensor<4xf32> {
    %1 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  })");
  ASSERT_TRUE(op);
  OwningOpRef<ModuleOp> result;
  EXPECT_TRUE(tryConvertToLinalg(op, &result).isSupported());
  ASSERT_TRUE(result);
  EXPECT_TRUE(succeeded(verify(*result)));
  EXPECT_EQ(result->lookupSymbol<func::FuncOp>("trial").getNumArguments(), 2u); // %p, and the captured %x

  op = parse(R"(scf.if %p {
    inlay.opaque "aten::print"(%x) : (tensor<4xf32>) -> ()
  })");
  EXPECT_EQ(tryConvertToLinalg(op).text, "no pattern converts aten::print");
}

} // namespace
