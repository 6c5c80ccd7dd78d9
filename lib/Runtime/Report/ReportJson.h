// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partition reports as JSON. Reports come from files: any member may be missing or have another type than expected.

#ifndef INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H
#define INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H

#include "inlay/Runtime/Core/Status.h"

#include <nlohmann/json.hpp>

#include <string>

namespace inlay::rt {

/// JSON that keeps the order of members.
using Json = nlohmann::ordered_json;

/// Parses the report of one function: an object with the array `segments` and the object `summary`. Fails otherwise.
StatusOr<Json> parseReport(const std::string &report);

/// Returns the report as text, in the format of the partition phase.
std::string formatReport(const Json &report);

/// Return the member of an object; null if it is missing or has another type, or if `json` is null or not an object.
const Json *findMember(const Json *json, const char *key);
const Json *findArray(const Json *json, const char *key);
const Json *findObject(const Json *json, const char *key);

/// Return the member's value, or `none` if it is missing or has another type.
double numberOf(const Json *json, const char *key, double none = 0);
std::string textOf(const Json *json, const char *key, const std::string &none = "?");

/// Joins up to `maxNames` strings of an array; elements that are not strings become `?`. Returns "" for null.
std::string joinNames(const Json *names, const char *separator, size_t maxNames = ~size_t(0));

/// Returns a time as text: "54.2 us".
std::string formatNanoseconds(double nanoseconds);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H
