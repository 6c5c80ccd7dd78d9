// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strict reader for the JSON of a cost model: a misspelled key must not leave a default in force.

#include "CostModelJson.h"
#include "inlay/Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace inlay;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

static std::string describe(const json::Value &value) {
  if (value.kind() == json::Value::Array || value.kind() == json::Value::Object)
    return value.kind() == json::Value::Array ? "an array" : "an object";
  return llvm::formatv("{0}", value).str();
}

namespace {
/// Keeps the first problem and ignores later ones.
class Reader {
public:
  explicit Reader(StringRef place) : place(place) {}

  CostModel read(const json::Value &value) {
    CostModel model;
    const json::Object *root = object(value, "");
    if (!root)
      return model;
    checkKeys(*root, "", {"version", "about", "targets"});
    if (const json::Value *version = require(*root, "", "version"); version && version->getAsInteger() != 1)
      fail("version", "expected 1, but got " + describe(*version));
    if (const json::Value *about = root->get("about")) {
      if (about->kind() == json::Value::String)
        model.about = about->getAsString()->str();
      else
        fail("about", "expected a string, but got " + describe(*about));
    }
    const json::Value *targets = require(*root, "", "targets");
    const json::Object *byName = targets ? object(*targets, "targets") : nullptr;
    if (byName && byName->empty())
      fail("targets", "expected at least one target, but got none");
    if (byName)
      for (const auto &[name, costs] : *byName)
        model.targets.emplace_back(name.str(), readTarget(costs, "targets." + name.str()));
    llvm::sort(model.targets, [](const auto &a, const auto &b) { return a.first < b.first; });
    return model;
  }

  std::string problem;

private:
  void fail(const std::string &path, const std::string &message) {
    if (problem.empty())
      problem = "'" + place.str() + "': " + (path.empty() ? "" : path + ": ") + message;
  }

  const json::Object *object(const json::Value &value, const std::string &path) {
    if (!value.getAsObject())
      fail(path, "expected an object, but got " + describe(value));
    return value.getAsObject();
  }

  static std::string join(const std::string &path, StringRef key) {
    return path.empty() ? key.str() : path + "." + key.str();
  }

  void checkKeys(const json::Object &object, const std::string &path, llvm::ArrayRef<StringRef> known) {
    for (const auto &entry : object)
      if (!llvm::is_contained(known, StringRef(entry.first)))
        fail(join(path, entry.first), "unknown key: expected some of " + llvm::join(known, ", "));
  }

  const json::Value *require(const json::Object &object, const std::string &path, StringRef key) {
    const json::Value *value = object.get(key);
    if (!value)
      fail(path, "the key '" + key.str() + "' is missing");
    return value;
  }

  /// Reads a finite number. A rate must be positive, since it is a divisor.
  double number(const json::Object &object, const std::string &path, StringRef key, bool isRate) {
    const json::Value *value = require(object, path, key);
    std::optional<double> read = value ? value->getAsNumber() : std::nullopt;
    if (read && std::isfinite(*read) && (isRate ? *read > 0 : *read >= 0))
      return *read;
    if (value)
      fail(join(path, key),
           (isRate ? "expected a number above 0, but got " : "expected a number of at least 0, but got ") +
               (read && !std::isfinite(*read) ? "one that is not finite" : describe(*value)));
    return 1;
  }

  Transfer readTransfer(const json::Value &value, const std::string &path) {
    const json::Object *keys = object(value, path);
    if (!keys)
      return {};
    checkKeys(*keys, path, {"bytes_per_second", "seconds"});
    return {number(*keys, path, "bytes_per_second", true), number(*keys, path, "seconds", false)};
  }

  TargetCosts readTarget(const json::Value &value, const std::string &path) {
    TargetCosts costs;
    const json::Object *keys = object(value, path);
    if (!keys)
      return costs;
    checkKeys(*keys, path, {"throughput", "op_seconds", "launch_seconds", "transfer_in", "transfer_out"});
    if (const json::Value *throughput = require(*keys, path, "throughput"))
      if (const json::Object *rates = object(*throughput, path + ".throughput")) {
        llvm::SmallVector<StringRef> kinds;
        for (unsigned kind = 0; kind < kWorkKinds; ++kind)
          kinds.push_back(stringifyWorkKind(static_cast<WorkKind>(kind)));
        checkKeys(*rates, path + ".throughput", kinds);
        for (unsigned kind = 0; kind < kWorkKinds; ++kind)
          costs.throughput[kind] = number(*rates, path + ".throughput", kinds[kind], true);
      }
    costs.opSeconds = number(*keys, path, "op_seconds", false);
    costs.launchSeconds = number(*keys, path, "launch_seconds", false);
    if (const json::Value *in = keys->get("transfer_in"))
      costs.in = readTransfer(*in, path + ".transfer_in");
    if (const json::Value *out = keys->get("transfer_out"))
      costs.out = readTransfer(*out, path + ".transfer_out");
    return costs;
  }

  StringRef place;
};
} // namespace

Expected<CostModel> inlay::readCostModelJson(const json::Value &value, StringRef place) {
  Reader reader(place);
  CostModel model = reader.read(value);
  if (!reader.problem.empty())
    return llvm::createStringError(reader.problem);
  return model;
}

Expected<CostModel> inlay::parseCostModel(StringRef text, StringRef place) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return llvm::createStringError("'" + place.str() + "' is not valid JSON: " + llvm::toString(value.takeError()));
  return readCostModelJson(*value, place);
}

Expected<CostModel> inlay::readCostModel(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return llvm::createStringError("can't read the cost model '" + file.str() + "': " + buffer.getError().message());
  return parseCostModel((*buffer)->getBuffer(), file);
}

//===-- Writing -------------------------------------------------------------------------------------------------===//

static json::Object toJson(const Transfer &transfer) {
  return json::Object{{"bytes_per_second", transfer.bytesPerSecond}, {"seconds", transfer.seconds}};
}

json::Object inlay::toJson(const TargetCosts &costs) {
  json::Object throughput;
  for (unsigned kind = 0; kind < kWorkKinds; ++kind)
    throughput[stringifyWorkKind(static_cast<WorkKind>(kind))] = costs.throughput[kind];
  json::Object result{
      {"throughput", std::move(throughput)}, {"op_seconds", costs.opSeconds}, {"launch_seconds", costs.launchSeconds}};
  if (!costs.in.isFree())
    result["transfer_in"] = ::toJson(costs.in);
  if (!costs.out.isFree())
    result["transfer_out"] = ::toJson(costs.out);
  return result;
}

json::Object inlay::toJson(const CostModel &model) {
  json::Object targets;
  for (const auto &[name, costs] : model.targets)
    targets[name] = toJson(costs);
  json::Object result{{"version", 1}, {"targets", std::move(targets)}};
  if (!model.about.empty())
    result["about"] = json::fixUTF8(model.about);
  return result;
}

std::string inlay::formatCostModel(const CostModel &model) {
  return llvm::formatv("{0:2}\n", json::Value(toJson(model))).str();
}

const TargetCosts *CostModel::find(StringRef name) const {
  for (const auto &[known, costs] : targets)
    if (known == name)
      return &costs;
  return nullptr;
}
