// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Processors.h"
#include "inlay/Support/Suggest.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <mutex>

using namespace mlir;
using namespace inlay;

ArrayRef<llvm::StringLiteral> inlay::selectedFeatures() {
  static constexpr llvm::StringLiteral kFeatures[] = {
      "64bit",      "adx",          "aes",          "amx-bf16",     "amx-int8",    "amx-tile",   "avx",
      "avx2",       "avx512bf16",   "avx512bitalg", "avx512bw",     "avx512cd",    "avx512dq",   "avx512f",
      "avx512fp16", "avx512ifma",   "avx512vbmi",   "avx512vbmi2",  "avx512vl",    "avx512vnni", "avx512vpopcntdq",
      "avxifma",    "avxneconvert", "avxvnni",      "avxvnniint16", "avxvnniint8", "bmi",        "bmi2",
      "cmov",       "crc32",        "cx16",         "cx8",          "f16c",        "fma",        "fxsr",
      "gfni",       "lzcnt",        "mmx",          "movbe",        "pclmul",      "popcnt",     "sahf",
      "sha",        "sse",          "sse2",         "sse3",         "sse4.1",      "sse4.2",     "sse4a",
      "ssse3",      "vaes",         "vpclmulqdq"};
  return kFeatures;
}

/// The names of `features` that code may need.
static std::vector<std::string> select(ArrayRef<StringRef> features) {
  std::vector<std::string> required;
  for (StringRef name : selectedFeatures())
    if (llvm::is_contained(features, name))
      required.push_back(name.str());
  return required;
}

static HostProcessor findNative() {
  HostProcessor processor{"native", llvm::sys::getHostCPUName().str(), {}, {}};
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> present;
  std::vector<std::string> words;
  for (const auto &[name, isPresent] : features) {
    words.push_back((isPresent ? "+" : "-") + name.str());
    if (isPresent)
      present.push_back(name);
  }
  llvm::sort(words); // the map has no order
  processor.features = llvm::join(words, ",");
  processor.required = select(present);
  return processor;
}

FailureOr<HostProcessor> inlay::findProcessor(Location loc, StringRef name) {
  if (name == "native")
    return findNative();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  if (triple.getArch() != llvm::Triple::x86_64)
    return emitError(loc) << "host processor '" << name << "': expected native, since this is none of x86-64";
  SmallVector<StringRef> known{"native"}, features;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, name))
    return emitError(loc) << "unknown host processor '" << name
                          << "': expected native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or LLVM's name of one"
                          << suggest(name, std::vector<std::string>(known.begin(), known.end()));
  llvm::X86::getFeaturesForCPU(name, features);
  llvm::StringMap<bool> all; // with what each of them implies
  for (StringRef feature : features) {
    all[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, all);
  }
  features.clear();
  for (const auto &feature : all)
    features.push_back(feature.getKey());
  return HostProcessor{name.str(), name.str(), {}, select(features)};
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
  // What has all of another's features and more comes before it.
  llvm::stable_sort(
      processors, [](const HostProcessor &a, const HostProcessor &b) { return a.required.size() > b.required.size(); });
  return processors;
}

std::unique_ptr<llvm::TargetMachine> inlay::createMachine(Location loc, const HostProcessor &processor) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine;
  if (target)
    machine.reset(target->createTargetMachine(triple, processor.cpu, processor.features, options, llvm::Reloc::PIC_,
                                              /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    emitError(loc) << "can't generate native code for " << triple.str() << ": " << error;
  return machine;
}
