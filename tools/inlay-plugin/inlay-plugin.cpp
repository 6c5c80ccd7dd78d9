// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inlay's dialects and passes as a plugin for drivers like mlir-opt that load MLIR from the same shared library.

#include "inlay/Pipeline/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Inlay", "0.1.0",
          [](mlir::DialectRegistry *registry) { inlay::registerAll(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Inlay", "0.1.0", [] { inlay::registerAllPasses(); }};
}
