// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the command line of a tool with LLVM's library, and prints notices and errors in one form. inlay-run has a
// parser of its own, since it links no LLVM.

#include "ToolOptions.h"

#include "llvm/Support/raw_ostream.h"

using namespace inlay;
namespace cl = llvm::cl;

cl::OptionCategory &tools::toolCategory() {
  static cl::OptionCategory tool("Options");
  return tool;
}

void tools::parseOptions(int argc, char **argv, llvm::StringRef overview, llvm::ArrayRef<cl::OptionCategory *> more) {
  auto isOurs = [&](cl::Option *option) {
    return llvm::is_contained(option->Categories, &toolCategory()) ||
           llvm::any_of(more,
                        [&](cl::OptionCategory *category) { return llvm::is_contained(option->Categories, category); });
  };
  llvm::SmallVector<cl::Option *> others;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (!isOurs(option) && name != "help" && name != "h" && name != "version")
      others.push_back(option);
  for (cl::Option *option : others)
    option->removeArgument();
  cl::ParseCommandLineOptions(argc, argv, (overview + "\n").str());
}

void tools::printNotice(llvm::StringRef notice) {
  if (!notice.empty())
    llvm::errs() << "note: " << notice << "\n";
}

int tools::fail(const rt::Status &status) {
  // A diagnostic of the compiler starts with a location, which "error: " follows.
  bool placed = llvm::StringRef(status.message()).split('\n').first.contains(": error: ");
  llvm::errs() << (placed ? "" : "error: ") << status.message() << "\n";
  return 1;
}
