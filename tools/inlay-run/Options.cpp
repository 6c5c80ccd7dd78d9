// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares, checks and parses all flags of inlay-run. Run.cpp acts on them. Flags of the compiler are in
// Support/Options.td.

#include "Options.h"
#include "Files.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
using tools::RunOptions;

namespace {
/// An option of inlay-compile, as Support/Options.td describes it; the runtime is built without TableGen. An option
/// without a name for its value is a switch.
struct CompilerOption {
  const char *name, *value, *help;
  bool isOfGraph = false; ///< True if it describes the graph and not where it runs.
};
} // namespace

static constexpr CompilerOption kCompilerOptions[] = {
    {"allow-ops", "NAMES",
     "The only ops that accelerators may run: aten::add for all of them, or aten::add@npu for one"},
    {"cost-model", "FILE",
     "File of the cost model, from inlay-bench --calibrate, or `default` for the costs that the targets state"},
    {"dump-dir", "FOLDER", "Folder for the module after each phase"},
    {"enabled", nullptr,
     "If false, nothing is partitioned: the first target runs the graph as one segment, or an error lists the ops that "
     "prevent it"},
    {"exempt-ops", "NAMES", "Ops by name whose segments may be smaller than the minimum block size"},
    {"fallback-locations", "NAMES",
     "Ops by label (globs) or file:line that go to the last target too; an entry that matches no op is an error"},
    {"fallback-modules", "NAMES",
     "Modules by instance path or class (globs) whose ops go to the last target too; a glob that matches no module is "
     "an error"},
    {"fallback-ops", "NAMES",
     "Ops by name that go to the last listed target that can run them; a name that matches no op is an error"},
    {"host-cpu", "NAMES", "Processors to compile host code for, such as x86-64-v3,native; default: native"},
    {"input-shape", "NAME:DIMS",
     "Sizes of an input whose dims are ? in the module, as x:1..8x3x224x224 or x:batch=1..8x3", true},
    {"max-loop-iterations", "NUMBER", "Number of iterations after which a loop of the model fails as endless", true},
    {"min-block-size", "NUMBER",
     "Minimum number of ops of an accelerator segment; smaller ones go to the next target that can run them"},
    {"placement", "FILE", "Placement file whose segments are formed instead of new ones"},
    {"recovery", nullptr, "Compile device segments for the host too, which runs them if the device fails"},
    {"report", "FILE",
     "File for the partition report: text for .txt, a page for .html, else JSON; - is standard output"},
    {"require-device", nullptr, "Fail without a Vulkan device instead of running on the host alone"},
    {"require-full-compilation", nullptr,
     "The whole graph must run on the first target; the error lists the ops that can't"},
    {"save-placement", "FILE", "File for the placement; - is standard output"},
    {"strategy", "NAME",
     "How segments are formed: levels (the fewest), cost (the least time under the cost model), or, for comparison, "
     "in-order (a new one whenever the next op has another target) or torch-tensorrt (the walk of its TorchScript "
     "front end)"},
    {"sweep", nullptr, "Report the partitions with other minimum block sizes: 1, 2, 3, 5, 8, ..."},
    {"targets", "NAMES", "Targets in priority order: vulkan, host, torch"},
    {"tuning", "FILE", "Tuning file of the Vulkan device, from inlay-bench --tune; default: costs of its kind"},
    {"what-if", nullptr, "Report the partitions if the first target could run ops that it has no code for"},
    {"from", "PHASE", "First phase to run, for a module that inlay-compile --to stopped before it", true},
};

static constexpr const char *kDefaultRuns = "10";

static Status wrong(const char *option, const std::string &what) {
  return {StatusCode::InvalidArgument, fmt::format("option --{}: {}", option, what)};
}

//===-- Words ---------------------------------------------------------------------------------------------------===//

/// Returns the edit distance: the number of letters to change, insert or delete.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j + 1] + 1, corner + (a[i] != b[j])});
      corner = row[j + 1];
      row[j + 1] = next;
    }
  }
  return row.back();
}

