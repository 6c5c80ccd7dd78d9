// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gpu-compilers suite: compiles kernels with the compilers of real GPU drivers, without a GPU, and counts what the
// machine code does. The counts can be compared with a baseline.

#include "Contest/PythonPeer.h"
#include "GpuCompilers/Compiler.h"
#include "Suites.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::OptionCategory category("Suite gpu-compilers");
static cl::list<std::string> chipNames("chips", cl::CommaSeparated, cl::cat(category),
                                       cl::desc("AMD chips to compile for, by Mesa's names; default: all"));
static cl::list<std::string> caseNames("cases", cl::CommaSeparated, cl::cat(category),
                                       cl::desc("Layers whose kernels are compiled; default: all"));
static cl::list<std::string> files("files", cl::CommaSeparated, cl::cat(category), cl::value_desc("files"),
                                   cl::desc("MLIR files whose kernels are compiled instead of those of layers"));
static cl::opt<std::string> driverFile("radv", cl::cat(category), cl::value_desc("file"),
                                       cl::desc("Manifest of Mesa's driver RADV; default: the system's"));
static cl::opt<std::string>
    layerFolder("gpu-layer", cl::cat(category), cl::value_desc("folder"),
                cl::desc("Folder of Inlay's Vulkan layer; default: lib/gpu-layer of the build"));
static cl::opt<std::string> assemblies("assemblies", cl::cat(category), cl::value_desc("folder"),
                                       cl::desc("Folder for the assembly of each kernel"));
static cl::opt<std::string> baselineFile("baseline", cl::cat(category), cl::value_desc("file"),
                                         cl::desc("Fails if a count is worse than in this file"));
static cl::opt<std::string> savedFile("save-baseline", cl::cat(category), cl::value_desc("file"),
                                      cl::desc("File to which the counts are written as a baseline"));

//===-- Where things are ----------------------------------------------------------------------------------------===//

static StatusOr<std::string> findDriver() {
  if (!driverFile.empty()) {
    if (llvm::sys::fs::exists(driverFile))
      return driverFile.getValue();
    return Status(StatusCode::NotFound, "option --radv: there is no file '" + driverFile + "'");
  }
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file("/usr/share/vulkan/icd.d", error), end; !error && file != end;
       file.increment(error))
    if (llvm::sys::path::filename(file->path()).starts_with("radeon_icd"))
      return file->path();
  return Status(StatusCode::NotFound, "Mesa's driver RADV was not found; install it (Debian: mesa-vulkan-drivers) or "
                                      "name its manifest with --radv");
}

static StatusOr<std::string> findLayer() {
  std::string folder = layerFolder;
  if (folder.empty()) {
    std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&gpuCompilersSuite));
    llvm::StringRef root = llvm::sys::path::parent_path(llvm::sys::path::parent_path(program));
    folder = (root + "/lib/gpu-layer").str();
  }
  if (llvm::sys::fs::exists(folder + "/VkLayer_INLAY_gpu.json"))
    return folder;
  return Status(StatusCode::NotFound, "there is no VkLayer_INLAY_gpu.json in '" + folder + "'; build InlayGpuLayer");
}

//===-- Baselines -----------------------------------------------------------------------------------------------===//

namespace {
/// The figures of several chips. All have the same driver.
struct Baseline {
  std::string driver;
  std::vector<KernelFigures> kernels;
};
} // namespace

/// Writes one kernel per line, so that differences are readable.
static Status save(const Baseline &baseline) {
  std::error_code error;
  llvm::raw_fd_ostream file(savedFile, error);
  if (error)
    return {StatusCode::NotFound, "can't write '" + savedFile + "': " + error.message()};
  file << "{\n\"version\": 1,\n\"driver\": " << json::Value(baseline.driver) << ",\n\"kernels\": [\n";
  llvm::interleave(
      baseline.kernels, [&](const KernelFigures &kernel) { file << json::Value(toJson(kernel)); },
      [&] { file << ",\n"; });
  file << "\n]\n}\n";
  return Status::ok();
}

static StatusOr<Baseline> readBaseline() {
  auto file = llvm::MemoryBuffer::getFile(baselineFile);
  if (!file)
    return Status(StatusCode::NotFound, "can't read '" + baselineFile + "': " + file.getError().message());
  auto invalid = [&](const std::string &what) {
    return Status(StatusCode::InvalidArgument, "baseline '" + baselineFile + "': " + what);
  };
  llvm::Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value)
    return invalid(llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object || object->getInteger("version") != 1 || !object->getString("driver") || !object->getArray("kernels"))
    return invalid("expected an object with version 1, 'driver' and 'kernels', as --save-baseline writes it");
  Baseline baseline{object->getString("driver")->str(), {}};
  for (const json::Value &row : *object->getArray("kernels")) {
    if (!row.getAsObject())
      return invalid("expected an object for each kernel");
    StatusOr<KernelFigures> figures = readFigures(*row.getAsObject());
    if (!figures.isOk())
      return invalid(figures.status().message());
    baseline.kernels.push_back(std::move(*figures));
  }
  return baseline;
}

