// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes suite: measures models that are compiled once for ranges of sizes, at many sizes, and compares them with
// compilations for one size.

#include "Contest/PythonPeer.h"
#include "Suites.h"

#include "llvm/ADT/StringExtras.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kSizePeersScript =
#include "SizePeers.inc"
    ;

static cl::OptionCategory category("Suite sizes");
static cl::list<std::string> modelNames("sized-models", cl::CommaSeparated, cl::cat(category),
                                        cl::desc("Models to measure; default: all with open sizes"));
static cl::list<std::string> routes("sized-routes", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("Targets of Inlay, joined by '+'; default: vulkan+host+torch,host+torch"));
static cl::opt<std::string> scale("sized-scale", cl::cat(category), cl::init("tiny"),
                                  cl::desc("Size of the models: usual or tiny; default: tiny"));

static Table makeTable() {
  return {
      "sizes",
      "Each model is compiled once for open batches and lengths, then called at several sets of sizes, among them the "
      "ends of all ranges. compilations is the number of compilations up to then. difference is the largest "
      "difference from PyTorch at any set, relative to the largest element of that result. At three sets, "
      "latency_ms is compared with fixed_ms, the latency of a compilation for that set only. Latencies are medians "
      "of calls that alternate.",
      {"model", "targets", "sizes", "compilations", "difference", "compile_ms", "at", "fixed_compile_ms", "latency_ms",
       "fixed_ms", "ratio"},
      {}};
}

static Status run(unsigned repeats, Figures &figures) {
  if (scale != "tiny" && scale != "usual")
    return {StatusCode::InvalidArgument, "option --sized-scale: expected tiny or usual, but got '" + scale + "'"};
  StatusOr<std::string> python = findPython(getPythons().front());
  if (!python.isOk())
    return python.status();
  StatusOr<std::vector<std::string>> known = listModels(*python, kSizePeersScript);
  if (!known.isOk())
    return known.status();
  StatusOr<std::vector<std::string>> models = choose("sized-models", modelNames, std::move(*known));
  if (!models.isOk())
    return models.status();
  std::vector<std::string> targets(routes.begin(), routes.end());
  if (targets.empty())
    targets = {"vulkan+host+torch", "host+torch"};
  Table table = makeTable();
  for (const std::string &model : *models)
    for (const std::string &route : targets) {
      StatusOr<json::Object> found = runPython(*python, kSizePeersScript, model + " on " + route,
                                               {"run", model, route, scale, std::to_string(repeats)});
      if (!found.isOk()) {
        figures.addNote(found.status().message(), llvm::outs());
        continue;
      }
      json::Array *rows = found->getArray("rows");
      for (json::Value &row : rows ? *rows : json::Array())
        if (json::Object *cells = row.getAsObject()) {
          (*cells)["model"] = model;
          (*cells)["targets"] = route;
          table.addRow(*cells);
        }
    }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

const Suite &bench::sizesSuite() {
  static const Suite suite = {"sizes", "measures models that one compilation serves at many sizes", &category, run};
  return suite;
}
