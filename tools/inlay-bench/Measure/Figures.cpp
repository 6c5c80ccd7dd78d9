// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints tables and writes them as JSON. Measure.cpp measures.

#include "Figures.h"
#include "Machine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace inlay;
using namespace inlay::bench;
namespace json = llvm::json;

void Table::addRow(const json::Object &cells) {
  std::vector<json::Value> &row = rows.emplace_back();
  for (const std::string &column : columns)
    row.push_back(cells.get(column) ? *cells.get(column) : json::Value(nullptr));
}

/// Formats a cell. Numbers get as many digits as are significant.
static std::string toText(const json::Value &cell) {
  if (cell.getAsNull())
    return "-";
  if (std::optional<llvm::StringRef> text = cell.getAsString())
    return text->str();
  if (std::optional<bool> flag = cell.getAsBoolean())
    return *flag ? "yes" : "no";
  if (std::optional<int64_t> number = cell.getAsInteger())
    return std::to_string(*number);
  double number = cell.getAsNumber().value_or(0);
  if (number != 0 && number < 1e-2)
    return llvm::formatv("{0:e1}", number).str();
  return llvm::formatv(number < 10 ? "{0:f3}" : number < 1000 ? "{0:f1}" : "{0:f0}", number).str();
}

void Figures::add(Table table, llvm::raw_ostream &stream) {
  std::vector<std::vector<std::string>> cells = {table.columns};
  for (const std::vector<json::Value> &row : table.rows) {
    cells.emplace_back();
    for (const json::Value &cell : row)
      cells.back().push_back(toText(cell));
  }
  std::vector<size_t> widths(table.columns.size());
  for (const std::vector<std::string> &row : cells)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  stream << "== " << suite << ": " << table.name << "\n" << table.counted << "\n";
  for (const std::vector<std::string> &row : cells) {
    for (size_t column = 0; column < row.size(); ++column) {
      bool isText = cells.size() > 1 && table.rows.front()[column].getAsString().has_value();
      stream << (column ? "  " : "")
             << (isText ? llvm::left_justify(row[column], widths[column])
                        : llvm::right_justify(row[column], widths[column]));
    }
    stream << "\n";
  }
  stream << "\n";
  stream.flush();
  tables.push_back(std::move(table));
}

void Figures::addNote(std::string note, llvm::raw_ostream &stream) {
  stream << "note: " << note << "\n\n";
  notes.push_back(std::move(note));
}

static void writeTable(json::OStream &stream, const Table &table) {
  stream.object([&] {
    stream.attribute("name", table.name);
    stream.attribute("counted", table.counted);
    stream.attributeArray("rows", [&] {
      for (const std::vector<json::Value> &row : table.rows)
        stream.object([&] {
          for (size_t column = 0; column < row.size(); ++column)
            stream.attribute(table.columns[column], row[column]);
        });
    });
  });
}

void Figures::write(llvm::raw_ostream &out) const {
  json::OStream stream(out, 1);
  stream.object([&] {
    stream.attribute("version", 1);
    stream.attribute("suite", suite);
    stream.attribute("command", command);
    stream.attributeObject("machine", [&] {
      for (const auto &[key, value] : describeMachine())
        stream.attribute(key, value);
    });
    stream.attributeArray("tables", [&] {
      for (const Table &table : tables)
        writeTable(stream, table);
    });
    stream.attributeArray("notes", [&] {
      for (const std::string &note : notes)
        stream.value(note);
    });
  });
  out << "\n";
}
