// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects the features of this processor and chooses the object of host code that it can run.
// Target/Host/LLVM/Processors.cpp lists the processors that code is compiled for.

#include "Processor.h"
#include "inlay/Runtime/Core/LazyStatic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace inlay::rt::host {

#if defined(__x86_64__)
static constexpr const char *kArch = "x86_64";

namespace {
enum Register : uint8_t { A, B, C, D };

/// Register state that the system must save for a feature: bits of XCR0 (Intel SDM, volume 1, 13.3).
enum State : uint32_t { Nothing = 0, Avx = 0x6, Avx512 = 0xe6, Amx = 0x60000 };

/// A feature bit of CPUID (Intel SDM, volume 2, CPUID; AMD APM, volume 3, appendix E).
struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  unsigned bit;
  State state;
};
} // namespace

static constexpr uint32_t kExtended = 0x80000001;

static constexpr Feature kFeatures[] = {
    {"cx8", 1, 0, D, 8, Nothing},
    {"cmov", 1, 0, D, 15, Nothing},
    {"mmx", 1, 0, D, 23, Nothing},
    {"fxsr", 1, 0, D, 24, Nothing},
    {"sse", 1, 0, D, 25, Nothing},
    {"sse2", 1, 0, D, 26, Nothing},
    {"sse3", 1, 0, C, 0, Nothing},
    {"pclmul", 1, 0, C, 1, Nothing},
    {"ssse3", 1, 0, C, 9, Nothing},
    {"fma", 1, 0, C, 12, Avx},
    {"cx16", 1, 0, C, 13, Nothing},
    {"sse4.1", 1, 0, C, 19, Nothing},
    {"sse4.2", 1, 0, C, 20, Nothing},
    {"crc32", 1, 0, C, 20, Nothing},
    {"movbe", 1, 0, C, 22, Nothing},
    {"popcnt", 1, 0, C, 23, Nothing},
    {"aes", 1, 0, C, 25, Nothing},
    {"avx", 1, 0, C, 28, Avx},
    {"f16c", 1, 0, C, 29, Avx},
    {"bmi", 7, 0, B, 3, Nothing},
    {"avx2", 7, 0, B, 5, Avx},
    {"bmi2", 7, 0, B, 8, Nothing},
    {"avx512f", 7, 0, B, 16, Avx512},
    {"avx512dq", 7, 0, B, 17, Avx512},
    {"adx", 7, 0, B, 19, Nothing},
    {"avx512ifma", 7, 0, B, 21, Avx512},
    {"avx512cd", 7, 0, B, 28, Avx512},
    {"sha", 7, 0, B, 29, Nothing},
    {"avx512bw", 7, 0, B, 30, Avx512},
    {"avx512vl", 7, 0, B, 31, Avx512},
    {"avx512vbmi", 7, 0, C, 1, Avx512},
    {"avx512vbmi2", 7, 0, C, 6, Avx512},
    {"gfni", 7, 0, C, 8, Nothing},
    {"vaes", 7, 0, C, 9, Avx},
    {"vpclmulqdq", 7, 0, C, 10, Avx},
    {"avx512vnni", 7, 0, C, 11, Avx512},
    {"avx512bitalg", 7, 0, C, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, C, 14, Avx512},
    {"avx512fp16", 7, 0, D, 23, Avx512},
    {"amx-bf16", 7, 0, D, 22, Amx},
    {"amx-tile", 7, 0, D, 24, Amx},
    {"amx-int8", 7, 0, D, 25, Amx},
    {"avxvnni", 7, 1, A, 4, Avx},
    {"avx512bf16", 7, 1, A, 5, Avx512},
    {"avxifma", 7, 1, A, 23, Avx},
    {"avxvnniint8", 7, 1, D, 4, Avx},
    {"avxneconvert", 7, 1, D, 5, Avx},
    {"avxvnniint16", 7, 1, D, 10, Avx},
    {"sahf", kExtended, 0, C, 0, Nothing},
    {"lzcnt", kExtended, 0, C, 5, Nothing},
    {"sse4a", kExtended, 0, C, 6, Nothing},
    {"64bit", kExtended, 0, D, 29, Nothing},
};

