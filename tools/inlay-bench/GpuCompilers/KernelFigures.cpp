// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the figures of kernels to JSON and back, and finds regressions. They are counts, so they do not depend on
// the load of the machine.

#include "KernelFigures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <functional>

using namespace inlay;
using namespace inlay::bench;
namespace json = llvm::json;

namespace {
/// The comparison of a figure with the baseline.
enum class Rule {
  Information, ///< Not compared.
  Exact,       ///< Worse if larger at all.
  Lower,       ///< Worse if larger by more than the tolerance.
};

struct Figure {
  const char *name;
  std::function<int64_t &(KernelFigures &)> get;
  Rule rule;
};

struct Ratio {
  const char *name;
  double (KernelFigures::*get)() const;
  bool isBetterLower;
};
} // namespace

/// Register allocation may differ this much between two versions of a kernel without counting as worse.
static constexpr double kTolerance = 0.05;

static int64_t &getMember(KernelFigures &figures, int64_t KernelFigures::*member) { return figures.*member; }
static int64_t &getMember(KernelFigures &figures, int64_t IsaCounts::*member) { return figures.loop.*member; }

template <typename Member>
static Figure makeFigure(const char *name, Member member, Rule rule) {
  return {name, [member](KernelFigures &figures) -> int64_t & { return getMember(figures, member); }, rule};
}

static llvm::ArrayRef<Figure> allFigures() {
  using K = KernelFigures;
  using I = IsaCounts;
  static const Figure figures[] = {
      makeFigure("groups", &K::workgroups, Rule::Information),
      makeFigure("invocations", &K::invocations, Rule::Information),
      makeFigure("subgroup", &K::subgroup, Rule::Information),
      makeFigure("vgprs", &K::vectorRegisters, Rule::Lower),
      makeFigure("sgprs", &K::scalarRegisters, Rule::Information),
      makeFigure("spills", &K::spills, Rule::Exact),
      makeFigure("scratch", &K::scratchBytes, Rule::Exact),
      makeFigure("shared", &K::sharedBytes, Rule::Information),
      makeFigure("waves", &K::subgroupsPerSimd, Rule::Information),
      makeFigure("instructions", &I::instructions, Rule::Information),
      makeFigure("valu", &I::vector, Rule::Information),
      makeFigure("fma", &I::fma, Rule::Information),
      makeFigure("matrix", &I::matrix, Rule::Information),
      makeFigure("math", &I::arithmetic, Rule::Information),
      makeFigure("int", &I::integer, Rule::Information),
      makeFigure("lane", &I::lane, Rule::Information),
      makeFigure("salu", &I::scalar, Rule::Information),
      makeFigure("loads", &I::loads, Rule::Information),
      makeFigure("load_bytes", &I::loadBytes, Rule::Information),
      makeFigure("narrow", &I::narrowLoads, Rule::Exact),
      makeFigure("scalar_loads", &I::scalarLoads, Rule::Information),
      makeFigure("shared_reads", &I::sharedReads, Rule::Information),
      makeFigure("shared_bytes", &I::sharedReadBytes, Rule::Information),
      makeFigure("shared_writes", &I::sharedWrites, Rule::Information),
      makeFigure("stores", &I::stores, Rule::Information),
      makeFigure("full_waits", &I::fullWaits, Rule::Information),
      makeFigure("barriers", &I::barriers, Rule::Information),
  };
  return figures;
}

static constexpr Ratio kRatios[] = {{"fma_share", &KernelFigures::fmaShare, false},
                                    {"bytes_per_math", &KernelFigures::bytesPerMath, true}};

double KernelFigures::fmaShare() const {
  return loop.vector ? static_cast<double>(loop.fma) / static_cast<double>(loop.vector) : 0;
}

double KernelFigures::bytesPerMath() const {
  return loop.countMath() ? static_cast<double>(loop.loadBytes) / static_cast<double>(loop.countMath()) : 0;
}

std::vector<std::string> bench::listFigureNames() {
  std::vector<std::string> names;
  for (const Figure &figure : allFigures())
    names.emplace_back(figure.name);
  return names;
}

json::Object bench::toJson(const KernelFigures &figures) {
  json::Object object{{"chip", figures.chip}, {"kernel", figures.kernel}};
  for (const Figure &figure : allFigures())
    object[figure.name] = figure.get(const_cast<KernelFigures &>(figures));
  return object;
}

rt::StatusOr<KernelFigures> bench::readFigures(const json::Object &object) {
  KernelFigures figures;
  std::optional<llvm::StringRef> chip = object.getString("chip"), kernel = object.getString("kernel");
  if (!chip || !kernel)
    return rt::Status(rt::StatusCode::InvalidArgument, "expected the chip and the name of each kernel");
  figures.chip = chip->str();
  figures.kernel = kernel->str();
  for (const Figure &figure : allFigures()) {
    std::optional<int64_t> value = object.getInteger(figure.name);
    if (!value)
      return rt::Status(rt::StatusCode::InvalidArgument,
                        figures.kernel + " on " + figures.chip + ": expected the integer '" + figure.name + "'");
    figure.get(figures) = *value;
  }
  return figures;
}

/// Compares two versions of a kernel.
static void compare(KernelFigures before, KernelFigures after, std::vector<std::string> &regressions) {
  std::string place = after.kernel + " on " + after.chip + ": ";
  for (const Figure &figure : allFigures()) {
    int64_t old = figure.get(before), current = figure.get(after);
    double limit = static_cast<double>(old) * (figure.rule == Rule::Lower ? 1 + kTolerance : 1);
    if (figure.rule != Rule::Information && static_cast<double>(current) > limit)
      regressions.push_back(llvm::formatv("{0}{1} grew from {2} to {3}", place, figure.name, old, current));
  }
  for (const Ratio &ratio : kRatios) {
    double old = (before.*ratio.get)(), current = (after.*ratio.get)();
    bool isWorse = ratio.isBetterLower ? current > old * (1 + kTolerance) : current < old * (1 - kTolerance);
    if (isWorse)
      regressions.push_back(llvm::formatv("{0}{1} {2} from {3:f3} to {4:f3}", place, ratio.name,
                                          ratio.isBetterLower ? "grew" : "fell", old, current));
  }
}

std::vector<std::string> bench::findRegressions(llvm::ArrayRef<KernelFigures> baseline,
                                                llvm::ArrayRef<KernelFigures> found) {
  auto find = [](llvm::ArrayRef<KernelFigures> list, const KernelFigures &wanted) {
    return llvm::find_if(list, [&](const KernelFigures &figures) {
      return figures.chip == wanted.chip && figures.kernel == wanted.kernel;
    });
  };
  std::vector<std::string> regressions;
  for (const KernelFigures &after : found) {
    const KernelFigures *before = find(baseline, after);
    if (before == baseline.end())
      regressions.push_back(after.kernel + " on " + after.chip + ": not in the baseline");
    else
      compare(*before, after, regressions);
  }
  for (const KernelFigures &before : baseline) {
    bool isMeasured = llvm::any_of(found, [&](const KernelFigures &figures) { return figures.chip == before.chip; });
    if (isMeasured && find(found, before) == found.end())
      regressions.push_back(before.kernel + " on " + before.chip + ": only in the baseline");
  }
  return regressions;
}
