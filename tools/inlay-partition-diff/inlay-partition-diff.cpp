// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-partition-diff: prints the ops that moved between two placement files or partition reports. The exit status is
// 0 if nothing moved, 1 if something did, and 2 for an error.

#include "inlay/Partition/PlacementFile.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;

static llvm::Expected<PlacementFile> read(const char *path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("can't read: " + buffer.getError().message());
  return readPlacementOrReport((*buffer)->getBuffer());
}

int main(int argc, char **argv) {
  llvm::StringRef first = argc > 1 ? argv[1] : "";
  if (argc == 2 && (first == "--help" || first == "-h")) {
    llvm::outs()
        << "usage: inlay-partition-diff BEFORE AFTER\n\nCompares two placement files (save-placement=FILE) or "
           "partition reports (report=FILE); - is standard input.\nPrints the ops that moved with their reasons, "
           "segments and bytes. Exit status: 0 if equal, 1 if different, 2 for an error.\n";
    return 0;
  }
  if (argc != 3) {
    llvm::errs() << "error: expected two files to compare, but got " << argc - 1 << ": see --help\n";
    return 2;
  }
  PlacementFile files[2];
  for (int number : {0, 1}) {
    llvm::Expected<PlacementFile> file = read(argv[number + 1]);
    if (!file) {
      llvm::errs() << "error: '" << argv[number + 1] << "': " << llvm::toString(file.takeError()) << "\n";
      return 2;
    }
    files[number] = std::move(*file);
  }
  std::string differences = comparePlacements(files[0], files[1]);
  llvm::outs() << differences;
  return differences.empty() ? 0 : 1;
}
