// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module in this process: opens it, sets targets from the device, runs the phases, reads the plan and
// completes the report. CompileSpec.cpp has the C++ API on top of it. Pipeline/Pipeline.cpp has the order of the
// phases.

#include "inlay/Execution/Compile.h"
#include "DiagnosticText.h"
#include "PlanFromIR.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Execution/CompileOptions.h"
#include "inlay/Execution/Load.h"
#include "inlay/Import/Weights.h"
#include "inlay/Partition/Report.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Pipeline/Pipeline.h"
#include "inlay/Runtime/Report/ReportKeys.h"
#include "inlay/Runtime/Vulkan/DeviceSelection.h"
#include "inlay/Runtime/Vulkan/Limits.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"
#include "inlay/Support/Suggest.h"
#include "inlay/Support/Tuning.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

namespace {
/// A module with its own context. Collects the module's errors for the caller. The weights outlive the context.
class Compilation {
public:
  explicit Compilation(const CompileRequest &request) : request(request), context(makeRegistry(request)) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return;
      errors += (errors.empty() ? "" : "\n") + formatDiagnostic(diagnostic);
    });
    context.printOpOnDiagnostic(false);
  }

  /// Parses the module, sets its targets and attaches the weights.
  Status open() {
    INLAY_RETURN_IF_ERROR(checkRanges(request));
    context.loadAllAvailableDialects();
    ParserConfig config(&context);
    module = parseSourceString<ModuleOp>(request.text, config, request.name);
    if (!module)
      return failed();
    if (Status status = setTargets(); !status.isOk())
      return status;
    if (!request.hostCpus.empty()) {
      SmallVector<StringRef> names(request.hostCpus.begin(), request.hostCpus.end());
      (*module)->setAttr(plan::kHostCpusAttr, Builder(&context).getStrArrayAttr(names));
    }
    if (request.maxLoopIterations != InlayDialect::kDefaultMaxLoopIterations)
      (*module)->setAttr(InlayDialect::kMaxLoopIterationsAttr,
                         Builder(&context).getI64IntegerAttr(request.maxLoopIterations));
    INLAY_RETURN_IF_ERROR(setInputShapes(*module, request.inputShapes, request.text));
    weights = std::make_shared<std::vector<Weight>>(request.weights);
    FailureOr<std::vector<Weight>> fromFile = readModuleWeights(*module, request.directory);
    if (mlir::failed(fromFile))
      return failed();
    weights->insert(weights->end(), fromFile->begin(), fromFile->end());
    attachWeights(*module, *weights);
    return Status::ok();
  }

  /// If there is no device and doing without is allowed, removes the Vulkan targets that the module itself names.
  Status dropMissingTargets() {
    SmallVector<Attribute> kept, named;
    if (auto targets = (*module)->getAttrOfType<ArrayAttr>(InlayDialect::kTargetsAttr))
      llvm::append_range(named, targets);
    llvm::copy_if(named, std::back_inserter(kept), [](Attribute target) { return !isa<VulkanAttr>(target); });
    if (kept.size() == named.size())
      return Status::ok();
    if (StatusOr<rt::vulkan::DeviceCaps> caps = findDevice(); caps.isOk())
      return Status::ok();
    else if (missing.empty())
      return caps.status();
    return setTargets(kept);
  }

  /// Runs the phases up to `to`. Calls `partitioned` with the module after each partition.
  Status run(Phase to, std::function<void(ModuleOp)> partitioned = {}) {
    Options options = request.options;
    options.to = std::min(to, request.options.to);
    PipelineObserver observer;
    observer.started = [&](Phase phase, unsigned number, unsigned count) {
      if (request.progress)
        request.progress(stringifyPhase(phase), number, count);
    };
    observer.finished = [&](Phase phase, ModuleOp after) {
      if (phase == Phase::Partition && partitioned)
        partitioned(after);
    };
    return succeeded(runPipeline(*module, options, observer)) ? Status::ok() : failed();
  }

  std::string getNotice() const { return missing.empty() ? "" : "no Vulkan device, continuing without it: " + missing; }

  bool hasErrors() const { return !errors.empty(); }

  Status failed() const {
    return {StatusCode::InvalidArgument, errors.empty() ? "compilation failed without a diagnostic" : errors};
  }

  const CompileRequest &request;
  std::shared_ptr<std::vector<Weight>> weights;
  std::string missing; ///< Reason why there is no device; empty otherwise.
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

