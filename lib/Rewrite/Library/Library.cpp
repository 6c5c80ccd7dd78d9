// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the rule libraries by name. The rules are the *.pdl.mlir files of this folder.

#include "inlay/Rewrite/Library.h"
#include "inlay/Support/Suggest.h"

using namespace inlay;

llvm::ArrayRef<RuleLibrary> inlay::getRuleLibraries() {
  static const RuleLibrary libraries[] = {
#include "Library.inc"
  };
  return libraries;
}

llvm::Error inlay::addLibrary(PatternManager &manager, llvm::StringRef name, mlir::MLIRContext *context) {
  std::vector<std::string> names;
  for (const RuleLibrary &library : getRuleLibraries()) {
    if (library.name == name)
      return manager.addPDL(library.text, (name + ".pdl.mlir").str(), context);
    names.push_back(library.name.str());
  }
  return llvm::createStringError("expected the name of a rule library, but got '" + name + "'" + suggest(name, names));
}