static Status unknown(const CLI::App &app, const std::string &word) {
  if (word.empty() || word[0] != '-')
    return {StatusCode::InvalidArgument, fmt::format("expected one module or program, but got '{}' too", word)};
  std::string name = word.substr(0, word.find('=')), best;
  size_t smallest = 3; // words at this distance or more are not suggested
  for (const CLI::Option *option : app.get_options())
    for (const std::string &known : option->get_lnames())
      if (size_t current = distance(name, "--" + known); current < smallest) {
        smallest = current;
        best = known;
      }
  return {StatusCode::InvalidArgument,
          fmt::format("unknown option '{}'{}", name, best.empty() ? "" : fmt::format("; did you mean --{}?", best))};
}

/// Options whose value may be left out.
static constexpr const char *kRunsOptions[] = {"time", "profile"};

/// Accepts options with one dash by adding the second dash.
static void completeDashes(std::vector<std::string> &words) {
  for (std::string &word : words)
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && !std::isdigit(static_cast<unsigned char>(word[1])))
      word.insert(0, "-");
}

/// Gives options whose value is left out the default, so that the next word is not taken for it.
static void completeRuns(std::vector<std::string> &words) {
  for (std::string &word : words)
    for (const char *name : kRunsOptions)
      if (word == fmt::format("--{}", name) || word == fmt::format("--{}=", name))
        word = fmt::format("--{}={}", name, kDefaultRuns);
}

/// Returns true if `word` can be the value of an option like --time, and so is not a program.
static bool isForRuns(std::string_view word) {
  unsigned runs = 0;
  return tools::parseNumber(word, runs) || tools::endsWith(word, ".json");
}

/// Rejects words that the library would misread: empty values, and values of optional-value options in the next word.
static Status checkWords(const CLI::App &app, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i].substr(0, words[i].find('='));
    bool isAlone = name.size() == words[i].size(), hasNext = isAlone && i + 1 < words.size();
    const CLI::Option *option = name.rfind("--", 0) == 0 ? app.get_option_no_throw(name) : nullptr;
    if (!option)
      continue;
    bool takesRuns = std::any_of(std::begin(kRunsOptions), std::end(kRunsOptions),
                                 [&](const char *known) { return name.substr(2) == known; });
    if (takesRuns && hasNext && isForRuns(words[i + 1]))
      return wrong(name.c_str() + 2, fmt::format("expected {0}={1}, but got '{0} {1}'", name, words[i + 1]));
    if (takesRuns)
      continue;
    if (isAlone ? hasNext && words[i + 1].empty() : words[i].size() == name.size() + 1)
      return wrong(name.c_str() + 2, "expected a value, but got none");
  }
  return Status::ok();
}

//===-- Options -------------------------------------------------------------------------------------------------===//

namespace {
/// Options that are parsed from text after the library has read them.
struct Texts {
  std::string seed, time, profile;
  std::map<const CompilerOption *, std::string> switches;
};
} // namespace

namespace {
/// Formats optional values without a blank before them: --time[=NUMBER].
struct Formatter : CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    return text.rfind(" [=", 0) == 0 ? text.substr(1) : text;
  }
};
} // namespace