private:
  static DialectRegistry makeRegistry(const CompileRequest &request) {
    DialectRegistry registry;
    registerAll(registry);
    if (request.extend)
      request.extend(registry);
    return registry;
  }

  /// Returns the attribute of a target, or an error if the name is unknown.
  StatusOr<Attribute> makeTarget(StringRef name) {
    if (name == "host")
      return Attribute(HostAttr::get(&context));
    if (name == "torch")
      return Attribute(TorchAttr::get(&context));
    if (name == "vulkan")
      return makeVulkanTarget();
    return Status(StatusCode::InvalidArgument, "unknown target '" + name.str() + "': expected vulkan, host or torch" +
                                                   suggest(name, {"vulkan", "host", "torch"}));
  }

  /// Selects the device to compile for. If there is none and no device was requested by name, sets `missing` when doing
  /// without is allowed.
  StatusOr<rt::vulkan::DeviceCaps> findDevice() {
    if (rt::vulkan::wantsNoDevice(request.device)) {
      Status none(StatusCode::Unavailable, "device 'none' was requested");
      missing = request.allowMissingDevice ? none.message() : "";
      return none;
    }
    StatusOr<rt::vulkan::DeviceCaps> caps = rt::vulkan::selectDevice(request.device);
    if (!caps.isOk() && request.allowMissingDevice && request.device.empty() &&
        caps.status().code() != StatusCode::NotFound)
      missing = caps.status().message();
    return caps;
  }

  /// Returns the costs in the tuning file, or null without a file. Fails if the file is for another device or driver.
  StatusOr<DictionaryAttr> makeCosts(const rt::vulkan::DeviceCaps &caps) {
    if (!tuning)
      return DictionaryAttr();
    if (tuning->device != caps.name || tuning->driver != caps.driver)
      return Status(StatusCode::InvalidArgument, "tuning file '" + request.tuning + "' is for device '" +
                                                     tuning->device + "' with driver '" + tuning->driver +
                                                     "', but the selected device is '" + caps.name + "' with driver '" +
                                                     caps.driver + "'; create a file for it with inlay-bench --tune");
    Builder builder(&context);
    SmallVector<NamedAttribute> costs;
    for (const auto &[key, cost] : tuning->costs)
      costs.push_back(builder.getNamedAttr(key, builder.getF64FloatAttr(cost)));
    return builder.getDictionaryAttr(costs);
  }

  /// Returns the cooperative-matrix shapes that kernels may use. Returns null for software devices, where other kernels
  /// are faster.
  ArrayAttr listMatrices(const rt::vulkan::DeviceCaps &caps) {
    if (caps.software)
      return {};
    SmallVector<Attribute> matrices;
    for (const std::string &shape : rt::vulkan::listMatrixShapes(caps))
      if (parseMatrixShape(shape))
        matrices.push_back(StringAttr::get(&context, shape));
    return matrices.empty() ? ArrayAttr() : ArrayAttr::get(&context, matrices);
  }

  /// Returns the target with the properties of the device. Returns a null attribute if there is no device and doing
  /// without is allowed.
  StatusOr<Attribute> makeVulkanTarget() {
    StatusOr<rt::vulkan::DeviceCaps> caps = findDevice();
    if (!caps.isOk() && missing.empty())
      return caps.status();
    if (!caps.isOk())
      return Attribute();
    StatusOr<DictionaryAttr> costs = makeCosts(*caps);
    if (!costs.isOk())
      return costs.status();
    SmallVector<Attribute> features;
    std::pair<StringRef, bool> optional[] = {{"float16", caps->float16 && caps->storage16},
                                             {"float64", caps->float64},
                                             {"int8", caps->int8 && caps->storage8},
                                             {"int16", caps->int16 && caps->storage16},
                                             {"int64", caps->int64},
                                             {"subgroup-arithmetic", caps->subgroupArithmetic},
                                             {"subgroup-broadcast", caps->subgroupBallot && caps->subgroupSize > 1},
                                             {"subgroup-shuffle", caps->subgroupShuffle && caps->software},
                                             {"texel-reads", caps->prefersTexels}};
    for (auto [name, has] : optional)
      if (has)
        features.push_back(StringAttr::get(&context, name));
    StringRef kind = caps->software ? "software" : caps->discrete ? "discrete" : "integrated";
    int64_t range = std::min<uint64_t>(caps->maxStorageBufferRange, (uint64_t(1) << 31) - 1);
    return Attribute(VulkanAttr::get(&context, caps->maxWorkgroupInvocations, caps->maxWorkgroupCount[0], range,
                                     caps->maxStorageBuffersPerStage, rt::vulkan::chooseSubgroupSize(*caps),
                                     features.empty() ? ArrayAttr() : ArrayAttr::get(&context, features),
                                     StringAttr::get(&context, kind), caps->maxWorkgroupMemory, /*row_kernels=*/true,
                                     caps->maxTexelElements, listMatrices(*caps), *costs));
  }

  Status setTargets() {
    std::vector<std::string> names = request.targets;
    if (names.empty() && (*module)->hasAttr(InlayDialect::kTargetsAttr)) {
      if (!request.tuning.empty())
        return {StatusCode::InvalidArgument, "expected the names of targets for a tuning file, but the module lists "
                                             "its own targets"};
      return Status::ok();
    }
    if (names.empty())
      names = {"vulkan", "host"};
    // The file is read even if no target uses it, so that its errors are reported.
    if (!request.tuning.empty()) {
      llvm::Expected<Tuning> read = readTuning(request.tuning);
      if (!read)
        return {StatusCode::InvalidArgument, llvm::toString(read.takeError())};
      tuning = std::move(*read);
    }
    SmallVector<Attribute> targets;
    for (const std::string &name : names) {
      StatusOr<Attribute> target = makeTarget(name);
      if (!target.isOk())
        return target.status();
      if (llvm::count(names, name) > 1)
        return {StatusCode::InvalidArgument, "expected each target once, but got '" + name + "' more than once"};
      if (*target)
        targets.push_back(*target);
    }
    return setTargets(targets);
  }

  Status setTargets(ArrayRef<Attribute> targets) {
    if (targets.empty())
      return {StatusCode::Unavailable, "no target is left without a Vulkan device: " + missing};
    (*module)->setAttr(InlayDialect::kTargetsAttr, ArrayAttr::get(&context, targets));
    return Status::ok();
  }

  std::string errors;
  std::optional<Tuning> tuning; ///< Contents of the request's tuning file.
};
} // namespace

