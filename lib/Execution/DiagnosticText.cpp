// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats one diagnostic with its file location and notes.

#include "DiagnosticText.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace inlay;

/// Returns the innermost file location in `loc`, or null if there is none.
static FileLineColLoc findFile(Location loc) {
  return llvm::TypeSwitch<Location, FileLineColLoc>(loc)
      .Case([](FileLineColLoc file) { return file; })
      .Case([](NameLoc name) { return findFile(name.getChildLoc()); })
      .Case([](CallSiteLoc call) { return findFile(call.getCallee()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (FileLineColLoc file = findFile(part))
            return file;
        return FileLineColLoc();
      })
      .Default([](Location) { return FileLineColLoc(); });
}

static void formatOne(llvm::raw_ostream &stream, Diagnostic &diagnostic, StringRef severity) {
  FileLineColLoc file = findFile(diagnostic.getLocation());
  StringRef name = getLocationName(diagnostic.getLocation());
  if (file)
    stream << file.getFilename().getValue();
  if (file && file.getLine()) // The location of a module that the text does not contain has no line.
    stream << ':' << file.getLine() << ':' << file.getColumn();
  if (!name.empty())
    stream << (file ? " (" : "'") << name << (file ? ")" : "'");
  SmallVector<StringRef> calls = getCalls(diagnostic.getLocation());
  if (!calls.empty())
    stream << (file || !name.empty() ? " of " : "") << llvm::join(calls, ", ");
  stream << (file || !name.empty() || !calls.empty() ? ": " : "") << severity << ": " << diagnostic;
}

std::string inlay::formatDiagnostic(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  formatOne(stream, diagnostic, "error");
  for (Diagnostic &note : diagnostic.getNotes()) {
    stream << '\n';
    formatOne(stream, note, "note");
  }
  return text;
}
