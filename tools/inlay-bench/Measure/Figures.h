// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a suite measured: tables, printed for people and written as JSON with the command and the machine.

#ifndef TOOLS_INLAY_BENCH_MEASURE_FIGURES_H
#define TOOLS_INLAY_BENCH_MEASURE_FIGURES_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// One table. A column's name ends in its unit (`form_ms`, `peak_mb`); a cell is null where there is no figure.
struct Table {
  std::string name;
  std::string counted; ///< what the figures are, in sentences
  std::vector<std::string> columns;
  std::vector<std::vector<llvm::json::Value>> rows;

  /// A row from an object; columns it lacks are null.
  void addRow(const llvm::json::Object &cells);
};

/// All that one run measured.
class Figures {
public:
  Figures(std::string suite, std::string command) : suite(std::move(suite)), command(std::move(command)) {}

  /// Prints the table to `stream` and keeps it for `write`.
  void add(Table table, llvm::raw_ostream &stream);
  /// Leaves a word, say on what was skipped, in both.
  void addNote(std::string note, llvm::raw_ostream &stream);

  void write(llvm::raw_ostream &stream) const;

private:
  std::string suite, command;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_FIGURES_H
