// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses and formats report JSON and finds its members. Partition/Report/ReportJson.cpp writes the report in the
// compiler.

#include "ReportJson.h"

#include <fmt/format.h>

#include <cmath>

namespace inlay::rt {

/// Deeper than any report. The limit is needed because the JSON writer recurses for each level.
static constexpr int kMaxLevels = 64;

static Status notAReport(const std::string &what) {
  return {StatusCode::InvalidArgument, "expected a partition report of one function, but " + what};
}

StatusOr<Json> parseReport(const std::string &report) {
  bool isDeep = false;
  auto limit = [&](int depth, Json::parse_event_t, Json &) {
    isDeep |= depth > kMaxLevels;
    return !isDeep;
  };
  Json value = Json::parse(report, limit, /*allow_exceptions=*/false);
  if (value.is_discarded() || isDeep)
    return notAReport(isDeep ? "it is too deep" : "it is not JSON");
  if (!findArray(&value, "segments") || !findObject(&value, "summary"))
    return notAReport("it has no segments or no summary");
  return value;
}

std::string formatReport(const Json &report) {
  return report.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

const Json *findMember(const Json *json, const char *key) {
  if (!json || !json->is_object())
    return nullptr;
  auto member = json->find(key);
  return member == json->end() ? nullptr : &*member;
}

const Json *findArray(const Json *json, const char *key) {
  const Json *member = findMember(json, key);
  return member && member->is_array() ? member : nullptr;
}

const Json *findObject(const Json *json, const char *key) {
  const Json *member = findMember(json, key);
  return member && member->is_object() ? member : nullptr;
}

double numberOf(const Json *json, const char *key, double none) {
  const Json *member = findMember(json, key);
  return member && member->is_number() ? member->get<double>() : none;
}

std::string textOf(const Json *json, const char *key, const std::string &none) {
  const Json *member = findMember(json, key);
  return member && member->is_string() ? member->get<std::string>() : none;
}

std::string joinNames(const Json *names, const char *separator, size_t maxNames) {
  std::string text;
  for (size_t i = 0; names && i < names->size() && i < maxNames; ++i) {
    const Json &name = (*names)[i];
    text += (i ? separator : "") + (name.is_string() ? name.get<std::string>() : "?");
  }
  return text;
}

std::string formatNanoseconds(double nanoseconds) {
  static constexpr const char *kUnits[] = {"ns", "us", "ms", "s"};
  double value = nanoseconds;
  unsigned unit = 0;
  // Three digits. A value that would be rounded to 1000 of a unit is shown as 1.00 of the next unit.
  for (; unit < 3 && std::abs(value) >= 999.5; ++unit)
    value /= 1000;
  int digits = unit == 0 || std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, kUnits[unit]);
}

} // namespace inlay::rt
