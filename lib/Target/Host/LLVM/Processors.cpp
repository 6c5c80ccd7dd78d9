// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a processor by name, its features and its triple for code generation. Runtime/Host/Support/Processor.cpp
// detects the processor that runs the code.

#include "Processors.h"
#include "inlay/Support/Suggest.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <mutex>

using namespace mlir;
using namespace inlay;

/// Features of x86-64 processors.
static constexpr llvm::StringLiteral kX86Features[] = {
    "64bit",      "adx",          "aes",          "amx-bf16",     "amx-int8",    "amx-tile",   "avx",
    "avx2",       "avx512bf16",   "avx512bitalg", "avx512bw",     "avx512cd",    "avx512dq",   "avx512f",
    "avx512fp16", "avx512ifma",   "avx512vbmi",   "avx512vbmi2",  "avx512vl",    "avx512vnni", "avx512vpopcntdq",
    "avxifma",    "avxneconvert", "avxvnni",      "avxvnniint16", "avxvnniint8", "bmi",        "bmi2",
    "cmov",       "crc32",        "cx16",         "cx8",          "f16c",        "fma",        "fxsr",
    "gfni",       "lzcnt",        "mmx",          "movbe",        "pclmul",      "popcnt",     "sahf",
    "sha",        "sse",          "sse2",         "sse3",         "sse4.1",      "sse4.2",     "sse4a",
    "ssse3",      "vaes",         "vpclmulqdq"};

/// Features of AArch64 processors. Generated code uses no others, because a process can query only these from its
/// kernel.
static constexpr llvm::StringLiteral kAArch64Features[] = {
    "aes", "bf16", "crc", "dotprod", "fp-armv8", "fullfp16", "i8mm", "lse", "neon", "rdm", "sha2", "sve", "sve2"};

ArrayRef<llvm::StringLiteral> inlay::selectedFeatures(const llvm::Triple &triple) {
  return triple.isAArch64() ? ArrayRef(kAArch64Features) : ArrayRef(kX86Features);
}

/// Returns the names of those `features` that generated code may need.
static std::vector<std::string> select(const llvm::Triple &triple, ArrayRef<StringRef> features) {
  std::vector<std::string> required;
  for (StringRef name : selectedFeatures(triple))
    if (llvm::is_contained(features, name))
      required.push_back(name.str());
  return required;
}

static HostProcessor findNative() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  HostProcessor processor{"native", triple, llvm::sys::getHostCPUName().str(), {}, {}, {}};
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> present;
  std::vector<std::string> flags;
  for (const auto &[name, isPresent] : features) {
    flags.push_back((isPresent ? "+" : "-") + name.str());
    if (isPresent)
      present.push_back(name);
  }
  llvm::sort(flags); // The map is unordered.
  processor.features = llvm::join(flags, ",");
  processor.required = select(triple, present);
  return processor;
}

/// Returns the triple of this process if it has that architecture, else a triple for Linux.
static llvm::Triple tripleOf(llvm::Triple::ArchType arch) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  return triple.getArch() == arch ? triple : llvm::Triple(llvm::Triple::getArchTypeName(arch) + "-unknown-linux-gnu");
}

static HostProcessor findX86(StringRef name) {
  SmallVector<StringRef> features;
  llvm::X86::getFeaturesForCPU(name, features);
  llvm::StringMap<bool> all; // Includes implied features.
  for (StringRef feature : features) {
    all[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, all);
  }
  features.clear();
  for (const auto &feature : all)
    features.push_back(feature.getKey());
  llvm::Triple triple = tripleOf(llvm::Triple::x86_64);
  return HostProcessor{name.str(), triple, name.str(), {}, {}, select(triple, features)};
}

/// Finds a processor ("cortex-a72") or a version of the architecture ("armv8.2-a"). Returns nullopt if the name is
/// neither.
static std::optional<HostProcessor> findAArch64(StringRef name) {
  llvm::AArch64::ExtensionBitset extensions;
  const llvm::AArch64::ArchInfo *version = llvm::AArch64::parseArch(name);
  std::optional<llvm::AArch64::CpuInfo> cpu = llvm::AArch64::parseCpu(name);
  if (cpu)
    extensions = cpu->getImpliedExtensions();
  else if (version && version->Name == name)
    extensions = version->DefaultExts;
  else
    return std::nullopt;
  std::vector<StringRef> flags;
  llvm::AArch64::getExtensionFeatures(extensions, flags);
  SmallVector<StringRef> features;
  for (StringRef flag : flags)
    if (flag.consume_front("+"))
      features.push_back(flag);
  llvm::Triple triple = tripleOf(llvm::Triple::aarch64);
  HostProcessor processor{name.str(), triple, "generic", cpu ? name.str() : "", {}, select(triple, features)};
  for (const std::string &feature : processor.required)
    processor.features += (processor.features.empty() ? "+" : ",+") + feature;
  return processor;
}

FailureOr<HostProcessor> inlay::findProcessor(Location loc, StringRef name) {
  if (name == "native")
    return findNative();
  SmallVector<StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (llvm::is_contained(known, name))
    return findX86(name);
  if (std::optional<HostProcessor> processor = findAArch64(name))
    return *processor;
  known.push_back("native");
  llvm::AArch64::fillValidCPUArchList(known);
  return emitError(loc) << "unknown host processor '" << name
                        << "': expected native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4, armv8-a, armv8.2-a or an "
                           "LLVM processor name"
                        << suggest(name, std::vector<std::string>(known.begin(), known.end()));
}

FailureOr<std::vector<HostProcessor>> inlay::findProcessors(Location loc, ArrayRef<std::string> names) {
  static const std::string kNative = "native";
  std::vector<HostProcessor> processors;
  for (const std::string &name : names.empty() ? ArrayRef(kNative) : names) {
    FailureOr<HostProcessor> processor = findProcessor(loc, name);
    if (failed(processor))
      return failure();
    if (llvm::none_of(processors, [&](const HostProcessor &other) { return other.name == name; }))
      processors.push_back(std::move(*processor));
  }
  for (const HostProcessor &processor : processors)
    if (processor.triple.getArch() != processors.front().triple.getArch())
      return emitError(loc) << "host processors '" << processors.front().name << "' and '" << processor.name
                            << "': expected processors of one architecture, but got "
                            << processors.front().triple.getArchName() << " and " << processor.triple.getArchName();
  // A processor whose features are a superset of another's comes before it.
  llvm::stable_sort(
      processors, [](const HostProcessor &a, const HostProcessor &b) { return a.required.size() > b.required.size(); });
  return processors;
}

std::unique_ptr<llvm::TargetMachine> inlay::createMachine(Location loc, const HostProcessor &processor) {
  static std::mutex registering; // Registration is not thread-safe.
  std::lock_guard<std::mutex> lock(registering);
  static std::once_flag native, all;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  if (processor.triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    std::call_once(all, [] {
      llvm::InitializeAllTargetInfos();
      llvm::InitializeAllTargets();
      llvm::InitializeAllTargetMCs();
      llvm::InitializeAllAsmPrinters();
    });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(processor.triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine;
  if (target)
    machine.reset(target->createTargetMachine(processor.triple, processor.cpu, processor.features, options,
                                              llvm::Reloc::PIC_, /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    emitError(loc) << "can't generate native code for " << processor.triple.str() << ": " << error;
  return machine;
}
