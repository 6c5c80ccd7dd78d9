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
            cl::desc("Targets in order of priority (vulkan, host, torch); default: those of the module"));
static cl::list<std::string>
    inputShapes("input-shape", cl::value_desc("name:dims"), cl::cat(category),
                cl::desc("Sizes of an input with dims ? in the module, such as x:1..8x3x224x224 or x:batch=1..8x3"));
static cl::opt<std::string>
    device("device", cl::cat(category),
           cl::desc("Vulkan device: a number, a part of its name, or 'none'; default: INLAY_DEVICE"));
static cl::opt<std::string>
    tuning("tuning", cl::value_desc("file"), cl::cat(category),
           cl::desc("Tuning file of the Vulkan device, from inlay-bench --tune; default: costs of its kind"));
static cl::opt<bool> requireDevice("require-device", cl::cat(category),
                                   cl::desc("Fail without a Vulkan device instead of running on the host only"));
static cl::list<std::string>
    hostCpus("host-cpu", cl::CommaSeparated, cl::cat(category), cl::value_desc("names"),
             cl::desc("Processors to compile host code for, such as x86-64-v3,native; default: native, this one"));
static cl::opt<int64_t> minBlockSize("min-block-size", cl::init(1), cl::cat(category),
                                     cl::desc("Accelerator segments with fewer ops move to the next target"));
static cl::list<std::string> fallbackOps("fallback-ops", cl::CommaSeparated, cl::cat(category),
                                         cl::desc("Ops to run on the last target that can run them"));
static cl::list<std::string>
    fallbackModules("fallback-modules", cl::CommaSeparated, cl::cat(category),
                    cl::desc("Modules, by class or path, whose ops run on the last target that can run them"));
static cl::list<std::string>
    fallbackLocations("fallback-locations", cl::CommaSeparated, cl::cat(category),
                      cl::desc("Ops, by label (globs) or file:line, to run on the last target that can run them"));
static cl::list<std::string>
    allowOps("allow-ops", cl::CommaSeparated, cl::cat(category),
             cl::desc("The only ops that accelerators may run; op@target allows an op on one target"));
static cl::list<std::string> exemptOps("exempt-ops", cl::CommaSeparated, cl::cat(category),
                                       cl::desc("Ops whose segments may be smaller than --min-block-size"));
static cl::opt<std::string> placement("placement", cl::cat(category),
                                      cl::desc("Placement file that determines the segments"));
static cl::opt<std::string> savePlacement("save-placement", cl::cat(category),
                                          cl::desc("Write the placement to this file"));
static cl::opt<bool> enabled("enabled", cl::init(true), cl::cat(category),
                             cl::desc("If false, the first target must run the whole graph as one segment"));
static cl::opt<bool> requireFull("require-full-compilation", cl::cat(category),
                                 cl::desc("Fail unless the whole graph runs on the first target"));
static cl::opt<Strategy>
    strategy("strategy", cl::init(Strategy::Levels), cl::cat(category), cl::desc("Strategy of forming segments"),
             cl::values(clEnumValN(Strategy::Levels, "levels", "to get the fewest segments"),
                        clEnumValN(Strategy::Cost, "cost", "to get the least time under the cost model"),
                        clEnumValN(Strategy::InOrder, "in-order", "in program order"),
                        clEnumValN(Strategy::TorchTensorRT, "torch-tensorrt",
                                   "like the TorchScript front end of Torch-TensorRT")));
static cl::opt<std::string> costModel("cost-model", cl::value_desc("file"), cl::cat(category),
                                      cl::desc("Cost model, for example from inlay-bench --calibrate; default: round "
                                               "figures per kind of device"));
static cl::opt<std::string>
    report("report", cl::cat(category),
           cl::desc("File for the partition report, as text (.txt), page (.html) or else JSON; - "
                    "for standard output"));
static cl::opt<bool> whatIf("what-if", cl::cat(category),
                            cl::desc("Report partitions with more kinds of ops on the first target"));
static cl::opt<bool> sweep("sweep", cl::cat(category),
                           cl::desc("Report partitions with other values of --min-block-size"));
static cl::opt<bool>
    recovery("recovery", cl::init(true), cl::cat(category),
             cl::desc("Compile device segments for the host too, which runs them if the device fails"));
static cl::opt<std::string> dumpDirectory("dump-dir", cl::cat(category),
                                          cl::desc("Write the module after each phase to this folder"));

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
