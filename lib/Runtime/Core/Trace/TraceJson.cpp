// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces as JSON, in the "Trace Event Format" (Google, 2016).

#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace inlay::rt {

/// Returns the length in bytes of the UTF-8 character at the start of `text`; 0 if it is malformed.
static size_t measureCharacter(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length == 0 || byte(0) > 0xf4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  bool isWrong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f) ||
                 (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return isWrong ? 0 : length;
}

/// Returns a JSON string. Bytes that aren't UTF-8 become the replacement character.
static std::string quote(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    size_t length = measureCharacter(text);
    auto first = static_cast<unsigned char>(text[0]);
    if (length == 0)
      result += "\xef\xbf\xbd";
    else if (first < 0x20 || first == 0x7f)
      result += fmt::format("\\u{:04x}", first);
    else if (first == '"' || first == '\\')
      result += {'\\', text[0]};
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result + "\"";
}

static std::string quoteAll(const std::vector<std::string> &texts) {
  std::string result;
  for (const std::string &text : texts)
    result += (result.empty() ? "" : ",") + quote(text);
  return "[" + result + "]";
}

/// Returns a time in microseconds with three decimals. The time must not be negative.
static std::string formatTime(int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

static void writeEvent(std::string &json, const TraceEvent &event, int64_t origin) {
  std::string arguments;
  if (event.segment >= 0)
    arguments += fmt::format("\"segment\":{}", event.segment);
  if (!event.calls.empty())
    arguments += fmt::format("{}\"calls\":{}", arguments.empty() ? "" : ",", quoteAll(event.calls));
  fmt::format_to(std::back_inserter(json),
                 ",\n{{\"ph\":\"X\",\"name\":{},\"cat\":{},\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
                 quote(event.name), quote(event.category), event.track, formatTime(event.begin - origin),
                 formatTime(std::max<int64_t>(event.end - event.begin, 0)), arguments);
}

static void writeName(std::string &json, const char *what, size_t track, std::string_view name) {
  fmt::format_to(std::back_inserter(json),
                 "{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":{}}}}}", what, track,
                 quote(name));
}

std::string toJson(const Trace &trace, std::string_view process) {
  const std::vector<TraceEvent> &events = trace.events();
  std::vector<size_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  // An event that contains others must come before them.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return events[a].begin != events[b].begin ? events[a].begin < events[b].begin : events[a].end > events[b].end;
  });
  std::vector<std::string> notes = trace.notes();
  if (trace.dropped() > 0)
    notes.push_back(fmt::format("{} more events were not kept", trace.dropped()));
  std::string json = fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"producer\":\"inlay\",\"notes\":{}}},\n\"traceEvents\":[\n",
      quoteAll(notes));
  writeName(json, "process_name", 0, process);
  for (size_t track = 0; track < trace.tracks().size(); ++track) {
    json += ",\n";
    writeName(json, "thread_name", track, trace.tracks()[track]);
  }
  for (size_t event : order)
    writeEvent(json, events[event], events[order.front()].begin);
  return json + "\n]}\n";
}

} // namespace inlay::rt
