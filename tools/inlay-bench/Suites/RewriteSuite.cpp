// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewrite suite: compares Inlay's patterns and driver with upstream's, on the same graphs.

#include "Contest/PythonPeer.h"
#include "Contest/RewritePeers.h"
#include "Graphs/RewriteSteps.h"
#include "Measure/Measure.h"
#include "Suites.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::OptionCategory category("Suite rewrite");
static cl::list<unsigned> sizes("rewrite-sizes", cl::CommaSeparated, cl::cat(category),
                                cl::desc("Numbers of ops; default: 10000,100000,1000000"));
static cl::list<unsigned> counts("patterns", cl::CommaSeparated, cl::cat(category),
                                 cl::desc("Numbers of patterns; default: 1,16,64,256"));
static cl::list<unsigned> users("users", cl::CommaSeparated, cl::cat(category),
                                cl::desc("Numbers of users of a shared value; default: 4000"));

static cl::opt<unsigned> peerOps("peer-ops", cl::cat(category), cl::init(20'000),
                                 cl::desc("Number of ops for --against; default: 20000"));

static StatusOr<std::vector<uint32_t>> read(cl::list<unsigned> &option, unsigned min, unsigned max,
                                            std::vector<uint32_t> otherwise) {
  for (unsigned number : option)
    if (number < min || number > max)
      return Status(StatusCode::InvalidArgument, "option --" + option.ArgStr.str() + ": expected " +
                                                     std::to_string(min) + " to " + std::to_string(max) + ", but got " +
                                                     std::to_string(number));
  return option.empty() ? std::move(otherwise) : std::vector<uint32_t>(option.begin(), option.end());
}

static Status measureFusions(unsigned repeats, llvm::ArrayRef<uint32_t> opSizes, llvm::ArrayRef<uint32_t> numbers,
                             Figures &figures) {
  Table table{
      "fusion",
      "PDL patterns are applied to the fixpoint, and dead code is removed, on blocks "
      "sigmoid(mul(relu(add(matmul)))). One pattern fuses relu(add(matmul)), and the others fail at the third "
      "op. The rewriter inlay is Inlay's pattern manager with its own driver. inlay-greedy applies the same patterns "
      "with MLIR's greedy driver. mlir-greedy is MLIR's PDL interpreter with the greedy driver and its default "
      "options. mlir-greedy-top-down is mlir-greedy that walks top-down, without folding, CSE of constants and "
      "simplification of regions. "
      "compile_ms is the time from text to compiled patterns. Each figure is the median over processes that run "
      "in turn. Times are processor times.",
      {"rewriter", "ops", "patterns", "compile_ms", "rewrite_ms", "mega_ops_per_s"},
      {}};
  for (uint32_t size : opSizes)
    for (uint32_t number : numbers) {
      std::string what = std::to_string(size) + " ops, " + std::to_string(number) + " patterns";
      StatusOr<std::vector<json::Object>> found =
          measureByTurns(what, repeats, static_cast<unsigned>(getRewriters().size()), [&](unsigned variant) {
            return measureRewrite(size, number, getRewriters()[variant].rewriter);
          });
      if (!found.isOk())
        return found.status();
      for (auto [rewriter, cells] : llvm::zip(getRewriters(), *found)) {
        cells["rewriter"] = rewriter.name;
        cells["mega_ops_per_s"] = *cells.getNumber("ops") / std::max(*cells.getNumber("rewrite_ms"), 1e-3) / 1e3;
        table.addRow(cells);
      }
    }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

static Status measureRest(unsigned repeats, llvm::ArrayRef<uint32_t> opSizes, llvm::ArrayRef<uint32_t> userCounts,
                          Figures &figures) {
  Table shared{
      "shared-value",
      "A pattern of two ops that only share an operand, applied to a value with many users, of which none match or "
      "all form pairs.",
      {"users", "rewrites", "rewrite_ms"},
      {}};
  for (uint32_t count : userCounts) {
    StatusOr<std::vector<json::Object>> found =
        measureByTurns(std::to_string(count) + " users", repeats, 2,
                       [&](unsigned variant) { return measureSharedValue(count, variant == 1); });
    if (!found.isOk())
      return found.status();
    for (const json::Object &cells : *found)
      shared.addRow(cells);
  }
  figures.add(std::move(shared), llvm::outs());
  Table explain{
      "explain",
      "The time to find the op that comes closest to a pattern that matches nowhere, and the difference there.",
      {"ops", "explain_ms"},
      {}};
  for (uint32_t size : opSizes) {
    StatusOr<std::vector<json::Object>> found =
        measureByTurns(std::to_string(size) + " ops", repeats, 1, [&](unsigned) { return measureExplain(size); });
    if (!found.isOk())
      return found.status();
    explain.addRow(found->front());
  }
  figures.add(std::move(explain), llvm::outs());
  return Status::ok();
}

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<std::vector<uint32_t>> opSizes = read(sizes, 5, 100'000'000, {10'000, 100'000, 1'000'000});
  StatusOr<std::vector<uint32_t>> numbers = read(counts, 1, 10'000, {1, 16, 64, 256});
  StatusOr<std::vector<uint32_t>> userCounts = read(users, 1, 1'000'000, {4000});
  for (const Status &status : {opSizes.status(), numbers.status(), userCounts.status()})
    INLAY_RETURN_IF_ERROR(status);
  if (std::vector<std::string> peers = getPeers(); !peers.empty()) {
    if (peerOps < 5 || peerOps > 10'000'000)
      return {StatusCode::InvalidArgument,
              "option --peer-ops: expected 5 to 10000000, but got " + std::to_string(peerOps)};
    return measureRewritePeers(repeats, peerOps, peers, getPythons(), figures);
  }
  INLAY_RETURN_IF_ERROR(measureFusions(repeats, *opSizes, *numbers, figures));
  return measureRest(repeats, *opSizes, *userCounts, figures);
}

const Suite &bench::rewriteSuite() {
  static const Suite suite{"rewrite", "compares graph rewriting with MLIR's drivers", &category, run,
                           /*hasPeers=*/true};
  return suite;
}
