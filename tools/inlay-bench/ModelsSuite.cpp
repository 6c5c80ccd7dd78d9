// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The models suite: the architectures of inlay.models, each compiled and run in a Python process of its own and
// compared with PyTorch.

#include "PythonPeer.h"
#include "Suites.h"

#include "llvm/ADT/StringExtras.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kScript =
#include "ModelPeers.inc"
    ;

static cl::OptionCategory category("Suite models");
static cl::list<std::string> modelNames("models", cl::CommaSeparated, cl::cat(category),
                                        cl::desc("Models; default: all of inlay.models"));
static cl::list<std::string> routes("routes", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("Targets of Inlay, joined by '+'; default: "
                                             "vulkan+host+torch,host+torch,torch"));
static cl::list<std::string> dtypes("dtypes", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("Of weights and inputs: f32, f16, bf16; default: f32"));
static cl::opt<std::string> scale("scale", cl::cat(category), cl::init("usual"),
                                  cl::desc("Size of the models: usual, or tiny; default: usual"));

/// What is run: Inlay by each route, then the peers.
static StatusOr<std::vector<std::string>> getContenders() {
  std::vector<std::string> contenders(routes.begin(), routes.end());
  if (contenders.empty())
    contenders = {"vulkan+host+torch", "host+torch", "torch"};
  for (const std::string &peer : getPeers()) {
    if (peer != "torch.compile")
      return Status(StatusCode::InvalidArgument, "option --against: expected torch.compile, but got '" + peer + "'");
    contenders.push_back(peer);
  }
  return contenders;
}

static Table makeTable() {
  return {
      "models",
      "Each model by each contender in a process of its own, compared with PyTorch in the same process. A contender "
      "is a list of Inlay's targets, best first, or another compiler. ops are those in segments, then how many each "
      "target runs; opaque are those that the dialect has no op for. export_ms is torch.export's, compile_ms the "
      "rest until the model can be called (of torch.compile its first call), compile_mb what memory grows by "
      "meanwhile at most. latency_ms and eager_ms are medians of calls by turns. difference is the largest one from "
      "PyTorch, as a share of the largest element of that result.",
      {"model", "contender", "dtype", "ops", "vulkan", "host", "torch", "opaque", "segments", "export_ms", "compile_ms",
       "compile_mb", "first_ms", "latency_ms", "eager_ms", "difference"},
      {}};
}

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<std::string> python = findPython(getPythons().front());
  if (!python.isOk())
    return python.status();
  StatusOr<std::vector<std::string>> known = listModels(*python, kScript);
  if (!known.isOk())
    return known.status();
  StatusOr<std::vector<std::string>> models = choose("models", modelNames, std::move(*known));
  StatusOr<std::vector<std::string>> contenders = getContenders();
  StatusOr<std::vector<std::string>> types = choose("dtypes", dtypes, {"f32", "f16", "bf16"});
  StatusOr<std::vector<std::string>> scales = choose("scale", {scale}, {"usual", "tiny"});
  for (const Status &status : {models.status(), contenders.status(), types.status(), scales.status()})
    INLAY_RETURN_IF_ERROR(status);
  if (dtypes.empty())
    types->resize(1);
  Table table = makeTable();
  for (const std::string &model : *models)
    for (const std::string &type : *types)
      for (const std::string &contender : *contenders) {
        StatusOr<json::Object> cells = runPython(*python, kScript, model + " by " + contender,
                                                 {"run", model, contender, scale, type, std::to_string(repeats)});
        if (!cells.isOk()) {
          figures.addNote(cells.status().message(), llvm::outs());
          continue;
        }
        (*cells)["model"] = model;
        (*cells)["contender"] = contender;
        (*cells)["dtype"] = type;
        table.addRow(*cells);
      }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

const Suite &bench::modelsSuite() {
  static const Suite suite = {"models", "whole models against PyTorch: what runs where, times, memory, differences",
                              &category, run, /*hasPeers=*/true};
  return suite;
}
