// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes a plan from untrusted bytes, with limits on counts. Read.cpp reads the file around it, and
// Core/Plan/PlanChecker.cpp checks the meaning.

#include "PlanReader.h"
#include "Bytes.h"
#include "PlanFields.h"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

namespace inlay::rt {

namespace {

/// Names of the parts that are counted, in messages.
constexpr const char *kTextBytes = "bytes of a string", *kInstructions = "instructions of an expression",
                     *kElements = "elements of a list";

std::string tooMany(uint64_t limit, const char *what, uint64_t count) {
  return fmt::format("expected at most {} {}, but got {}", limit, what, count);
}

/// Reads a plan. After the first error, which is kept, all numbers read as zero and all lists as empty.
class Reader {
public:
  template <typename T>
  using Ref = T &;

  Reader(const PlanBytes &bytes, Budget &budget) : bytes_(bytes), budget_(budget) {}

  template <typename... Values>
  void operator()(Values &...values) {
    (get(values), ...);
  }

  template <typename T>
  void choice(T &value, T last, const char *what) {
    auto number = number_<uint8_t>();
    if (number > static_cast<uint8_t>(last))
      return fail(fmt::format("expected {} up to {}, but got {}", what, static_cast<int>(last), number));
    value = static_cast<T>(number);
  }

  template <typename List>
  void pooled(Pool pool, List &list) {
    const std::string_view pools[] = {bytes_.spirv, bytes_.host, bytes_.foreign};
    const char *names[] = {"spirv", "host", "foreign"};
    auto number = static_cast<size_t>(pool);
    std::string_view bytes = range(pools[number], fmt::format("section '{}'", names[number]));
    constexpr size_t width = sizeof(list[0]);
    if (bytes.size() % width != 0)
      return fail(fmt::format("expected a multiple of {} bytes of section '{}', but got {}", width, names[number],
                              bytes.size()));
    if (!take(kPoolFactor * bytes.size()))
      return;
    list.resize(bytes.size() / width);
    if (!bytes.empty())
      std::memcpy(list.data(), bytes.data(), bytes.size());
  }

  Status finish() {
    if (at_ != bytes_.plan.size())
      fail(fmt::format("{} bytes are left over", bytes_.plan.size() - at_));
    return status_;
  }

private:
  void fail(std::string what, StatusCode code = StatusCode::InvalidArgument) {
    if (status_.isOk())
      status_ = {code, fmt::format("section 'plan', byte {}: {}", at_, what)};
  }

  size_t left() const { return bytes_.plan.size() - at_; }

  bool take(uint64_t bytes) {
    if (status_.isOk() && !budget_.take(bytes))
      fail(fmt::format("needs {} more bytes of memory, which exceeds the memory limit", bytes),
           StatusCode::ResourceExhausted);
    return status_.isOk();
  }

