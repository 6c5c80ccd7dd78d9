// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes placement files as JSON. Passes/SavePlacement.cpp fills them from a module, and
// Passes/ReplayPlacement.cpp applies them.

#include "inlay/Partition/PlacementFile.h"
#include "inlay/Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
using namespace llvm;

static constexpr StringLiteral kKind = "inlay_placement";
static constexpr int64_t kVersion = 1;

//===-- Writing -------------------------------------------------------------------------------------------------===//

static void writeTexts(json::OStream &json, StringRef key, ArrayRef<std::string> values) {
  json.attributeArray(key, [&] {
    for (const std::string &value : values)
      json.value(json::fixUTF8(value));
  });
}

static json::Value optionalNumber(std::optional<int64_t> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

static void writeSegment(json::OStream &json, const SegmentedBlock &segment) {
  json.object([&] {
    json.attribute("target", json::fixUTF8(segment.target));
    json.attribute("do_not_merge", segment.doNotMerge);
    if (segment.parent.empty())
      json.attribute("parent", nullptr);
    else
      json.attributeObject("parent", [&] {
        json.attribute("op", json::fixUTF8(segment.parent));
        json.attribute("region", segment.region);
      });
    writeTexts(json, "ops", segment.ops);
    writeTexts(json, "clones", segment.clones);
    json.attribute("bytes_in", optionalNumber(segment.bytesIn));
    json.attribute("bytes_out", optionalNumber(segment.bytesOut));
  });
}

static void writeOp(json::OStream &json, const PlacedOp &op) {
  json.object([&] {
    json.attribute("label", json::fixUTF8(op.label));
    json.attribute("name", json::fixUTF8(op.name));
    json.attribute("fingerprint", op.fingerprint);
    json.attributeObject("reason", [&] {
      json.attribute("code", op.code);
      json.attribute("text", json::fixUTF8(op.text));
      json.attribute("caused_by", op.causedBy.empty() ? json::Value(nullptr) : json::Value(json::fixUTF8(op.causedBy)));
    });
  });
}

std::string inlay::writePlacement(const PlacementFile &file) {
  std::string result;
  raw_string_ostream stream(result);
  json::OStream json(stream, 1);
  json.object([&] {
    json.attribute(kKind, kVersion);
    json.attributeArray("functions", [&] {
      for (const PlacedFunction &function : file)
        json.object([&] {
          json.attribute("function", json::fixUTF8(function.function));
          json.attribute("fingerprint", function.fingerprint);
          json.attributeArray("segments", [&] {
            for (const SegmentedBlock &segment : function.segments)
              writeSegment(json, segment);
          });
          json.attributeArray("ops", [&] {
            for (const PlacedOp &op : function.ops)
              writeOp(json, op);
          });
        });
    });
  });
  return result + "\n";
}

//===-- Reading -------------------------------------------------------------------------------------------------===//

namespace {
/// Reads an object key by key. The first error is kept with its place.
class ObjectReader {
public:
  ObjectReader(const json::Value &value, std::string where, std::string &error) : where(where), error(error) {
    object = value.getAsObject();
    if (!object)
      fail("expected an object");
  }

  const json::Value *get(StringRef key) {
    known.insert(key);
    const json::Value *value = object ? object->get(key) : nullptr;
    if (!value)
      fail("expected '" + key + "', but it is missing");
    return value;
  }

  void read(StringRef key, std::string &text, bool mayBeNull = false) {
    const json::Value *value = get(key);
    if (!value || (mayBeNull && value->kind() == json::Value::Null))
      return;
    if (auto string = value->getAsString())
      text = string->str();
    else
      fail("expected '" + key + "' to be a string");
  }

  void read(StringRef key, bool &flag) {
    const json::Value *value = get(key);
    if (auto boolean = value ? value->getAsBoolean() : std::nullopt)
      flag = *boolean;
    else
      fail("expected '" + key + "' to be true or false");
  }

  void read(StringRef key, std::optional<int64_t> &number) {
    const json::Value *value = get(key);
    if (!value || value->kind() == json::Value::Null)
      return;
    number = value->getAsInteger();
    if (!number || *number < 0)
      fail("expected '" + key + "' to be a number of at least 0, or null");
  }

  void read(StringRef key, std::vector<std::string> &texts) {
    forEach(key, [&](const json::Value &value, std::string where) {
      if (auto string = value.getAsString())
        texts.push_back(string->str());
      else
        failAt(where, "expected a string");
    });
  }

  void forEach(StringRef key, llvm::function_ref<void(const json::Value &, std::string)> visit) {
    const json::Value *value = get(key);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (!array)
      return fail("expected '" + key + "' to be an array");
    for (auto [number, element] : enumerate(*array))
      visit(element, where + "." + key.str() + "[" + std::to_string(number) + "]");
  }

  /// Reports keys that were not read.
  void finish() {
    if (object)
      for (const auto &[key, value] : *object)
        if (!known.contains(StringRef(key)))
          fail("unknown key '" + StringRef(key) + "'");
  }

  std::string at(StringRef key) const { return where + "." + key.str(); }
  void fail(const Twine &message) { failAt(where, message); }
  void failAt(StringRef place, const Twine &message) {
    if (error.empty())
      error = (place.empty() ? message : place + ": " + message).str();
  }

private:
  const json::Object *object;
  std::string where;
  std::string &error;
  llvm::StringSet<> known;
};

class FileReader {
public:
  explicit FileReader(bool strict) : strict(strict) {}

  PlacedFunction readFunction(const json::Value &value, const std::string &where) {
    PlacedFunction function;
    ObjectReader reader(value, where, error);
    reader.read("function", function.function);
    if (strict)
      reader.read("fingerprint", function.fingerprint);
    reader.forEach("segments", [&](const json::Value &segment, std::string at) {
      function.segments.push_back(readSegment(segment, at));
      function.segments.back().id = static_cast<unsigned>(function.segments.size() - 1);
    });
    reader.forEach("ops", [&](const json::Value &op, std::string at) { function.ops.push_back(readOp(op, at)); });
    finish(reader);
    checkLabels(function, reader);
    return function;
  }

  void finish(ObjectReader &reader) {
    if (strict)
      reader.finish();
  }

  std::string error;

private:
  SegmentedBlock readSegment(const json::Value &value, const std::string &where) {
    SegmentedBlock segment{};
    ObjectReader reader(value, where, error);
    reader.read("target", segment.target);
    reader.read("do_not_merge", segment.doNotMerge);
    if (const json::Value *parent = reader.get("parent"); parent && parent->kind() != json::Value::Null) {
      ObjectReader inner(*parent, reader.at("parent"), error);
      std::optional<int64_t> region;
      inner.read("op", segment.parent);
      inner.read("region", region);
      if (!region)
        inner.fail("expected 'region' to be a number");
      segment.region = static_cast<unsigned>(region.value_or(0));
      finish(inner);
    }
    reader.read("ops", segment.ops);
    reader.read("clones", segment.clones);
    reader.read("bytes_in", segment.bytesIn);
    reader.read("bytes_out", segment.bytesOut);
    finish(reader);
    return segment;
  }

  PlacedOp readOp(const json::Value &value, const std::string &where) {
    PlacedOp op;
    ObjectReader reader(value, where, error);
    reader.read("label", op.label);
    reader.read("name", op.name);
    if (strict)
      reader.read("fingerprint", op.fingerprint);
    if (const json::Value *reason = reader.get("reason")) {
      ObjectReader inner(*reason, reader.at("reason"), error);
      inner.read("code", op.code);
      inner.read("text", op.text);
      inner.read("caused_by", op.causedBy, /*mayBeNull=*/true);
      finish(inner);
    }
    finish(reader);
    return op;
  }

  static void checkLabels(const PlacedFunction &function, ObjectReader &reader) {
    llvm::StringSet<> labels, placed;
    for (const PlacedOp &op : function.ops)
      if (!labels.insert(op.label).second)
        reader.fail("op '" + op.label + "' is listed twice");
    for (const SegmentedBlock &segment : function.segments) {
      for (const std::string &label : segment.ops)
        if (!placed.insert(label).second)
          reader.fail("op '" + label + "' is in two segments");
      for (const std::string &label : segment.clones)
        if (!labels.contains(label))
          reader.fail("a segment clones op '" + label + "', which is not listed");
    }
    for (const PlacedOp &op : function.ops)
      if (!placed.contains(op.label))
        reader.fail("op '" + op.label + "' is in no segment");
    for (const SegmentedBlock &segment : function.segments)
      for (const std::string &label : segment.ops)
        if (!labels.contains(label))
          reader.fail("a segment holds op '" + label + "', which is not listed");
  }

  bool strict;
};
} // namespace

static Expected<PlacementFile> finishReading(FileReader &reader, PlacementFile file) {
  for (size_t i = 0; i < file.size(); ++i)
    for (size_t j = 0; j < i && reader.error.empty(); ++j)
      if (file[i].function == file[j].function)
        reader.error = "function '" + file[i].function + "' is listed twice";
  if (!reader.error.empty())
    return createStringError(reader.error);
  return file;
}

static Expected<PlacementFile> readPlacement(const json::Value &value) {
  FileReader reader(/*strict=*/true);
  PlacementFile file;
  ObjectReader top(value, "", reader.error);
  std::optional<int64_t> version;
  top.read(kKind, version);
  if (version != kVersion)
    top.fail("expected a placement file of version " + Twine(kVersion) +
             (version ? ", but got version " + Twine(*version) : Twine("")));
  top.forEach("functions", [&](const json::Value &function, std::string at) {
    file.push_back(reader.readFunction(function, StringRef(at).drop_front().str()));
  });
  top.finish();
  return finishReading(reader, std::move(file));
}

Expected<PlacementFile> inlay::readPlacement(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  return ::readPlacement(*value);
}

Expected<PlacementFile> inlay::readPlacementOrReport(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  if (const json::Object *object = value->getAsObject(); object && object->get(kKind))
    return ::readPlacement(*value);
  FileReader reader(/*strict=*/false);
  PlacementFile file;
  if (const json::Array *array = value->getAsArray()) {
    for (auto [number, report] : enumerate(*array))
      file.push_back(reader.readFunction(report, "[" + std::to_string(number) + "]"));
  } else {
    file.push_back(reader.readFunction(*value, ""));
  }
  return finishReading(reader, std::move(file));
}
