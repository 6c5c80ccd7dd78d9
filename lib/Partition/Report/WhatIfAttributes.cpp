// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures of a what-if analysis as attributes of the function, from which reports read them.

#include "WhatIfAttributes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

namespace {
class Writer {
public:
  explicit Writer(MLIRContext *context) : builder(context) {}

  void set(StringRef key, Attribute value) { entries.set(key, value); }
  void set(StringRef key, int64_t number) { set(key, builder.getI64IntegerAttr(number)); }
  void set(const PartitionSummary &figures) {
    set("segments", figures.segments);
    set("accelerated_segments", figures.acceleratedSegments);
    set("ops", figures.ops);
    set("accelerated_ops", figures.acceleratedOps);
    set("border_bytes", figures.borderBytes);
    set("all_known", builder.getBoolAttr(figures.allKnown));
    if (figures.seconds)
      set("seconds", builder.getF64FloatAttr(*figures.seconds));
  }
  Attribute finish() { return entries.getDictionary(builder.getContext()); }

  Builder builder;

private:
  NamedAttrList entries;
};

/// Reads entries of a dictionary. `whole` becomes false if an entry is missing.
class Reader {
public:
  explicit Reader(Attribute attribute) : entries(dyn_cast_or_null<DictionaryAttr>(attribute)), whole(!!entries) {}

  template <typename Kind>
  Kind get(StringRef key) {
    Kind value = entries ? entries.getAs<Kind>(key) : nullptr;
    whole &= !!value;
    return value;
  }
  int64_t getNumber(StringRef key) {
    auto value = get<IntegerAttr>(key);
    whole &= value && value.getType().isInteger(64);
    return whole ? value.getInt() : 0;
  }
  PartitionSummary getFigures() {
    PartitionSummary figures;
    figures.segments = getNumber("segments");
    figures.acceleratedSegments = getNumber("accelerated_segments");
    figures.ops = getNumber("ops");
    figures.acceleratedOps = getNumber("accelerated_ops");
    figures.borderBytes = getNumber("border_bytes");
    auto known = get<BoolAttr>("all_known");
    figures.allKnown = known && known.getValue();
    if (auto seconds = entries ? entries.getAs<FloatAttr>("seconds") : nullptr)
      figures.seconds = seconds.getValueAsDouble();
    return figures;
  }

  DictionaryAttr entries;
  bool whole;
};
} // namespace

static Attribute writeRows(MLIRContext *context, ArrayRef<WhatIfRow> rows) {
  SmallVector<Attribute> all;
  for (const WhatIfRow &row : rows) {
    Writer writer(context);
    SmallVector<StringRef> kinds(row.kinds.begin(), row.kinds.end());
    writer.set("kinds", writer.builder.getStrArrayAttr(kinds));
    writer.set("count", row.ops);
    writer.set(row.figures);
    all.push_back(writer.finish());
  }
  return ArrayAttr::get(context, all);
}

static std::vector<WhatIfRow> readRows(Reader &outer, StringRef key) {
  std::vector<WhatIfRow> rows;
  auto all = outer.get<ArrayAttr>(key);
  for (Attribute entry : all ? all.getValue() : ArrayRef<Attribute>()) {
    Reader reader(entry);
    WhatIfRow row;
    if (auto kinds = reader.get<ArrayAttr>("kinds"))
      for (Attribute kind : kinds)
        if (auto text = dyn_cast<StringAttr>(kind))
          row.kinds.push_back(text.str());
    row.ops = reader.getNumber("count");
    row.figures = reader.getFigures();
    outer.whole &= reader.whole;
    rows.push_back(std::move(row));
  }
  return rows;
}

Attribute inlay::toAttribute(MLIRContext *context, const WhatIf &whatIf) {
  Writer writer(context), now(context);
  now.set(whatIf.now);
  writer.set("target", writer.builder.getStringAttr(whatIf.target));
  writer.set("now", now.finish());
  writer.set("kinds", writeRows(context, whatIf.kinds));
  writer.set("together", writeRows(context, whatIf.together));
  writer.set("pairs", writeRows(context, whatIf.pairs));
  writer.set("pairs_tried", whatIf.pairsTried);
  writer.set("pairs_there_are", whatIf.pairsThereAre);
  return writer.finish();
}

std::optional<WhatIf> inlay::readWhatIf(Attribute attribute) {
  Reader reader(attribute);
  WhatIf whatIf;
  if (auto target = reader.get<StringAttr>("target"))
    whatIf.target = target.getValue().str();
  Reader now(reader.get<DictionaryAttr>("now"));
  whatIf.now = now.getFigures();
  whatIf.kinds = readRows(reader, "kinds");
  whatIf.together = readRows(reader, "together");
  whatIf.pairs = readRows(reader, "pairs");
  whatIf.pairsTried = reader.getNumber("pairs_tried");
  whatIf.pairsThereAre = reader.getNumber("pairs_there_are");
  return reader.whole && now.whole ? std::optional(std::move(whatIf)) : std::nullopt;
}

Attribute inlay::toAttribute(MLIRContext *context, ArrayRef<SweepRow> rows) {
  SmallVector<Attribute> all;
  for (const SweepRow &row : rows) {
    Writer writer(context);
    writer.set("min_block_size", row.minBlockSize);
    writer.set(row.figures);
    all.push_back(writer.finish());
  }
  return ArrayAttr::get(context, all);
}

std::vector<SweepRow> inlay::readSweep(Attribute attribute) {
  std::vector<SweepRow> rows;
  auto all = dyn_cast_or_null<ArrayAttr>(attribute);
  for (Attribute entry : all ? all.getValue() : ArrayRef<Attribute>()) {
    Reader reader(entry);
    rows.push_back({reader.getNumber("min_block_size"), reader.getFigures()});
    if (!reader.whole)
      return {};
  }
  return rows;
}
