// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates, moves, reads and replaces the states of a session. Bindings.cpp binds them to the buffers of a call.

#include "StateMemory.h"
#include "ContextPool.h"
#include "Runtime/Core/Memory/ResultMemory.h"

#include "inlay/Runtime/Core/Guard.h"

#include <fmt/format.h>

#include <cstring>

namespace inlay::rt {

static Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

StateMemory::StateMemory(std::shared_ptr<const void> program, std::shared_ptr<const Plan> plan)
    : program_(std::move(program)), plan_(std::move(plan)), states_(plan_->states.size()) {}

StateMemory::~StateMemory() { forgetBindings(); }

StateBinding::StateBinding(const StateMemory &session) : versions_(session.versions_), version_(*versions_) {}

//===-- Use -----------------------------------------------------------------------------------------------------===//

StatusOr<StateMemory::Use> StateMemory::use() const {
  if (isInUse_.exchange(true))
    return invalid("the session is in use by another call: a session serves one call at a time");
  return Use(*this);
}

StatusOr<StateMemory::Use> StateMemory::use(Session *session, const std::shared_ptr<const void> &program,
                                            const Plan &plan) {
  return guard([&]() -> StatusOr<Use> {
    if (!session && plan.states.empty())
      return Use();
    if (!session)
      return invalid("the program has state: pass a session, which makeSession() makes");
    auto *states = dynamic_cast<StateMemory *>(session);
    if (!states || states->program_ != program)
      return invalid("the session belongs to another program: pass one that makeSession() of this program has made");
    if (plan.states.empty())
      return Use();
    StatusOr<Use> use = states->use();
    if (use.isOk())
      INLAY_RETURN_IF_ERROR(states->checkDefined());
    return use;
  });
}

void StateMemory::bindTo(const std::shared_ptr<ContextPool> &pool) {
  if (pool_.owner_before(pool) || pool.owner_before(pool_))
    pool_ = pool;
}

/// Makes contexts release the memory that the states had. Those of calls in flight do so when these calls end.
void StateMemory::forgetBindings() {
  ++*versions_;
  if (std::shared_ptr<ContextPool> pool = pool_.lock())
    pool->dropStale();
}

void StateMemory::setDefined(bool isDefined) {
  for (State &state : states_)
    state.isDefined = isDefined;
}

//===-- Checks --------------------------------------------------------------------------------------------------===//

Status StateMemory::checkNumber(uint32_t state) const {
  if (state < states_.size())
    return Status::ok();
  return invalid(fmt::format("state {} is out of range: the program has {} states", state, states_.size()));
}

Status StateMemory::checkDefined() const {
  for (const State &state : states_)
    if (!state.isDefined)
      return invalid(
          "the state of the session is undefined, because a call or a write failed: reset it or write its states");
  return Status::ok();
}

Status StateMemory::checkReadable(uint32_t state) const {
  INLAY_RETURN_IF_ERROR(checkNumber(state));
  if (!states_[state].hasMemory())
    return invalid(
        fmt::format("state '{}' has no contents yet: call the program or write the state first", describe(state).name));
  if (!states_[state].isDefined)
    return invalid(
        fmt::format("state '{}' is undefined, because a call or a write failed: reset the session or write its states",
                    describe(state).name));
  return Status::ok();
}

Status StateMemory::checkValue(uint32_t state, const TensorView &value) const {
  const Buffer &buffer = describe(state);
  const TensorType &type = buffer.type;
  bool fits = value.element == type.element && value.dims.size() == type.dims.size();
  for (size_t i = 0; fits && i < value.dims.size(); ++i) {
    int64_t size = value.dims[i];
    type.dims[i].isConstant(size);
    fits = size == value.dims[i];
  }
  if (!fits)
    return invalid(fmt::format("state '{}': expected {}, but got {}", buffer.name, toString(type, plan_->symbols),
                               toString(value.element, value.dims)));
  StatusOr<size_t> bytes = byteSize(value.element, value.dims);
  if (!bytes.isOk())
    return invalid(fmt::format("state '{}': {}", buffer.name, bytes.status().message()));
  if (*bytes > 0 && !value.data)
    return invalid(fmt::format("state '{}': its data is null", buffer.name));
  return Status::ok();
}

Status StateMemory::checkPlaced(uint32_t state, const std::vector<int64_t> &dims) const {
  const State &placed = states_[state];
  if (!placed.hasMemory() || placed.dims == dims)
    return Status::ok();
  const Buffer &buffer = describe(state);
  return invalid(fmt::format("state '{}': the session has {}, but the inputs of this call make it {}: make another "
                             "session or reset this one",
                             buffer.name, toString(buffer.type.element, placed.dims),
                             toString(buffer.type.element, dims)));
}

//===-- Memory --------------------------------------------------------------------------------------------------===//

/// Allocates a state in the memory that `buffer` names, without contents.
StatusOr<StateMemory::State> StateMemory::make(const Buffer &buffer, const std::vector<int64_t> &dims,
                                               const std::shared_ptr<Device> &device, bool &ofDevice) const {
  State made;
  made.dims = dims;
  StatusOr<size_t> bytes = byteSize(buffer.type.element, dims);
  if (!bytes.isOk())
    return bytes.status();
  made.bytes = *bytes;
  if (buffer.space == MemorySpace::Device) {
    StatusOr<std::shared_ptr<DeviceBuffer>> memory = device->allocate(made.bytes);
    ofDevice = !memory.isOk();
    if (!memory.isOk())
      return memory.status();
    made.buffer = std::move(*memory);
    made.device = device;
  } else {
    StatusOr<HostBlock> memory = allocateHostBlock(made.bytes);
    if (!memory.isOk())
      return memory.status();
    made.host = std::move(*memory);
  }
  return made;
}

/// Writes all bytes of a state, in whichever memory it is.
static Status fill(const std::shared_ptr<Device> &device, DeviceBuffer &buffer, size_t bytes,
                   const BufferWriter &write) {
  if (void *pointer = buffer.hostPointer()) { // `Device::fill` may put it off, but the host may read it next
    write(pointer);
    return Status::ok();
  }
  return bytes > 0 ? device->fill(buffer, bytes, write) : Status::ok();
}

/// Copies the contents of a state to host memory. After a device was lost, only memory that it shares with the host
/// still holds what the last call that ended wrote.
Status StateMemory::copyOut(uint32_t number, void *to) const {
  const State &state = states_[number];
  if (state.bytes == 0)
    return Status::ok();
  if (state.host) {
    std::memcpy(to, state.host.get(), state.bytes);
    return Status::ok();
  }
  void *pointer = state.buffer->hostPointer();
  Status status = state.device->state();
  if (pointer && (status.isOk() || state.device->unifiedMemory())) {
    std::memcpy(to, pointer, state.bytes);
    return Status::ok();
  }
  if (status.isOk())
    status = state.device->download(*state.buffer, to, state.bytes);
  if (status.isOk())
    return status;
  return {StatusCode::Unavailable,
          fmt::format("state '{}' can't be copied from device '{}': {}: reset the session or write its states",
                      describe(number).name, state.device->deviceName(), status.message())};
}

Status StateMemory::place(uint32_t number, const Buffer &buffer, const std::vector<int64_t> &dims,
                          const std::shared_ptr<Device> &device, bool &ofDevice) {
  State &state = states_[number];
  bool wantsDevice = buffer.space == MemorySpace::Device;
  if (wantsDevice ? state.buffer && state.device == device : state.host != nullptr)
    return Status::ok();
  StatusOr<State> made = make(buffer, dims, device, ofDevice);
  if (!made.isOk())
    return {made.status().code(), fmt::format("state '{}': {}", buffer.name, made.status().message())};
  BufferWriter write = [bytes = made->bytes](void *to) { std::memset(to, 0, bytes); };
  HostBlock fetched;
  if (state.hasMemory()) {
    const void *contents = state.host.get();
    if (!contents && wantsDevice) { // from one device to another
      StatusOr<HostBlock> block = allocateHostBlock(state.bytes);
      if (!block.isOk())
        return block.status();
      fetched = std::move(*block);
      INLAY_RETURN_IF_ERROR(copyOut(number, fetched.get()));
      contents = fetched.get();
    }
    write = [contents, bytes = made->bytes](void *to) { std::memcpy(to, contents, bytes); };
  }
  if (wantsDevice) {
    Status status = fill(device, *made->buffer, made->bytes, write);
    ofDevice = !status.isOk();
    if (!status.isOk())
      return {status.code(), fmt::format("state '{}': {}", buffer.name, status.message())};
  } else if (state.buffer) {
    INLAY_RETURN_IF_ERROR(copyOut(number, made->host.get()));
  } else {
    write(made->host.get());
  }
  bool moves = state.hasMemory();
  state = std::move(*made);
  if (moves)
    forgetBindings();
  return Status::ok();
}

//===-- Functions of the caller ---------------------------------------------------------------------------------===//

Status StateMemory::reset() {
  return guard([&]() -> Status {
    StatusOr<Use> inUse = use();
    if (!inUse.isOk())
      return inUse.status();
    std::vector<State> states(states_.size());
    states_.swap(states);
    forgetBindings();
    return Status::ok();
  });
}

StatusOr<std::vector<int64_t>> StateMemory::dims(uint32_t state) const {
  return guard([&]() -> StatusOr<std::vector<int64_t>> {
    StatusOr<Use> inUse = use();
    if (!inUse.isOk())
      return inUse.status();
    INLAY_RETURN_IF_ERROR(checkReadable(state));
    return states_[state].dims;
  });
}

StatusOr<TensorView> StateMemory::read(uint32_t state) const {
  return guard([&]() -> StatusOr<TensorView> {
    StatusOr<Use> inUse = use();
    if (!inUse.isOk())
      return inUse.status();
    INLAY_RETURN_IF_ERROR(checkReadable(state));
    StatusOr<std::shared_ptr<void>> memory = allocateResult(states_[state].bytes);
    if (!memory.isOk())
      return Status(memory.status().code(),
                    fmt::format("state '{}': {}", describe(state).name, memory.status().message()));
    INLAY_RETURN_IF_ERROR(copyOut(state, memory->get()));
    return TensorView{memory->get(), describe(state).type.element, states_[state].dims, *memory};
  });
}

Status StateMemory::write(uint32_t state, const TensorView &value) {
  return guard([&] { return write({{state, value}}); });
}

/// Checks each number and value, and that no state is given twice.
Status StateMemory::checkValues(const Values &values) const {
  std::vector<bool> isGiven(states_.size());
  for (const auto &[number, value] : values) {
    INLAY_RETURN_IF_ERROR(checkNumber(number));
    INLAY_RETURN_IF_ERROR(checkValue(number, value));
    if (isGiven[number])
      return invalid(fmt::format("state '{}' is given twice", describe(number).name));
    isGiven[number] = true;
  }
  return Status::ok();
}

/// Returns true if a value of these dims can be written into the memory that a state has.
bool StateMemory::fitsInPlace(const State &state, const std::vector<int64_t> &dims) {
  return state.dims == dims && (state.host || (state.buffer && state.device->state().isOk()));
}

/// Writes in place where that is possible. Otherwise the value goes to host memory, and the next call moves it.
Status StateMemory::write(const Values &values) {
  return guard([&]() -> Status {
    StatusOr<Use> inUse = use();
    if (!inUse.isOk())
      return inUse.status();
    INLAY_RETURN_IF_ERROR(checkValues(values));
    std::vector<std::pair<uint32_t, State>> replacements;
    for (const auto &[number, value] : values) {
      if (fitsInPlace(states_[number], value.dims))
        continue;
      Buffer buffer = describe(number);
      buffer.space = MemorySpace::Host;
      bool ofDevice = false;
      StatusOr<State> made = make(buffer, value.dims, nullptr, ofDevice);
      if (!made.isOk())
        return {made.status().code(), fmt::format("state '{}': {}", buffer.name, made.status().message())};
      replacements.emplace_back(number, std::move(*made));
    }
    for (auto &[number, made] : replacements)
      states_[number] = std::move(made);
    if (!replacements.empty())
      forgetBindings();
    for (const auto &[number, value] : values)
      states_[number].isDefined = false;
    for (const auto &[number, value] : values) {
      State &state = states_[number];
      BufferWriter copy = [from = value.data, bytes = state.bytes](void *to) { std::memcpy(to, from, bytes); };
      auto fillBuffer = [&] { return fill(state.device, *state.buffer, state.bytes, copy); };
      if (state.host && state.bytes > 0)
        copy(state.host.get());
      else if (state.bytes > 0)
        if (Status status = guard(fillBuffer); !status.isOk())
          return {status.code(), fmt::format("state '{}': {}: this state and those after it are undefined: write them "
                                             "again or reset the session",
                                             describe(number).name, status.message())};
      state.isDefined = true;
    }
    return Status::ok();
  });
}

} // namespace inlay::rt
