// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trace: the events of one call on the host's threads and on devices, all on one clock.

#ifndef INLAY_RUNTIME_CORE_TRACE_H
#define INLAY_RUNTIME_CORE_TRACE_H

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace inlay::rt {

/// Returns the time of events: nanoseconds of std::chrono::steady_clock.
int64_t traceTime();

struct TraceEvent {
  const char *category = ""; ///< A string literal: "engine", "loops", "dispatch", "wait", ...
  std::string name;
  uint32_t track = 0;
  int64_t begin = 0, end = 0; ///< Nanoseconds of `traceTime`.
  int32_t segment = -1;       ///< Same as `Step::segment`.
  std::vector<std::string> calls = {};
};

/// A list of events in no particular order. Events of one track nest. Thread-safe.
class Trace {
public:
  /// Maximum number of stored events. Further events are only counted.
  static constexpr size_t kMaxEvents = 1'000'000;

  /// `track` returns the track with that name, and `threadTrack` returns that of the calling thread. The first thread
  /// that calls `threadTrack` is taken as the thread that runs the call.
  uint32_t track(const std::string &name);
  uint32_t threadTrack();

  /// Stores an event. Counts it if there is no place for it.
  void add(TraceEvent event);
  /// Counts an event that can't be stored.
  void drop();

  /// Stores a sentence about how the trace was made or what it lacks. A repeated sentence is stored once.
  void note(const std::string &sentence);

  /// The following accessors may be used only after all recording has ended.
  const std::vector<TraceEvent> &events() const { return events_; }
  const std::vector<std::string> &tracks() const { return tracks_; } ///< Names, by number.
  const std::vector<std::string> &notes() const { return notes_; }
  uint64_t dropped() const { return dropped_; }

private:
  std::mutex mutex_;
  std::vector<TraceEvent> events_;
  std::vector<std::string> tracks_, notes_;
  std::vector<std::pair<std::thread::id, uint32_t>> threads_;
  uint64_t dropped_ = 0;
};

/// Records the time from its construction to its destruction, if its thread records. Spans of a thread end in reverse
/// order.
class TraceSpan {
public:
  /// Starts a span inside the current recording span of this thread. Without one it does nothing. Without memory the
  /// trace counts the span as dropped and the work goes on: it may be the wait for a device.
  TraceSpan(const char *category, std::string_view name, int32_t segment = -1,
            const std::vector<std::string> *calls = nullptr);
  /// Starts to record on this thread. `trace` may be null and must outlive the span.
  TraceSpan(Trace *trace, const char *category, std::string_view name);
  ~TraceSpan();
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

  /// Returns the innermost recording span of this thread; null if the thread does not record.
  static const TraceSpan *current();

  Trace &trace() const { return *trace_; }
  int32_t segment() const { return event_.segment; }

  /// Records that the calling thread, which is not the thread of the span, did a part of the work.
  void addPart(int64_t begin, int64_t end) const;

private:
  void start(Trace &trace, std::string_view name);

  Trace *trace_ = nullptr; ///< Null if nothing is recorded.
  const TraceSpan *outer_ = nullptr;
  TraceEvent event_;
};

/// Returns the trace as a JSON object in the Trace Event Format, which Perfetto and chrome://tracing read. Times are
/// microseconds since the first event. `process` names the process that the tracks belong to.
std::string toJson(const Trace &trace, std::string_view process);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_TRACE_H
