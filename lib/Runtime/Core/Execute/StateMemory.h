// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StateMemory: the memory of a session. It follows the plan of each call: a state moves to the memory in which the plan
// expects it.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_STATEMEMORY_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_STATEMEMORY_H

#include "Runtime/Core/Memory/HostBlock.h"

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Session.h"

#include <atomic>

namespace inlay::rt {

class ContextPool;
class StateMemory;

/// Remembers which memory of a session a plan instance uses. It may outlive the session.
class StateBinding {
public:
  StateBinding() = default;
  explicit StateBinding(const StateMemory &session);

  bool operator==(const StateBinding &other) const {
    return versions_ == other.versions_ && version_ == other.version_;
  }
  /// Returns true if the session no longer uses the memory, because it has other memory or was destroyed.
  bool isStale() const { return versions_ && *versions_ != version_; }

private:
  std::shared_ptr<const std::atomic<uint64_t>> versions_; ///< Null if no session is bound.
  uint64_t version_ = 0;
};

class StateMemory final : public Session {
public:
  /// `program` identifies the program that makes the session, and `plan` is the plan that it was loaded from.
  StateMemory(std::shared_ptr<const void> program, std::shared_ptr<const Plan> plan);
  ~StateMemory() override;

  Status reset() override;
  StatusOr<std::vector<int64_t>> dims(uint32_t state) const override;
  StatusOr<TensorView> read(uint32_t state) const override;
  Status write(uint32_t state, const TensorView &value) override;
  Status write(const Values &values) override;

  /// The exclusive use of a session during its lifetime. It never waits: calls inside of callbacks could wait for each
  /// other forever.
  class Use {
  public:
    Use() = default;
    Use(Use &&other) noexcept : states_(std::exchange(other.states_, nullptr)) {}
    Use &operator=(Use &&) = delete;
    ~Use() {
      if (states_)
        states_->isInUse_ = false;
    }
    /// Returns null if the call has no session.
    StateMemory *states() const { return const_cast<StateMemory *>(states_); }

  private:
    friend class StateMemory;
    explicit Use(const StateMemory &states) : states_(&states) {}
    const StateMemory *states_ = nullptr;
  };

  /// Takes the session of a call of a program, or nothing if `session` is null and the plan has no state. Checks that
  /// the session belongs to the program and that its contents are defined.
  static StatusOr<Use> use(Session *session, const std::shared_ptr<const void> &program, const Plan &plan);

  // The following functions require that the session is in use.

  /// Returns an error if a state has other dims than these, which the inputs of a call give it.
  Status checkPlaced(uint32_t state, const std::vector<int64_t> &dims) const;

  /// Makes a state have these dims and be in the memory that `buffer` names: on `device`, or in host memory. A state
  /// without dims becomes zeros. Sets `ofDevice` if the device caused a failure. After an error the contents are
  /// unchanged.
  Status place(uint32_t state, const Buffer &buffer, const std::vector<int64_t> &dims,
               const std::shared_ptr<Device> &device, bool &ofDevice);

  /// Returns where a state is. Host memory has no buffer.
  void *host(uint32_t state) const { return states_[state].host.get(); }
  const std::shared_ptr<DeviceBuffer> &onDevice(uint32_t state) const { return states_[state].buffer; }

  /// Marks all states undefined until `endCall`, before the first step of a call that writes one begins.
  void beginWrite() { setDefined(false); }
  /// Marks all states defined: the call has succeeded. Nothing of the call may fail afterwards.
  void endCall() { setDefined(true); }

  /// Remembers the pool whose contexts may be bound to the states.
  void bindTo(const std::shared_ptr<ContextPool> &pool);

private:
  /// A state without memory is zeros with dims that are not known yet.
  struct State {
    std::vector<int64_t> dims;
    size_t bytes = 0;
    HostBlock host; ///< Null if the state is on a device.
    std::shared_ptr<Device> device;
    std::shared_ptr<DeviceBuffer> buffer; ///< Of `device`; null if the state is in host memory.
    bool isDefined = true;

    bool hasMemory() const { return host || buffer; }
  };

  friend class StateBinding;

  StatusOr<Use> use() const;
  const Buffer &describe(uint32_t state) const { return plan_->buffers[plan_->states[state]]; }
  Status checkNumber(uint32_t state) const;
  Status checkValue(uint32_t state, const TensorView &value) const;
  Status checkValues(const Values &values) const;
  Status checkDefined() const;
  Status checkReadable(uint32_t state) const;
  StatusOr<State> make(const Buffer &buffer, const std::vector<int64_t> &dims, const std::shared_ptr<Device> &device,
                       bool &ofDevice) const;
  static bool fitsInPlace(const State &state, const std::vector<int64_t> &dims);
  Status copyOut(uint32_t state, void *to) const;
  void setDefined(bool isDefined);
  void forgetBindings();

  const std::shared_ptr<const void> program_;
  const std::shared_ptr<const Plan> plan_;
  std::vector<State> states_;
  std::weak_ptr<ContextPool> pool_;
  /// Counts how often memory was released that plan instances may be bound to.
  const std::shared_ptr<std::atomic<uint64_t>> versions_ = std::make_shared<std::atomic<uint64_t>>(0);
  mutable std::atomic<bool> isInUse_{false};
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_STATEMEMORY_H
