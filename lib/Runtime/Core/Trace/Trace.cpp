// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the events of a call. TraceJson.cpp writes them.

#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Core/Guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace inlay::rt {

static thread_local const TraceSpan *innermost = nullptr;

int64_t traceTime() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Returns the index of a name, which is added if it is missing. The caller must hold the mutex.
static uint32_t findOrAdd(std::vector<std::string> &names, const std::string &name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    found = names.insert(names.end(), name);
  return static_cast<uint32_t>(found - names.begin());
}

uint32_t Trace::track(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return findOrAdd(tracks_, name);
}

uint32_t Trace::threadTrack() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto [thread, track] : threads_)
    if (thread == std::this_thread::get_id())
      return track;
  uint32_t track =
      findOrAdd(tracks_, threads_.empty() ? "calling thread" : fmt::format("pool thread {}", threads_.size()));
  threads_.emplace_back(std::this_thread::get_id(), track);
  return track;
}

void Trace::add(TraceEvent event) {
  std::lock_guard<std::mutex> lock(mutex_);
  Status status = guard([&] {
    if (events_.size() == kMaxEvents)
      return outOfMemory();
    events_.push_back(std::move(event));
    return Status::ok();
  });
  dropped_ += !status.isOk();
}

void Trace::drop() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++dropped_;
}

void Trace::note(const std::string &sentence) {
  std::lock_guard<std::mutex> lock(mutex_);
  findOrAdd(notes_, sentence);
}

void TraceSpan::start(Trace &trace, std::string_view name) {
  event_.name = name;
  event_.track = trace.threadTrack();
  trace_ = &trace; // nothing can fail from here on
  outer_ = innermost;
  innermost = this;
  event_.begin = traceTime();
}

TraceSpan::TraceSpan(const char *category, std::string_view name, int32_t segment,
                     const std::vector<std::string> *calls) {
  if (!innermost)
    return;
  Trace &trace = *innermost->trace_;
  event_.category = category;
  event_.segment = segment >= 0 ? segment : innermost->event_.segment;
  Status status = guard([&] {
    if (calls)
      event_.calls = *calls;
    start(trace, name);
    return Status::ok();
  });
  if (!status.isOk())
    trace.drop();
}

TraceSpan::TraceSpan(Trace *trace, const char *category, std::string_view name) {
  if (!trace)
    return;
  event_.category = category;
  start(*trace, name);
}

TraceSpan::~TraceSpan() {
  if (!trace_)
    return;
  event_.end = traceTime();
  innermost = outer_;
  trace_->add(std::move(event_));
}

const TraceSpan *TraceSpan::current() { return innermost; }

void TraceSpan::addPart(int64_t begin, int64_t end) const {
  Status status = guard([&] {
    TraceEvent part = event_;
    part.track = trace_->threadTrack();
    part.begin = begin;
    part.end = end;
    trace_->add(std::move(part));
    return Status::ok();
  });
  if (!status.isOk())
    trace_->drop();
}

} // namespace inlay::rt
