// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs peers/rewrite_peers.py, for the rewrite suite. Graphs/RewriteSteps.cpp measures Inlay's C++ side.

#include "RewritePeers.h"
#include "Graphs/RewriteSteps.h"
#include "Measure/Measure.h"
#include "PythonPeer.h"

#include "inlay/Support/Suggest.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kRewritePeersScript =
#include "RewritePeers.inc"
    ;

namespace {
struct Peer {
  const char *name;
  std::vector<uint32_t> patterns; ///< Numbers of patterns to measure.
};
} // namespace

static const std::vector<Peer> kPeers = {
    {"onnxscript", {1, 16}}, {"xdsl", {1, 16}}, {"inductor", {1, 16}}, {"torch.fx", {1}}};

/// Runs the script with the first interpreter that has the peer and returns the object that it prints.
static StatusOr<json::Object> runPeer(llvm::ArrayRef<std::string> pythons, const char *peer, uint32_t ops,
                                      uint32_t patterns) {
  Status last(StatusCode::Unavailable, "no interpreter is given");
  for (const std::string &python : pythons) {
    StatusOr<std::string> program = findPython(python);
    StatusOr<json::Object> found = program.isOk() ? runPython(*program, kRewritePeersScript, peer,
                                                              {peer, std::to_string(ops), std::to_string(patterns)})
                                                  : StatusOr<json::Object>(program.status());
    if (found.isOk() || found.status().code() != StatusCode::Unavailable)
      return found;
    last = found.status();
  }
  return last;
}

/// Measures Inlay: Python code writes the patterns, and the graph is rewritten from text to text as by `inlay-opt`.
static StatusOr<json::Object> measureOurs(unsigned repeats, llvm::ArrayRef<std::string> pythons, uint32_t ops,
                                          uint32_t patterns) {
  StatusOr<json::Object> authored = runPeer(pythons, "inlay", ops, patterns);
  if (!authored.isOk())
    return authored.status();
  std::string pdl = authored->getString("pdl").value_or("").str();
  StatusOr<std::vector<json::Object>> found =
      measureByTurns("inlay", repeats, 1, [&](unsigned) { return measureTraced(ops, pdl); });
  if (!found.isOk())
    return found.status();
  json::Object cells = std::move(found->front());
  cells["author_ms"] = authored->getNumber("author_ms").value_or(0) + cells.getNumber("compile_ms").value_or(0);
  return cells;
}

static StatusOr<json::Object> measurePeer(unsigned repeats, llvm::ArrayRef<std::string> pythons, const Peer &peer,
                                          uint32_t ops, uint32_t patterns) {
  std::vector<json::Object> runs;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    StatusOr<json::Object> found = runPeer(pythons, peer.name, ops, patterns);
    if (!found.isOk())
      return found.status();
    if (found->getInteger("fused") != int64_t(ops / 5))
      return Status(StatusCode::Internal, std::string(peer.name) + ": expected " + std::to_string(ops / 5) +
                                              " fused ops, but got " +
                                              std::to_string(found->getInteger("fused").value_or(0)));
    runs.push_back(std::move(*found));
    constexpr double kLong = 20'000;
    if (runs.back().getNumber("rewrite_ms").value_or(0) > kLong)
      break;
  }
  StatusOr<json::Object> cells = summarize(peer.name, runs);
  if (cells.isOk())
    (*cells)["ops"] = ops / 5 * 5;
  return cells;
}

static void addRow(Table &table, llvm::StringRef rewriter, uint32_t patterns, json::Object cells) {
  cells["rewriter"] = rewriter;
  cells["patterns"] = patterns;
  cells["kilo_ops_per_s"] = *cells.getNumber("ops") / std::max(cells.getNumber("rewrite_ms").value_or(0), 1e-3);
  table.addRow(cells);
}

Status bench::measureRewritePeers(unsigned repeats, uint32_t ops, llvm::ArrayRef<std::string> peers,
                                  llvm::ArrayRef<std::string> pythons, Figures &figures) {
  Table table{
      "peers",
      "The same fusion in Python's rewriters and in Inlay with patterns that are written in Python. Each rewriter "
      "runs in its own process and is used as in its documentation. author_ms is the time from functions to "
      "patterns that are ready to run. import_ms and export_ms, of Inlay only, are the times to read the graph "
      "from text and to print it. All rewriters except torch.fx run once before they are timed. Times are "
      "processor times.",
      {"rewriter", "ops", "patterns", "author_ms", "import_ms", "rewrite_ms", "export_ms", "kilo_ops_per_s"},
      {}};
  std::vector<std::string> known;
  for (const Peer &peer : kPeers)
    known.push_back(peer.name);
  for (const std::string &name : peers)
    if (!llvm::is_contained(known, name))
      return {StatusCode::InvalidArgument, "option --against: expected some of onnxscript, xdsl, inductor and "
                                           "torch.fx, but got '" +
                                               name + "'" + suggest(name, known)};
  for (uint32_t patterns : {1, 16, 256}) {
    StatusOr<json::Object> cells = measureOurs(repeats, pythons, ops, patterns);
    if (!cells.isOk() && cells.status().code() == StatusCode::Unavailable) {
      figures.addNote("skipped inlay: " + cells.status().message(), llvm::outs());
      break;
    }
    if (!cells.isOk())
      return cells.status();
    addRow(table, "inlay", patterns, std::move(*cells));
  }
  for (const Peer &peer : kPeers) {
    if (!llvm::is_contained(peers, peer.name))
      continue;
    for (uint32_t patterns : peer.patterns) {
      StatusOr<json::Object> cells = measurePeer(repeats, pythons, peer, ops, patterns);
      if (cells.isOk()) {
        addRow(table, peer.name, patterns, std::move(*cells));
        continue;
      }
      if (cells.status().code() != StatusCode::Unavailable)
        return cells.status();
      figures.addNote(std::string("skipped ") + peer.name + ": " + cells.status().message(), llvm::outs());
      break;
    }
  }
  if (!table.rows.empty())
    figures.add(std::move(table), llvm::outs());
  return Status::ok();
}
