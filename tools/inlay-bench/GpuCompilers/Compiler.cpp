// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the environment of Vulkan's loader for a null device, compiles cases in a child process, and reads the files of
// the layer. The runtime itself creates the pipelines, so the driver gets exactly what a user's device would get.

#include "Compiler.h"
#include "Measure/Measure.h"

#include "inlay/Execution/Compile.h"
#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <map>

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

llvm::ArrayRef<Chip> bench::listChips() {
  static constexpr Chip chips[] = {
      {"polaris10", nullptr}, {"vega10", nullptr}, {"navi21", nullptr}, {"navi31", "gfx1100"}, {"gfx1151", nullptr}};
  return chips;
}

static void prepareEnvironment(const std::string &family, const GpuCompiler &compiler, const std::string &folder) {
  const std::pair<const char *, std::string> variables[] = {
      {"RADV_FORCE_FAMILY", family},
      {"VK_DRIVER_FILES", compiler.driver},
      {"VK_LAYER_PATH", compiler.layer},
      {"VK_INSTANCE_LAYERS", "VK_LAYER_INLAY_gpu"},
      {"VK_LOADER_LAYERS_DISABLE", "~implicit~"},
      {"INLAY_GPU_LAYER_FOLDER", folder},
      {"INLAY_VULKAN_VALIDATION", "0"},
      {"INLAY_DEVICE", ""},
      {"MESA_SHADER_CACHE_DISABLE", "true"},
      {"XDG_CACHE_HOME", folder + "/cache"}}; // The pipeline cache of a null device is of no use elsewhere.
  for (const auto &[name, value] : variables)
    setenv(name, value.c_str(), /*overwrite=*/1);
}

StatusOr<std::string> bench::findFamily(const Chip &chip, const GpuCompiler &compiler) {
  for (const char *family : {chip.name, chip.olderName}) {
    if (!family)
      continue;
    StatusOr<json::Object> found = runInChild(family, [&]() -> StatusOr<json::Object> {
      prepareEnvironment(family, compiler, "");
      std::freopen("/dev/null", "w",
                   stderr); // The driver ends the process with a message if it does not know the chip.
      StatusOr<rt::vulkan::DeviceCaps> caps = rt::vulkan::selectDevice("");
      return caps.isOk() ? StatusOr<json::Object>(json::Object()) : StatusOr<json::Object>(caps.status());
    });
    if (found.isOk())
      return std::string(family);
  }
  return Status(StatusCode::Unavailable, std::string("this version of the driver does not know the chip ") + chip.name);
}

static Status malformed(llvm::StringRef file) {
  return {StatusCode::Internal, "the layer wrote no statistics of a pipeline to '" + file.str() + "'"};
}

/// Reads the file that the layer wrote last, which is `number`.
static StatusOr<json::Object> readLayerFile(const std::string &folder, unsigned number) {
  std::string path = folder + "/" + std::to_string(number) + ".json";
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return malformed(path);
  llvm::Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value || !value->getAsObject()) {
    llvm::consumeError(value.takeError());
    return malformed(path);
  }
  return std::move(*value->getAsObject());
}

/// Returns the figures of a pipeline from the layer's file.
static StatusOr<KernelFigures> readPipeline(const json::Object &file, std::string &assembly) {
  const json::Object *statistics = file.getObject("statistics");
  std::optional<llvm::StringRef> text = file.getString("assembly");
  if (!statistics || statistics->empty() || !text || text->empty())
    return Status(StatusCode::Unavailable, "the driver has no statistics or no assembly of a pipeline");
  auto get = [&](llvm::StringRef name) { return statistics->getInteger(name).value_or(0); };
  KernelFigures figures;
  figures.subgroup = file.getInteger("subgroup").value_or(0);
  figures.vectorRegisters = get("VGPRs");
  figures.scalarRegisters = get("SGPRs");
  figures.spills = get("Spilled VGPRs") + get("Spilled SGPRs");
  figures.scratchBytes = get("Scratch size");
  figures.sharedBytes = get("LDS size");
  figures.subgroupsPerSimd = get("Subgroups per SIMD");
  figures.loop = countHotLoop(*text);
  assembly = text->str();
  return figures;
}

namespace {
/// The work of the child process for one chip.
class ChipCompilation {
public:
  ChipCompilation(llvm::StringRef chip, std::string folder, llvm::StringRef assemblies)
      : chip(chip), folder(std::move(folder)), assemblies(assemblies) {}

