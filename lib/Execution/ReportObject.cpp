// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReportObject.h"
#include "inlay/Support/Json.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

static Status notAReport(llvm::Twine what) {
  return {StatusCode::InvalidArgument, ("expected a partition report of one function, but " + what).str()};
}

StatusOr<json::Object> inlay::parseReport(const std::string &report) {
  llvm::Expected<json::Value> value = parseJson(report); // it may come from a file
  if (!value)
    return notAReport(llvm::toString(value.takeError()));
  if (!value->getAsObject() || !value->getAsObject()->getArray("segments") ||
      !value->getAsObject()->getObject("summary"))
    return notAReport("it has no segments or no summary");
  return std::move(*value->getAsObject());
}

std::string inlay::formatReport(json::Object report) {
  return llvm::formatv("{0:2}\n", json::Value(std::move(report))).str();
}