/// Returns true if kernels can be added to the report that the partition phase writes to `path`.
static bool takesKernels(const std::string &path) {
  ReportFormat format = findReportFormat(path);
  return !path.empty() && path != "-" &&
         (format == ReportFormat::Text || format == ReportFormat::Html || format == ReportFormat::Json);
}

/// Returns the text of the report at `path` with the kernels of `report`, which is JSON.
static llvm::ErrorOr<std::string> withKernels(const std::string &path, const std::string &report) {
  if (findReportFormat(path) == ReportFormat::Json)
    return report;
  auto written = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!written)
    return written.getError();
  std::string before = (*written)->getBuffer().str();
  return findReportFormat(path) == ReportFormat::Html ? rt::insertKernels(before, report)
                                                      : before + rt::formatKernels(report);
}

/// Adds the kernels, which are known only after the compilation, to the report at `path`. Requires takesKernels.
static Status completeReport(const std::string &path, const std::string &report) {
  llvm::ErrorOr<std::string> text = withKernels(path, report);
  std::error_code error = text.getError();
  if (!error) {
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << *text;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
  }
  return error ? Status(StatusCode::NotFound, "can't write the report to '" + path + "': " + error.message())
               : Status::ok();
}

StatusOr<std::string> inlay::partition(const CompileRequest &request, ReportFormat format) {
  Compilation compilation(request);
  INLAY_RETURN_IF_ERROR(compilation.open());
  INLAY_RETURN_IF_ERROR(compilation.run(Phase::Partition));
  return getReport(*compilation.module, format);
}