  template <typename T>
  T number_() {
    if (!status_.isOk() || left() < sizeof(T)) {
      fail(fmt::format("expected {} bytes more, but got {}", sizeof(T), left()));
      return 0;
    }
    T value = loadLittle<T>(bytes_.plan.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  /// Returns the length of a list whose elements, `what`, take at least one byte each; 0 after an error.
  uint32_t length(uint64_t maxLength, size_t width, const char *what) {
    auto count = number_<uint32_t>();
    if (count > left())
      fail(fmt::format("expected at most {} {}, as many bytes follow, but got {}", left(), what, count));
    else if (count > maxLength)
      fail(tooMany(maxLength, what, count));
    return take(kLoadFactor * width * count) ? count : 0;
  }

  /// Returns the range of `pool` that the next offset and length give.
  std::string_view range(std::string_view pool, const std::string &name) {
    auto offset = number_<uint64_t>(), size = number_<uint64_t>();
    if (offset > pool.size() || size > pool.size() - offset) {
      fail(fmt::format("expected a range in the {} bytes of {}, but got {} bytes at offset {}", pool.size(), name, size,
                       offset));
      return {};
    }
    return status_.isOk() ? pool.substr(offset, size) : std::string_view();
  }

  template <typename T>
  void get(T &value) {
    if constexpr (std::is_floating_point_v<T>)
      getBits(value);
    else if constexpr (std::is_same_v<T, bool>)
      getBool(value);
    else if constexpr (std::is_integral_v<T>)
      value = number_<T>();
    else
      fields(*this, value);
  }
  void get(std::string &text) {
    uint32_t size = length(kMaxTextBytes, 1, kTextBytes);
    text.assign(bytes_.plan.data() + at_, size);
    at_ += size;
  }
  template <typename T>
  void get(std::vector<T> &list) {
    list.resize(length(UINT32_MAX, sizeof(T), kElements));
    for (T &element : list) {
      if (!status_.isOk())
        return;
      get(element);
    }
  }
  template <typename T, size_t size>
  void get(std::array<T, size> &list) {
    for (T &element : list)
      get(element);
  }
  void getBool(bool &value) {
    auto number = number_<uint8_t>();
    if (number > 1)
      return fail(fmt::format("expected 0 or 1, but got {}", number));
    value = number == 1;
  }
  template <typename T>
  void getBits(T &value) {
    auto bits = number_<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>();
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&value, &bits, sizeof(bits));
  }
  void get(Expr &expr) {
    std::vector<Expr::Instruction> code(length(kMaxInstructions, sizeof(Expr::Instruction), kInstructions));
    for (Expr::Instruction &instruction : code) {
      choice(instruction.op, Expr::Op::Max, "an operation");
      if (instruction.op == Expr::Op::Constant || instruction.op == Expr::Op::Dim)
        get(instruction.a);
      if (instruction.op == Expr::Op::Dim)
        get(instruction.b);
      if (!status_.isOk())
        return;
    }
    expr = Expr(std::move(code));
  }
  void get(Constant &constant) {
    bool isOutside = false;
    get(constant.key);
    get(isOutside);
    const ConstantBytes &source = isOutside ? bytes_.outside : bytes_.inside;
    std::string_view bytes = range(source.bytes, isOutside ? "the weights file" : "section 'constants'");
    static const int64_t nothing = 0; // empty constants of an empty section point here
    constant.data = bytes.data() ? static_cast<const void *>(bytes.data()) : &nothing;
    constant.size = bytes.size();
    constant.owner = source.owner;
    get(constant.dims);
    get(constant.order);
  }

  const PlanBytes &bytes_;
  Budget &budget_;
  size_t at_ = 0;
  Status status_;
};

} // namespace

/// Checks that the elements of constants are aligned.
static Status checkAlignment(const Plan &plan) {
  for (const Buffer &buffer : plan.buffers) {
    if (buffer.kind != BufferKind::Constant || buffer.index >= plan.constants.size())
      continue;
    auto address = reinterpret_cast<uintptr_t>(plan.constants[buffer.index].data);
    if (address % byteWidth(buffer.type.element) != 0)
      return {StatusCode::InvalidArgument, fmt::format("constant {} ('{}'): expected an offset that is a multiple of "
                                                       "{} bytes, the width of its elements",
                                                       buffer.index, buffer.name, byteWidth(buffer.type.element))};
  }
  return Status::ok();
}

StatusOr<std::shared_ptr<Plan>> decodePlan(const PlanBytes &bytes, Budget &budget) {
  auto plan = std::make_shared<Plan>();
  Reader reader(bytes, budget);
  reader(*plan);
  INLAY_RETURN_IF_ERROR(reader.finish());
  INLAY_RETURN_IF_ERROR(checkAlignment(*plan));
  return plan;
}

namespace {

/// Visits a plan like a writer and looks for parts that exceed the format's limits.
class LimitChecker {
public:
  template <typename T>
  using Ref = const T &;

  template <typename... Values>
  void operator()(const Values &...values) {
    (look(values), ...);
  }
  template <typename T>
  void choice(T, T, const char *) {}
  template <typename List>
  void pooled(Pool, const List &) {}

  Status status;

private:
  void bound(size_t size, uint64_t limit, const char *what) {
    if (size > limit && status.isOk())
      status = {StatusCode::InvalidArgument, tooMany(limit, what, size)};
  }
  template <typename T>
  void look(const T &value) {
    if constexpr (!std::is_arithmetic_v<T>)
      fields(*this, value);
  }
  void look(const std::string &text) { bound(text.size(), kMaxTextBytes, kTextBytes); }
  void look(const Expr &expr) { bound(expr.code().size(), kMaxInstructions, kInstructions); }
  void look(const Constant &constant) { look(constant.key); }
  template <typename T>
  void look(const std::vector<T> &list) {
    bound(list.size(), UINT32_MAX, kElements);
    for (const T &element : list)
      look(element);
  }
  template <typename T, size_t size>
  void look(const std::array<T, size> &list) {
    for (const T &element : list)
      look(element);
  }
};

} // namespace

Status checkLimits(const Plan &plan) {
  LimitChecker checker;
  checker(plan);
  return checker.status;
}

} // namespace inlay::rt