/// Returns XCR0; 0 if the system saves no more than SSE's registers.
static uint32_t savedState() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kOsSave = 1u << 27; // OSXSAVE
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsSave))
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool hasFeature(const Feature &feature, uint32_t saved) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[A], &registers[B], &registers[C], &registers[D]))
    return false;
  return (registers[feature.where] >> feature.bit & 1) && (saved & feature.state) == feature.state;
}

static std::vector<std::string> findFeatures() {
  std::vector<std::string> found;
  uint32_t saved = savedState();
  for (const Feature &feature : kFeatures)
    if (hasFeature(feature, saved))
      found.emplace_back(feature.name);
  return found;
}

#elif defined(__aarch64__)
static constexpr const char *kArch = "aarch64";

namespace {
/// A feature bit of AT_HWCAP or AT_HWCAP2 (Linux, Documentation/arch/arm64/elf_hwcaps.rst).
struct Feature {
  const char *name;
  unsigned long word, bit;
};
} // namespace

static constexpr Feature kFeatures[] = {
    {"fp-armv8", AT_HWCAP, HWCAP_FP},  {"neon", AT_HWCAP, HWCAP_ASIMD},       {"aes", AT_HWCAP, HWCAP_AES},
    {"sha2", AT_HWCAP, HWCAP_SHA2},    {"crc", AT_HWCAP, HWCAP_CRC32},        {"lse", AT_HWCAP, HWCAP_ATOMICS},
    {"rdm", AT_HWCAP, HWCAP_ASIMDRDM}, {"fullfp16", AT_HWCAP, HWCAP_ASIMDHP}, {"dotprod", AT_HWCAP, HWCAP_ASIMDDP},
    {"sve", AT_HWCAP, HWCAP_SVE},      {"i8mm", AT_HWCAP2, 1ul << 13},        {"bf16", AT_HWCAP2, 1ul << 14},
    {"sve2", AT_HWCAP2, 1ul << 1},
};

static std::vector<std::string> findFeatures() {
  std::vector<std::string> found;
  for (const Feature &feature : kFeatures)
    if (getauxval(feature.word) & feature.bit)
      found.emplace_back(feature.name);
  return found;
}

#else
#error "host code is loaded on x86-64 and AArch64"
#endif

const Processor &thisProcessor() {
  static LazyStatic<Processor> processor;
  return processor.get([] {
    Processor result{kArch, findFeatures()};
    std::sort(result.features.begin(), result.features.end());
    return result;
  });
}

std::vector<std::string> knownFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : kFeatures)
    names.emplace_back(feature.name);
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the elements of `required` that are not in `sorted`.
static std::vector<std::string> findMissing(std::vector<std::string> required, const std::vector<std::string> &sorted) {
  std::vector<std::string> missing;
  std::sort(required.begin(), required.end());
  std::set_difference(required.begin(), required.end(), sorted.begin(), sorted.end(), std::back_inserter(missing));
  return missing;
}

StatusOr<size_t> chooseObject(const HostCode &code, const Processor &processor) {
  std::string_view arch = std::string_view(code.triple).substr(0, code.triple.find('-'));
  if (arch != processor.arch || code.triple.find("linux") == std::string::npos)
    return Status(StatusCode::Unavailable,
                  fmt::format("the host code is for '{}', but this is {} with Linux", code.triple, processor.arch));
  std::string reasons;
  for (size_t number = 0; number < code.objects.size(); ++number) {
    const HostObject &object = code.objects[number];
    std::vector<std::string> missing = findMissing(object.features, processor.features);
    if (missing.empty())
      return number;
    reasons +=
        fmt::format("{}that for '{}' needs {}", reasons.empty() ? "" : "; ", object.cpu, fmt::join(missing, ", "));
  }
  return Status(StatusCode::Unavailable,
                fmt::format("none of the host code fits this processor: {}; the processor has {}",
                            reasons.empty() ? "there is none" : reasons, fmt::join(processor.features, ", ")));
}

} // namespace inlay::rt::host
