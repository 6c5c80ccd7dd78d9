// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the code for a processor only requires features that the runtime can detect.

#include "Target/Host/LLVM/Processors.h"
#include "Runtime/Host/Support/Processor.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace inlay;

#if defined(__x86_64__)

TEST(Processors, NeedWhatTheRuntimeCanTell) {
  std::vector<std::string> known = rt::host::knownFeatures();
  llvm::Triple x86("x86_64-unknown-linux-gnu"), arm("aarch64-unknown-linux-gnu");
  for (llvm::StringRef feature : selectedFeatures(x86))
    EXPECT_TRUE(llvm::is_contained(known, feature.str())) << feature.str();
  EXPECT_TRUE(llvm::is_sorted(selectedFeatures(x86)));
  EXPECT_TRUE(llvm::is_sorted(selectedFeatures(arm)));
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

TEST(Processors, OthersThanThisAreMadeCodeFor) {
  mlir::MLIRContext context;
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  auto version = findProcessor(loc, "armv8.2-a"), cpu = findProcessor(loc, "neoverse-n1");
  ASSERT_TRUE(mlir::succeeded(version) && mlir::succeeded(cpu));
  EXPECT_EQ(version->triple.str(), "aarch64-unknown-linux-gnu");
  EXPECT_EQ(version->features, "+crc,+fp-armv8,+lse,+neon,+rdm");
  EXPECT_EQ(version->required, (std::vector<std::string>{"crc", "fp-armv8", "lse", "neon", "rdm"}));
  EXPECT_EQ(cpu->tuning, "neoverse-n1");
  EXPECT_TRUE(llvm::is_contained(cpu->required, "dotprod"));
  EXPECT_FALSE(llvm::is_contained(cpu->required, "sve"));
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(loc, *cpu);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->getTargetTriple().getArch(), llvm::Triple::aarch64);
}

struct ProcessorErrors : testing::Test {
  ProcessorErrors() {
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  }
  mlir::MLIRContext context;
  std::string message;
};

TEST_F(ProcessorErrors, OneArchitectureIsAllThatAProgramHasCodeFor) {
  EXPECT_TRUE(mlir::failed(findProcessors(mlir::UnknownLoc::get(&context), {"x86-64-v3", "armv8-a"})));
  EXPECT_EQ(message,
            "host processors 'x86-64-v3' and 'armv8-a': expected processors of one architecture, but got x86_64 "
            "and aarch64");
}

TEST_F(ProcessorErrors, UnknownOnesAreNamed) {
  EXPECT_TRUE(mlir::failed(findProcessor(mlir::UnknownLoc::get(&context), "x86-64-v9")));
  EXPECT_NE(message.find("unknown host processor 'x86-64-v9': expected native"), std::string::npos) << message;
}

#endif