static void addRunOptions(CLI::App &app, RunOptions &options, Texts &texts) {
  app.add_option("file", options.file, "Module (.mlir) or compiled program (.inlay); - for a module on standard input");
  app.add_option("--input", options.inputs, "Arguments: .npy files in order, or one .npz file by name")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--size", options.sizes,
                 "Sizes of arguments without a file, as name=number; default: the smallest "
                 "from 1 on")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--seed", texts.seed, "Seed for arguments without a file");
  app.add_option("--output", options.output, "File for results, .npy or .npz; default: print a summary");
  app.add_option("--device", options.device,
                 "Vulkan device: a number, a part of its name or none; default: INLAY_DEVICE");
  app.add_flag("--compare", options.compare, "Run on the host too and print the largest difference");
  app.add_flag("--check", options.check, "Compare each segment on a device with its host version");
  app.add_option("--time", texts.time, "Time this many runs (default 10)")->type_name("[=NUMBER]");
  app.add_option("--profile", texts.profile,
                 "Time segments, kernels and ops over this many runs (default 10), beside modeled times; with a .json "
                 "file: also write a trace of a run for Perfetto")
      ->type_name("[=NUMBER or FILE]");
  app.add_flag("--describe", options.describe, "Describe a compiled program and exit");
  app.add_flag("--list-devices", options.listDevices, "Print the Vulkan devices and exit");
  app.add_option("--public-key", options.publicKey,
                 "Ed25519 public key (PEM) that must verify the program's signature; "
                 "default: INLAY_PUBLIC_KEY");
}

/// Adds an option that is passed on to the compiler with each of its values, in order.
static void addCompilerOption(CLI::App &app, RunOptions &options, Texts &texts, const CompilerOption &option) {
  std::string flag = std::string("--") + option.name;
  if (!option.value) {
    app.add_flag(flag, texts.switches[&option], option.help)->group("Compilation");
    return;
  }
  auto passOn = [&options, &option, flag](const std::vector<std::string> &values) {
    for (const std::string &value : values) {
      options.compilation.push_back(flag + "=" + value);
      if (option.isOfGraph)
        options.graph.push_back(flag + "=" + value);
      if (flag == "--report")
        options.report = value;
      if (flag == "--from")
        options.from = value;
    }
  };
  app.add_option_function<std::vector<std::string>>(flag, passOn, option.help)
      ->type_name(option.value)
      ->allow_extra_args(false)
      ->group("Compilation");
}

/// Parses the number of runs of an option.
static Status readRuns(const char *option, const std::string &text, unsigned &runs) {
  if (text.empty() || (tools::parseNumber(text, runs) && runs > 0))
    return Status::ok();
  return wrong(option, fmt::format("expected a positive number of runs, but got '{}'", text));
}

static Status readTexts(const Texts &texts, RunOptions &options) {
  if (!texts.seed.empty() && !tools::parseNumber(texts.seed, options.seed))
    return wrong("seed", fmt::format("expected a number, but got '{}'", texts.seed));
  INLAY_RETURN_IF_ERROR(readRuns("time", texts.time, options.repeat));
  if (tools::endsWith(texts.profile, ".json")) {
    options.trace = texts.profile;
    return readRuns("profile", kDefaultRuns, options.profiled);
  }
  if (readRuns("profile", texts.profile, options.profiled).isOk())
    return Status::ok();
  return wrong("profile", fmt::format("expected a positive number of runs or a .json file for a trace, but got '{}'",
                                      texts.profile));
}

StatusOr<RunOptions> tools::parseOptions(std::vector<std::string> words, std::string &help) {
  CLI::App app("Runs a compiled program, or compiles a module and runs it.", "inlay-run");
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(34);
  app.allow_extras();
  RunOptions options;
  Texts texts;
  addRunOptions(app, options, texts);
  for (const CompilerOption &option : kCompilerOptions)
    addCompilerOption(app, options, texts, option);
  completeDashes(words);
  INLAY_RETURN_IF_ERROR(checkWords(app, words));
  completeRuns(words);
  std::reverse(words.begin(), words.end()); // CLI11 expects them in reverse order
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp &) {
    help = app.help();
    return options;
  } catch (const CLI::ParseError &error) {
    return Status(StatusCode::InvalidArgument, fmt::format("option {}", error.what()));
  }
  for (const std::string &word : app.remaining())
    return unknown(app, word);
  INLAY_RETURN_IF_ERROR(readTexts(texts, options));
  for (const auto &[option, value] : texts.switches)
    if (!value.empty())
      options.compilation.push_back(fmt::format("--{}={}", option->name, value));
  if (!options.device.empty())
    options.compilation.push_back("--device=" + options.device);
  return options;
}
