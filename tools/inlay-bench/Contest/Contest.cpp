// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs peers/contest/driver.py for the suites `models` and `kernels`. It measures nothing itself:
// peers/contest/contest.py measures and summarizes.

#include "Contest.h"
#include "PythonPeer.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

namespace {
struct Script {
  llvm::StringLiteral name, text;
};
} // namespace

static constexpr Script kScripts[] = {
#include "ContestScripts.inc"
};

static Status writeScripts(llvm::StringRef folder) {
  for (const Script &script : kScripts) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, script.name);
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    if (error)
      return {StatusCode::Internal, "can't write '" + path.str().str() + "': " + error.message()};
    file << script.text;
  }
  return Status::ok();
}

/// Returns the interpreters of --python that exist, or the error of the first one if none does.
static StatusOr<std::vector<std::string>> findPythons() {
  std::vector<std::string> found;
  Status first = Status::ok();
  for (const std::string &name : getPythons()) {
    StatusOr<std::string> python = findPython(name);
    if (python.isOk())
      found.push_back(std::move(*python));
    else if (first.isOk())
      first = python.status();
  }
  if (found.empty())
    return first;
  return found;
}

static std::vector<std::string> getStrings(const json::Object &object, llvm::StringRef key) {
  std::vector<std::string> strings;
  if (const json::Array *array = object.getArray(key))
    for (const json::Value &value : *array)
      strings.push_back(value.getAsString().value_or("").str());
  return strings;
}

static void addTable(const json::Object &found, Figures &figures) {
  Table table = {found.getString("name").value_or("").str(),
                 found.getString("counted").value_or("").str(),
                 getStrings(found, "columns"),
                 {}};
  if (const json::Array *rows = found.getArray("rows"))
    for (const json::Value &row : *rows)
      if (const json::Object *cells = row.getAsObject())
        table.addRow(*cells);
  figures.add(std::move(table), llvm::outs());
}

/// Returns the arguments of the driver. Checks the names in options against those in `listed`.
static StatusOr<std::vector<std::string>> makeArguments(const Contest &contest, const json::Object &listed,
                                                        unsigned repeats) {
  StatusOr<std::vector<std::string>> names = choose(contest.option, contest.named, getStrings(listed, "names"));
  if (!names.isOk())
    return names.status();
  if (StatusOr<std::vector<std::string>> peers = choose("against", getPeers(), getStrings(listed, "peers"));
      !peers.isOk())
    return peers.status();
  return std::vector<std::string>{"--names=" + llvm::join(*names, ","),
                                  "--routes=" + llvm::join(contest.routes, ","),
                                  "--against=" + llvm::join(getPeers(), ","),
                                  "--dtypes=" + llvm::join(contest.dtypes, ","),
                                  "--scale=" + contest.scale,
                                  "--threads=" + std::to_string(contest.threads),
                                  "--repeats=" + std::to_string(repeats)};
}

/// Runs the driver script in `folder`, which holds all scripts, and returns the object that it prints.
static StatusOr<json::Object> runDriver(llvm::StringRef folder, llvm::ArrayRef<std::string> pythons,
                                        llvm::StringRef command, llvm::StringRef suite,
                                        llvm::ArrayRef<std::string> more = {}) {
  llvm::SmallString<128> driver(folder);
  llvm::sys::path::append(driver, "driver.py");
  std::string interpreters = "--pythons=" + llvm::join(pythons, ",");
  llvm::SmallVector<llvm::StringRef> arguments{driver, command, suite, interpreters};
  arguments.append(more.begin(), more.end());
  StatusOr<json::Object> found = runPythonFile(pythons.front(), ("the suite " + suite).str(), arguments);
  if (found.isOk())
    if (std::optional<llvm::StringRef> error = found->getString("error"))
      return Status(StatusCode::Unavailable, error->str());
  return found;
}

Status bench::runContest(const Contest &contest, unsigned repeats, Figures &figures) {
  if (contest.threads < 1)
    return {StatusCode::InvalidArgument, "option --threads: expected at least 1, but got 0"};
  StatusOr<std::vector<std::string>> pythons = findPythons();
  if (!pythons.isOk())
    return pythons.status();
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("inlay-bench", folder))
    return {StatusCode::Internal, "can't create a temporary folder: " + error.message()};
  auto remove = llvm::scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  INLAY_RETURN_IF_ERROR(writeScripts(folder));
  StatusOr<json::Object> listed = runDriver(folder, *pythons, "list", contest.suite);
  if (!listed.isOk())
    return listed.status();
  StatusOr<std::vector<std::string>> arguments = makeArguments(contest, *listed, repeats);
  if (!arguments.isOk())
    return arguments.status();
  StatusOr<json::Object> found = runDriver(folder, *pythons, "run", contest.suite, *arguments);
  if (!found.isOk())
    return found.status();
  for (std::string &note : getStrings(*found, "notes"))
    figures.addNote(std::move(note), llvm::outs());
  if (const json::Array *tables = found->getArray("tables"))
    for (const json::Value &table : *tables)
      if (const json::Object *object = table.getAsObject())
        addTable(*object, figures);
  return Status::ok();
}
