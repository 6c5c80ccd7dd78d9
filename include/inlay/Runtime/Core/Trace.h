// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trace: what ran when in one call, on the host's threads and on devices, all by one clock.

#ifndef INLAY_RUNTIME_CORE_TRACE_H
#define INLAY_RUNTIME_CORE_TRACE_H

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace inlay::rt {

/// The time of events: nanoseconds of std::chrono::steady_clock.
int64_t traceTime();

struct TraceEvent {
  const char *category = ""; ///< a literal: "engine", "loops", "dispatch", "wait", ...
  std::string name;
  uint32_t track = 0;
  int64_t begin = 0, end = 0; ///< as `traceTime`
  int32_t segment = -1;       ///< as in `Step`
  std::vector<std::string> calls = {};
};

/// Events in no order; those of one track nest. Safe from several threads.
class Trace {
public:
  /// Beyond as many events more are only counted.
  static constexpr size_t kMaxEvents = 1'000'000;

  /// The track of that name, and that of the thread that calls; the first thread to ask is the one that runs the call.
  uint32_t track(const std::string &name);
  uint32_t threadTrack();

  void add(TraceEvent event);

  /// Keeps a sentence on what the trace lacks, or how it was made; once.
  void note(const std::string &sentence);

  /// What follows is for when all is recorded.
  const std::vector<TraceEvent> &events() const { return events_; }
  const std::vector<std::string> &tracks() const { return tracks_; } ///< names, by number
  const std::vector<std::string> &notes() const { return notes_; }
  uint64_t dropped() const { return dropped_; }

private:
  std::mutex mutex_;
  std::vector<TraceEvent> events_;
  std::vector<std::string> tracks_, notes_;
  std::vector<std::pair<std::thread::id, uint32_t>> threads_;
  uint64_t dropped_ = 0;
};

/// Records what passes while it lives, if its thread records. Spans of a thread end in reverse order.
class TraceSpan {
public:
  /// Inside of another span of this thread that records; without one nothing is done.
  TraceSpan(const char *category, std::string_view name, int32_t segment = -1,
            const std::vector<std::string> *calls = nullptr);
  /// Starts to record: `trace`, which may be null, must outlive the span.
  TraceSpan(Trace *trace, const char *category, std::string_view name);
  ~TraceSpan();
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

  /// The innermost span of this thread that records; null if none does.
  static const TraceSpan *current();

  Trace &trace() const { return *trace_; }
  int32_t segment() const { return event_.segment; }

  /// Records that the thread that calls, another one, did a part of it.
  void addPart(int64_t begin, int64_t end) const;

private:
  void start(std::string_view name);

  Trace *trace_ = nullptr; ///< null if nothing is recorded
  const TraceSpan *outer_ = nullptr;
  TraceEvent event_;
};

/// The trace as a JSON object of the Trace Event Format, which Perfetto and chrome://tracing read. Times are in
/// microseconds from the first event on. `process` names what the tracks belong to.
std::string toJson(const Trace &trace, std::string_view process);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_TRACE_H