/// Compares with the baseline. Another version of the driver compiles differently, so it is only mentioned.
static Status compare(const Baseline &found, llvm::ArrayRef<std::string> cases, Figures &figures) {
  StatusOr<Baseline> baseline = readBaseline();
  if (!baseline.isOk())
    return baseline.status();
  if (baseline->driver != found.driver) {
    figures.addNote("not compared: the baseline is for '" + baseline->driver + "', but the driver is '" + found.driver +
                        "'",
                    llvm::outs());
    return Status::ok();
  }
  llvm::erase_if(baseline->kernels, [&](const KernelFigures &kernel) {
    return !llvm::is_contained(cases, llvm::StringRef(kernel.kernel).split('/').first);
  });
  std::vector<std::string> regressions = findRegressions(baseline->kernels, found.kernels);
  if (!regressions.empty())
    return {StatusCode::Internal, "worse than the baseline '" + baselineFile +
                                      "', which --save-baseline replaces:\n  " + llvm::join(regressions, "\n  ")};
  figures.addNote("no count is worse than in the baseline", llvm::outs());
  return Status::ok();
}

//===-- The suite -----------------------------------------------------------------------------------------------===//

static Table makeTable(llvm::ArrayRef<KernelFigures> kernels) {
  Table table;
  table.name = "kernels";
  table.counted =
      "The kernels of each layer, compiled for chips that the machine lacks. Registers, spills, scratch and shared "
      "(workgroup) memory and waves (subgroups per SIMD unit) are the driver's statistics. All figures after them are "
      "instructions, or bytes of one invocation, in the innermost loop with the most float operations, or in the whole "
      "kernel if it has no loop. fma_share is the part of the vector instructions (valu) that are fused multiply-adds; "
      "bytes_per_math is the bytes loaded per float operation.";
  table.columns = {"chip", "kernel"};
  for (std::string &name : listFigureNames())
    table.columns.push_back(std::move(name));
  table.columns.insert(table.columns.end(), {"fma_share", "bytes_per_math"});
  for (const KernelFigures &kernel : kernels) {
    json::Object row = toJson(kernel);
    row["fma_share"] = kernel.fmaShare();
    row["bytes_per_math"] = kernel.bytesPerMath();
    table.addRow(row);
  }
  return table;
}

/// Compiles the cases for the chips. Chips that the driver does not know are skipped, unless `mustKnow` is set.
static StatusOr<Baseline> compileAll(llvm::ArrayRef<Case> cases, llvm::ArrayRef<std::string> chips, bool mustKnow,
                                     const GpuCompiler &compiler, Figures &figures) {
  Baseline found;
  for (const Chip &chip : listChips()) {
    if (!llvm::is_contained(chips, chip.name))
      continue;
    StatusOr<std::string> family = findFamily(chip, compiler);
    if (!family.isOk() && mustKnow)
      return family.status();
    if (!family.isOk()) {
      figures.addNote(family.status().message(), llvm::outs());
      continue;
    }
    StatusOr<ChipFigures> compiled = compileFor(chip, *family, cases, compiler, assemblies);
    if (!compiled.isOk())
      return compiled.status();
    found.driver = compiled->driver;
    llvm::append_range(found.kernels, compiled->kernels);
  }
  if (found.driver.empty())
    return Status(StatusCode::Unavailable, "the driver compiled for none of the chips");
  if (found.kernels.empty())
    return Status(StatusCode::Unavailable, "the chips run no op of the graphs, so there are no kernels");
  return found;
}

/// Returns a case for each file of `--files`. Its name is that of the file without folder and extension.
static StatusOr<std::vector<Case>> readCases() {
  std::vector<Case> cases;
  for (const std::string &path : files) {
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!file)
      return Status(StatusCode::NotFound, "option --files: can't read '" + path + "': " + file.getError().message());
    cases.push_back({llvm::sys::path::stem(path).str(), (*file)->getBuffer().str(), {}});
  }
  return cases;
}

static Status run(unsigned, Figures &figures) {
  StatusOr<std::string> driver = findDriver(), layer = findLayer();
  StatusOr<std::vector<Case>> made = files.empty() ? makeCases() : readCases();
  for (const Status &status : {driver.status(), layer.status(), made.status()})
    INLAY_RETURN_IF_ERROR(status);
  std::vector<Case> cases = std::move(*made);
  std::vector<std::string> allCases, allChips;
  for (const Case &known : cases)
    allCases.push_back(known.name);
  for (const Chip &chip : listChips())
    allChips.emplace_back(chip.name);
  StatusOr<std::vector<std::string>> wanted = choose("cases", caseNames, allCases),
                                     chips = choose("chips", chipNames, allChips);
  for (const Status &status : {wanted.status(), chips.status()})
    INLAY_RETURN_IF_ERROR(status);
  llvm::erase_if(cases, [&](const Case &known) { return !llvm::is_contained(*wanted, known.name); });
  StatusOr<Baseline> found = compileAll(cases, *chips, !chipNames.empty(), {*driver, *layer}, figures);
  if (!found.isOk())
    return found.status();
  figures.add(makeTable(found->kernels), llvm::outs());
  if (!savedFile.empty())
    INLAY_RETURN_IF_ERROR(save(*found));
  return baselineFile.empty() ? Status::ok() : compare(*found, *wanted, figures);
}

const Suite &bench::gpuCompilersSuite() {
  static const Suite suite{"gpu-compilers", "counts what the compilers of GPU drivers make of kernels, without a GPU",
                           &category, run};
  return suite;
}
