// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes flags of the options in Support/Options.td and a request of their values. Flags of a single tool are in its
// own folder.

#include "CompileOptions.h"
#include "inlay/Execution/CompileOptions.h"
#include "inlay/Support/Suggest.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::OptionCategory category("Compilation");

namespace {
/// The flags of a compilation: one for each option that the table gives a flag. They set a request.
class CompileFlags {
public:
  CompileFlags() {
    for (const CompileOption &option : getCompileOptions())
      if (option.isFlag && option.find)
        std::visit([&](auto *value) { add(option, *value); }, option.find(request));
      else if (option.isFlag)
        addSpecial(option);
  }

  CompileRequest request;
  std::vector<std::string> inputShapes;
  bool requireDevice = false;

private:
  template <typename Flag, typename T>
  Flag &addFlag(const CompileOption &option, T &value) {
    auto flag = std::make_shared<Flag>(llvm::StringRef(option.flag), cl::desc(option.sentence),
                                       cl::value_desc(option.valueName), cl::location(value), cl::cat(category));
    flags.push_back(flag);
    return *flag;
  }
  template <typename T>
  void add(const CompileOption &option, T &value) {
    T initial = value;
    addFlag<cl::opt<T, /*ExternalStorage=*/true>>(option, value).setInitialValue(initial);
  }
  void add(const CompileOption &option, std::vector<std::string> &names) {
    addFlag<cl::list<std::string, std::vector<std::string>>>(option, names).setMiscFlag(cl::CommaSeparated);
  }
  void add(const CompileOption &option, Strategy &value) {
    auto &flag = addFlag<cl::opt<Strategy, /*ExternalStorage=*/true>>(option, value);
    for (auto [name, strategy] : kStrategies)
      flag.getParser().addLiteralOption(name, strategy, "");
    flag.setInitialValue(Strategy::Levels);
  }
  /// Adds a flag whose value is not in the request as such.
  void addSpecial(const CompileOption &option) {
    if (llvm::StringRef(option.flag) == "input-shape") // repeated for several inputs: no commas
      addFlag<cl::list<std::string, std::vector<std::string>>>(option, inputShapes);
    else if (llvm::StringRef(option.flag) == "require-device")
      add(option, requireDevice);
    else
      llvm_unreachable("a flag without a value in the request");
  }

  std::vector<std::shared_ptr<cl::Option>> flags;
};
} // namespace

static CompileFlags &getFlags() {
  static CompileFlags flags;
  return flags;
}

void tools::parseCompileOptions(int argc, char **argv, llvm::StringRef overview) {
  getFlags();
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
  CompileFlags &flags = getFlags();
  CompileRequest request = flags.request;
  request.text = (*buffer)->getBuffer().str();
  request.name = file == "-" ? "<stdin>" : file;
  llvm::StringRef parent = llvm::sys::path::parent_path(file);
  request.directory = parent.empty() ? "." : parent.str();
  for (const std::string &text : flags.inputShapes) {
    rt::StatusOr<InputShape> shape = parseInputShape(text);
    if (!shape.isOk())
      return rt::Status(shape.status().code(), "option --input-shape: " + shape.status().message());
    request.inputShapes.push_back(std::move(*shape));
  }
  request.allowMissingDevice = !flags.requireDevice;
  return request;
}
