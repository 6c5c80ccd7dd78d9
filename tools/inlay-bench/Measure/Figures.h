// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures of a suite: tables that are printed, and written as JSON with the command and the machine.

#ifndef TOOLS_INLAY_BENCH_MEASURE_FIGURES_H
#define TOOLS_INLAY_BENCH_MEASURE_FIGURES_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// A table. The name of a column ends in its unit (`form_ms`, `peak_mb`). A cell without a figure is null.
struct Table {
  std::string name;
  std::string counted; ///< Description of the figures, in sentences.
  std::vector<std::string> columns;
  std::vector<std::vector<llvm::json::Value>> rows;

  /// Adds a row. Columns that `cells` lacks are null.
  void addRow(const llvm::json::Object &cells);
};

/// All figures of one run.
class Figures {
public:
  Figures(std::string suite, std::string command) : suite(std::move(suite)), command(std::move(command)) {}

  /// Prints the table to `stream` and keeps it for `write`.
  void add(Table table, llvm::raw_ostream &stream);
  /// Prints a note to `stream`, for example about a skipped peer, and keeps it for `write`.
  void addNote(std::string note, llvm::raw_ostream &stream);

  /// Writes the tables and notes as JSON, with the command and the machine.
  void write(llvm::raw_ostream &stream) const;

private:
  std::string suite, command;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_FIGURES_H
