// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partition report as JSON, to read and to add to. Reports come from files: any member may be missing, or be of
// another type than it should.

#ifndef INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H
#define INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H

#include "inlay/Runtime/Core/Status.h"

#include <nlohmann/json.hpp>

#include <string>

namespace inlay::rt {

/// Keeps the order of members.
using Json = nlohmann::ordered_json;

/// The report on one function: an object with the array `segments` and the object `summary`, else an error.
StatusOr<Json> parseReport(const std::string &report);

/// As text, as the partition phase writes it.
std::string formatReport(const Json &report);

/// The member of an object; null if there is none, or `json` is null or no object.
const Json *findMember(const Json *json, const char *key);
const Json *findArray(const Json *json, const char *key);
const Json *findObject(const Json *json, const char *key);

/// The member's value, or `none` if it has no such value.
double numberOf(const Json *json, const char *key, double none = 0);
std::string textOf(const Json *json, const char *key, const std::string &none = "?");

/// The strings of an array with something between them, `?` for what is no string; empty for null.
std::string joinNames(const Json *names, const char *separator, size_t most = ~size_t(0));

/// "54.2 us".
std::string formatNanoseconds(double nanoseconds);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_REPORT_REPORTJSON_H