/// Runs all phases and reads the plan.
static StatusOr<CompiledProgram> makePlan(Compilation &compilation) {
  const CompileRequest &request = compilation.request;
  INLAY_RETURN_IF_ERROR(compilation.open());
  INLAY_RETURN_IF_ERROR(compilation.dropMissingTargets());
  CompiledProgram compiled;
  auto keepReport = [&](ModuleOp partitioned) { compiled.report = getReport(partitioned, ReportFormat::Json); };
  if (request.options.from > Phase::Partition)
    keepReport(*compilation.module);
  INLAY_RETURN_IF_ERROR(compilation.run(Phase::Stitch, keepReport));
  FailureOr<std::shared_ptr<rt::Plan>> plan = readPlan(*compilation.module, compilation.weights);
  if (mlir::failed(plan))
    return compilation.failed();
  compiled.plan = *plan;
  compiled.report = rt::addKernels(compiled.report, *compiled.plan);
  compiled.notice = compilation.getNotice();
  return compiled;
}

static Status finishReport(const CompileRequest &request, const CompiledProgram &compiled) {
  if (request.options.from <= Phase::Partition && takesKernels(request.options.partition.report))
    return completeReport(request.options.partition.report, compiled.report);
  return Status::ok();
}

StatusOr<CompiledProgram> inlay::compile(const CompileRequest &request) {
  Compilation compilation(request);
  StatusOr<CompiledProgram> compiled = makePlan(compilation);
  if (!compiled.isOk())
    return compiled;
  rt::OpenOptions loading;
  loading.device = request.device;
  loading.callbacks = request.callbacks;
  loading.runners = request.runners;
  StatusOr<rt::LoadedProgram> loaded = rt::loadPlan(compiled->plan, loading);
  if (!loaded.isOk())
    return loaded.status();
  compiled->device = std::move(loaded->device);
  compiled->program = std::move(loaded->program);
  INLAY_RETURN_IF_ERROR(finishReport(request, *compiled));
  return compiled;
}

StatusOr<CompiledProgram> inlay::compileOnly(const CompileRequest &request) {
  Compilation compilation(request);
  StatusOr<CompiledProgram> compiled = makePlan(compilation);
  if (compiled.isOk())
    INLAY_RETURN_IF_ERROR(finishReport(request, *compiled));
  return compiled;
}

StatusOr<std::string> inlay::runPhases(const CompileRequest &request, std::string *notice) {
  Compilation compilation(request);
  INLAY_RETURN_IF_ERROR(compilation.open());
  if (notice)
    *notice = compilation.getNotice();
  const std::string &path = request.options.partition.report;
  std::string report;
  INLAY_RETURN_IF_ERROR(compilation.run(Phase::Stitch, [&](ModuleOp partitioned) {
    if (request.options.to == Phase::Stitch && takesKernels(path))
      report = getReport(partitioned, ReportFormat::Json);
  }));
  if (!report.empty()) {
    FailureOr<std::shared_ptr<rt::Plan>> plan = readPlan(*compilation.module, compilation.weights);
    if (mlir::failed(plan))
      return compilation.failed();
    INLAY_RETURN_IF_ERROR(completeReport(path, rt::addKernels(report, **plan)));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*compilation.module)->print(stream, OpPrintingFlags().elideLargeResourceString(0).enableDebugInfo());
  return text;
}