  StatusOr<json::Object> run(llvm::ArrayRef<Case> cases) {
    StatusOr<rt::vulkan::DeviceCaps> caps = rt::vulkan::selectDevice("");
    if (!caps.isOk())
      return caps.status();
    StatusOr<std::shared_ptr<rt::Device>> opened = rt::vulkan::openDevice("");
    if (!opened.isOk())
      return opened.status();
    device = *opened;
    for (const Case &which : cases)
      INLAY_RETURN_IF_ERROR(compileCase(which));
    return json::Object{{"driver", caps->driver}, {"kernels", std::move(rows)}};
  }

private:
  Status compileCase(const Case &which) {
    CompileRequest request;
    request.text = which.text;
    request.name = which.name;
    request.targets = {"vulkan", "host"}; // The host runs what the device cannot.
    request.allowMissingDevice = false;
    for (const Case::Constant &constant : which.constants) {
      std::shared_ptr<void> zeros(std::calloc(constant.size, 1), std::free);
      if (!zeros)
        return {StatusCode::ResourceExhausted, which.name + ": no memory for its weights"};
      request.weights.push_back({constant.key, zeros.get(), constant.size, zeros, ""});
    }
    StatusOr<CompiledProgram> compiled = compileOnly(request);
    if (!compiled.isOk())
      return compiled.status();
    unsigned number = 0;
    for (const rt::Engine &engine : compiled->plan->engines)
      for (const rt::Dispatch &dispatch : engine.dispatches)
        INLAY_RETURN_IF_ERROR(addDispatch(engine, dispatch, which.name + "/" + std::to_string(number++)));
    return Status::ok();
  }

  /// The figures of a kernel, whatever its name and its dispatch, and its assembly.
  struct Compiled {
    KernelFigures figures;
    std::string assembly;
  };

  /// Lets the driver compile a kernel. The runtime may share the pipeline of an equal one, so each is compiled once.
  StatusOr<const Compiled *> compileKernel(const rt::Kernel &kernel, const std::string &name) {
    auto [known, isNew] = compiled.try_emplace(kernel.spirv);
    if (!isNew)
      return &known->second;
    rt::Engine single;
    single.name = name;
    single.kernels = {kernel};
    StatusOr<std::shared_ptr<rt::DeviceEngine>> loaded = device->load(single);
    if (!loaded.isOk())
      return loaded.status();
    INLAY_RETURN_IF_ERROR((*loaded)->wait());
    StatusOr<json::Object> file = readLayerFile(folder, pipelines++);
    if (!file.isOk())
      return file.status();
    StatusOr<KernelFigures> figures = readPipeline(*file, known->second.assembly);
    if (!figures.isOk())
      return Status(figures.status().code(), name + ": " + figures.status().message());
    known->second.figures = std::move(*figures);
    return &known->second;
  }

  /// Adds a row for the kernel of a dispatch.
  Status addDispatch(const rt::Engine &engine, const rt::Dispatch &dispatch, const std::string &name) {
    const rt::Kernel &kernel = engine.kernels[dispatch.kernel];
    StatusOr<const Compiled *> found = compileKernel(kernel, name);
    if (!found.isOk())
      return found.status();
    KernelFigures figures = (*found)->figures;
    figures.chip = chip.str();
    figures.kernel = name;
    figures.workgroups = figures.invocations = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      StatusOr<int64_t> groups = dispatch.grid[axis].evaluate({});
      figures.workgroups *= groups.isOk() ? *groups : 0; // Sizes that are known only at a call give no number.
      figures.invocations *= kernel.block[axis];
    }
    rows.push_back(toJson(figures));
    return assemblies.empty() ? Status::ok() : writeAssembly(name, (*found)->assembly);
  }

  Status writeAssembly(std::string name, const std::string &assembly) const {
    std::replace(name.begin(), name.end(), '/', '-');
    std::string path = (assemblies + "/" + chip + "-" + name + ".s").str();
    std::error_code error = llvm::sys::fs::create_directories(assemblies);
    if (!error) {
      llvm::raw_fd_ostream file(path, error);
      if (!error)
        file << assembly;
    }
    return error ? Status(StatusCode::NotFound, "can't write '" + path + "': " + error.message()) : Status::ok();
  }

  llvm::StringRef chip;
  std::string folder; ///< Holds the files of the layer.
  llvm::StringRef assemblies;
  std::shared_ptr<rt::Device> device;
  std::map<std::vector<uint32_t>, Compiled> compiled; ///< By SPIR-V.
  unsigned pipelines = 0; ///< Number of pipelines so far. The layer numbers its files in the same order.
  json::Array rows;
};
} // namespace

StatusOr<ChipFigures> bench::compileFor(const Chip &chip, const std::string &family, llvm::ArrayRef<Case> cases,
                                        const GpuCompiler &compiler, llvm::StringRef assemblies) {
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("inlay-gpu-compilers", folder))
    return Status(StatusCode::NotFound, "can't create a temporary folder: " + error.message());
  auto remove = llvm::scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  StatusOr<json::Object> found = runInChild(chip.name, [&] {
    prepareEnvironment(family, compiler, folder.str().str());
    return ChipCompilation(chip.name, folder.str().str(), assemblies).run(cases);
  });
  if (!found.isOk())
    return found.status();
  ChipFigures result;
  result.driver = found->getString("driver").value_or("").str();
  if (const json::Array *rows = found->getArray("kernels"))
    for (const json::Value &row : *rows) {
      StatusOr<KernelFigures> figures = readFigures(*row.getAsObject());
      if (!figures.isOk())
        return figures.status();
      result.kernels.push_back(std::move(*figures));
    }
  return result;
}
