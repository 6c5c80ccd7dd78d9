// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileOptions.h"
#include "inlay/Support/Suggest.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::OptionCategory category("Compilation");

static cl::list<std::string>
    targets("targets", cl::CommaSeparated, cl::cat(category),
            cl::desc("Targets in priority order (vulkan, host, torch); default: the module's"));
static cl::list<std::string>
    inputShapes("input-shape", cl::value_desc("name:dims"), cl::cat(category),
                cl::desc("Sizes of an input whose dims are ? in the module, as x:1..8x3x224x224 or x:batch=1..8x3"));
static cl::opt<std::string>
    device("device", cl::cat(category),
           cl::desc("Vulkan device: a number, a part of its name or none; default: INLAY_DEVICE"));
static cl::opt<std::string>
    tuning("tuning", cl::value_desc("file"), cl::cat(category),
           cl::desc("Tuning file of the Vulkan device, from inlay-bench --tune; default: costs by its kind"));
static cl::opt<bool> requireDevice("require-device", cl::cat(category),
                                   cl::desc("Fail without a Vulkan device instead of running on the host alone"));
static cl::list<std::string>
    hostCpus("host-cpu", cl::CommaSeparated, cl::cat(category), cl::value_desc("names"),
             cl::desc("Processors to make host code for, as x86-64-v3,native; default: native, the one that compiles"));
static cl::opt<int64_t> minBlockSize("min-block-size", cl::init(1), cl::cat(category),
                                     cl::desc("Accelerator segments of fewer ops go to the next target"));
static cl::list<std::string> fallbackOps("fallback-ops", cl::CommaSeparated, cl::cat(category),
                                         cl::desc("Ops forced to the last target that can run them"));
static cl::list<std::string> fallbackModules("fallback-modules", cl::CommaSeparated, cl::cat(category),
                                             cl::desc("Modules, by class or path, whose ops are forced likewise"));
static cl::list<std::string> fallbackLocations("fallback-locations", cl::CommaSeparated, cl::cat(category),
                                               cl::desc("Ops, by label (globs) or file:line, forced likewise"));
static cl::list<std::string>
    allowOps("allow-ops", cl::CommaSeparated, cl::cat(category),
             cl::desc("Ops that accelerators may run, on any or, as op@target, on one; no others"));
static cl::list<std::string> exemptOps("exempt-ops", cl::CommaSeparated, cl::cat(category),
                                       cl::desc("Ops that are worth a segment below --min-block-size"));
static cl::opt<std::string> placement("placement", cl::cat(category),
                                      cl::desc("Placement file whose segments to form, instead of deciding anew"));
static cl::opt<std::string> savePlacement("save-placement", cl::cat(category), cl::desc("File for the placement"));
static cl::opt<bool> enabled("enabled", cl::init(true), cl::cat(category),
                             cl::desc("If false the first target must run the whole graph as one segment"));
static cl::opt<bool> requireFull("require-full-compilation", cl::cat(category),
                                 cl::desc("Fail unless the whole graph runs on the first target"));
static cl::opt<Strategy> strategy("strategy", cl::init(Strategy::Levels), cl::cat(category),
                                  cl::desc("How segments are formed"),
                                  cl::values(clEnumValN(Strategy::Levels, "levels", "fewest segments"),
                                             clEnumValN(Strategy::Cost, "cost", "least time under the cost model"),
                                             clEnumValN(Strategy::InOrder, "in-order", "by program order"),
                                             clEnumValN(Strategy::TorchTensorRT, "torch-tensorrt",
                                                        "as Torch-TensorRT's TorchScript front end")));
static cl::opt<std::string> costModel("cost-model", cl::value_desc("file"), cl::cat(category),
                                      cl::desc("Cost model, e.g. of inlay-bench --calibrate; default: round figures "
                                               "per kind of device"));
static cl::opt<std::string> report("report", cl::cat(category),
                                   cl::desc("File for the partition report: .txt and .html say its form, else JSON; - "
                                            "for standard output"));
static cl::opt<bool> whatIf("what-if", cl::cat(category),
                            cl::desc("Report what more ops on the first target would change"));
static cl::opt<bool> sweep("sweep", cl::cat(category),
                           cl::desc("Report what other least sizes of segments would change"));
static cl::opt<bool> recovery("recovery", cl::init(true), cl::cat(category),
                              cl::desc("Compile what runs on a device for the host too, to run there when it fails"));
static cl::opt<std::string> dumpDirectory("dump-dir", cl::cat(category),
                                          cl::desc("Folder for the module after each phase"));

void tools::parseCompileOptions(int argc, char **argv, llvm::StringRef overview) {
  parseOptions(argc, argv, overview, {&category});
}

rt::StatusOr<Phase> tools::parsePhase(const std::string &option, const std::string &name) {
  if (std::optional<Phase> phase = symbolizePhase(name))
    return *phase;
  return rt::Status(rt::StatusCode::InvalidArgument,
                    "option --" + option +
                        ": expected import, rewrite, partition, shape, convert or stitch, but got '" + name + "'" +
                        suggest(name, {"import", "rewrite", "partition", "shape", "convert", "stitch"}));
}

rt::StatusOr<CompileRequest> tools::makeRequest(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer)
    return rt::Status(rt::StatusCode::NotFound, "can't read '" + file + "': " + buffer.getError().message());
  CompileRequest request;
  request.text = (*buffer)->getBuffer().str();
  request.name = file == "-" ? "<stdin>" : file;
  llvm::StringRef parent = llvm::sys::path::parent_path(file);
  request.directory = parent.empty() ? "." : parent.str();
  request.targets.assign(targets.begin(), targets.end());
  for (const std::string &text : inputShapes) {
    rt::StatusOr<InputShape> shape = parseInputShape(text);
    if (!shape.isOk())
      return rt::Status(shape.status().code(), "option --input-shape: " + shape.status().message());
    request.inputShapes.push_back(std::move(*shape));
  }
  request.device = device;
  request.tuning = tuning;
  request.hostCpus.assign(hostCpus.begin(), hostCpus.end());
  request.allowMissingDevice = !requireDevice;
  request.options.recovery = recovery;
  request.options.dumpDirectory = dumpDirectory;
  PartitionInfo &partition = request.options.partition;
  partition.minBlockSize = minBlockSize;
  partition.fallbackOps.assign(fallbackOps.begin(), fallbackOps.end());
  partition.fallbackModules.assign(fallbackModules.begin(), fallbackModules.end());
  partition.fallbackLocations.assign(fallbackLocations.begin(), fallbackLocations.end());
  partition.allowOps.assign(allowOps.begin(), allowOps.end());
  partition.exemptOps.assign(exemptOps.begin(), exemptOps.end());
  partition.enabled = enabled;
  partition.placement = placement;
  partition.savePlacement = savePlacement;
  partition.requireFullCompilation = requireFull;
  partition.strategy = strategy;
  partition.costModel = costModel;
  partition.report = report;
  partition.whatIf = whatIf;
  partition.sweep = sweep;
  return request;
}
