// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code for a processor needs is what the runtime can find out about one.

#include "Processors.h"
#include "inlay/Runtime/Host/Processor.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace inlay;

#if defined(__x86_64__)

TEST(Processors, NeedWhatTheRuntimeCanTell) {
  std::vector<std::string> known = rt::host::knownFeatures();
  for (llvm::StringRef feature : selectedFeatures())
    EXPECT_TRUE(llvm::is_contained(known, feature.str())) << feature.str();
  EXPECT_TRUE(llvm::is_sorted(selectedFeatures()));
}

TEST(Processors, NativeIsWhatTheRuntimeFinds) {
  mlir::MLIRContext context;
  auto native = findProcessor(mlir::UnknownLoc::get(&context), "native");
  ASSERT_TRUE(mlir::succeeded(native));
  const std::vector<std::string> &found = rt::host::thisProcessor().features;
  for (const std::string &feature : native->required)
    EXPECT_TRUE(llvm::is_contained(found, feature)) << feature;
}

TEST(Processors, BestComeFirst) {
  mlir::MLIRContext context;
  auto processors =
      findProcessors(mlir::UnknownLoc::get(&context), {"x86-64", "x86-64-v4", "x86-64-v2", "x86-64-v3", "x86-64-v2"});
  ASSERT_TRUE(mlir::succeeded(processors));
  std::vector<std::string> names;
  for (const HostProcessor &processor : *processors)
    names.push_back(processor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64"}));
  EXPECT_TRUE(llvm::is_contained((*processors)[1].required, "avx2"));
  EXPECT_FALSE(llvm::is_contained((*processors)[2].required, "avx2"));
}

TEST(Processors, UnknownOnesAreNamed) {
  mlir::MLIRContext context;
  std::string message;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(mlir::failed(findProcessor(mlir::UnknownLoc::get(&context), "x86-64-v9")));
  EXPECT_NE(message.find("unknown host processor 'x86-64-v9': expected native"), std::string::npos) << message;
}

#endif
