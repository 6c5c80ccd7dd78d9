// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Python extension. Arguments are checked and decisions are made in Python. The extension handles memory (tensors
// are shared, never copied), the interpreter lock (released while compiling and running) and errors.

#include "Graph.h"
#include "InterpreterLock.h"
#include "Watch.h"

#include "inlay/Execution/CompileOptions.h"
#include "inlay/Execution/SavedProgram.h"
#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Loader/Loader.h"
#include "inlay/Runtime/Report/Profile.h"
#include "inlay/Runtime/Report/ReportKeys.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include "llvm/Config/llvm-config.h"

#include "llvm/ADT/STLExtras.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using namespace inlay;

namespace {

using SharedArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using TorchArray = nb::ndarray<nb::pytorch>;

constexpr std::pair<rt::ElementType, nb::dlpack::dtype> kElementTypes[] = {
    {rt::ElementType::Bool, nb::dtype<bool>()},
    {rt::ElementType::I8, nb::dtype<int8_t>()},
    {rt::ElementType::I16, nb::dtype<int16_t>()},
    {rt::ElementType::I32, nb::dtype<int32_t>()},
    {rt::ElementType::I64, nb::dtype<int64_t>()},
    {rt::ElementType::F32, nb::dtype<float>()},
    {rt::ElementType::F64, nb::dtype<double>()},
    {rt::ElementType::F16, {uint8_t(nb::dlpack::dtype_code::Float), 16, 1}},
    {rt::ElementType::BF16, {uint8_t(nb::dlpack::dtype_code::Bfloat), 16, 1}},
};

/// Raises the exception of inlay.errors that corresponds to `status`.
[[noreturn]] void raise(const rt::Status &status, bool compiling) {
  if (PyErr_Occurred()) // An exception interrupted the call.
    throw nb::python_error();
  static constexpr const char *kNames[] = {"Ok",         "InvalidArgument", "NotFound", "ResourceExhausted",
                                           "DeviceLost", "Unavailable",     "Stopped",  "Internal"};
  const char *name = kNames[static_cast<int>(status.code())];
  nb::object error = nb::module_::import_("inlay.errors").attr("from_status")(name, status.message(), compiling);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

/// Wraps a Python object that C++ may copy and drop without the interpreter lock.
std::shared_ptr<nb::object> share(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object *shared) {
            Locked locked;
            delete shared;
          }};
}

/// Returns the data of a tensor, which stays alive as long as the result. Throws TypeError if the tensor has no
/// contiguous data in host memory, and exceptions such as KeyboardInterrupt, which nanobind's conversion would drop.
SharedArray toArray(nb::handle tensor) {
  nb::object capsule;
  try {
    capsule = tensor.attr("__dlpack__")();
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
  }
  SharedArray array; // nanobind has other ways for a tensor that requires a gradient.
  if (!nb::try_cast(capsule.is_valid() ? nb::handle(capsule) : tensor, array, /*convert=*/false))
    throw nb::type_error("expected a contiguous tensor in host memory");
  return array;
}

std::vector<SharedArray> toArrays(const std::vector<nb::object> &tensors) {
  std::vector<SharedArray> arrays;
  for (const nb::object &tensor : tensors)
    arrays.push_back(toArray(tensor));
  return arrays;
}

rt::TensorView view(const SharedArray &array) {
  rt::TensorView view;
  view.data = const_cast<void *>(array.data());
  for (size_t i = 0; i < array.ndim(); ++i)
    view.dims.push_back(static_cast<int64_t>(array.shape(i)));
  for (auto [element, dtype] : kElementTypes)
    if (array.dtype() == dtype) {
      view.element = element;
      return view;
    }
  throw nb::type_error("expected a tensor of a known element type");
}

/// Returns a PyTorch tensor over the data of `view`, which must outlive it unless it has an owner.
nb::object makeTensor(const rt::TensorView &view) {
  std::vector<size_t> dims(view.dims.begin(), view.dims.end());
  nb::dlpack::dtype dtype = nb::dtype<float>();
  for (auto [element, candidate] : kElementTypes)
    if (element == view.element)
      dtype = candidate;
  // Without an owner, nanobind would copy the data. Therefore a capsule is the owner even if it owns nothing. The data
  // pointer of an empty tensor may be null.
  static char nothing;
  void *data = view.data ? view.data : &nothing;
  using Owner = std::shared_ptr<const void>;
  nb::capsule owner(new Owner(view.owner), [](void *kept) noexcept { delete static_cast<Owner *>(kept); });
  return nb::cast(TorchArray(data, dims.size(), dims.data(), owner, nullptr, dtype, nb::device::cpu::value));
}

/// Serves the callbacks of a plan: calls `run(call, inputs, outputs, sizes)` in Python with the text of the callback.
struct Fallback {
  std::shared_ptr<nb::object> run;
  std::shared_ptr<const rt::Plan> plan; ///< Set once the compilation is done.

  rt::Status call(uint32_t number, const std::vector<rt::TensorView> &inputs,
                  const std::vector<rt::TensorView> &outputs, const std::vector<int64_t> &sizes) const {
    Locked locked;
    const std::string &text = plan->callbacks[number].name;
    try {
      nb::list read, written;
      for (const rt::TensorView &input : inputs)
        read.append(makeTensor(input));
      for (const rt::TensorView &output : outputs)
        written.append(makeTensor(output));
      sleepAtTheEnd([&] { (*run)(text, read, written, sizes); });
      return rt::Status::ok();
    } catch (nb::python_error &error) {
      return {rt::StatusCode::Internal, error.what()};
    } catch (const std::exception &error) {
      return {rt::StatusCode::Internal, error.what()};
    }
  }
};

/// The results of a call, before they are converted to tensors.
struct Results {
  std::vector<rt::TensorView> views;

  nb::list tensors() const {
    nb::list made;
    for (const rt::TensorView &view : views)
      made.append(makeTensor(view));
    return made;
  }
};

/// The states of a sequence of calls.
struct Session {
  std::shared_ptr<rt::Session> session;

  /// Runs `work` without the interpreter lock, and raises its error.
  template <typename Work>
  static auto run(Work work) {
    auto result = [&] {
      Unlocked unlocked;
      return work();
    }();
    if (!result.isOk())
      raise(result.status(), /*compiling=*/false);
    return std::move(*result);
  }
  static void check(const rt::Status &status) {
    if (!status.isOk())
      raise(status, /*compiling=*/false);
  }

  void reset() {
    check([&] {
      Unlocked unlocked;
      return session->reset();
    }());
  }
  std::vector<int64_t> dims(uint32_t number) const {
    return run([&] { return session->dims(number); });
  }
  nb::object read(uint32_t number) const {
    return makeTensor(run([&] { return session->read(number); }));
  }
  void write(const std::vector<std::pair<uint32_t, nb::object>> &values) {
    std::vector<SharedArray> arrays;
    rt::Session::Values views;
    for (const auto &[number, tensor] : values) {
      arrays.push_back(toArray(tensor));
      views.emplace_back(number, view(arrays.back()));
    }
    check([&] {
      Unlocked unlocked;
      return session->write(views);
    }());
  }
};

/// A CompileRequest that Python fills in.
struct Request : CompileRequest {
  Request() { options.partition.names = OptionNames::Keywords; }

  void addWeight(std::string key, const nb::object &tensor) {
    auto owner = std::make_shared<SharedArray>(toArray(tensor));
    weights.push_back({std::move(key), owner->data(), owner->nbytes(), owner, /*type=*/""});
  }

  void setProgress(nb::object function) {
    progress = [function = share(std::move(function))](llvm::StringRef phase, unsigned number, unsigned count) {
      Locked locked;
      try {
        sleepAtTheEnd([&] { (*function)(phase.str(), number, count); });
      } catch (nb::python_error &error) { // No exception may be thrown through the compiler.
        if (error.matches(PyExc_KeyboardInterrupt))
          PyErr_SetInterrupt(); // so that Python raises it again after the compilation
        else
          error.discard_as_unraisable("inlay's progress function");
      }
    };
  }

  std::shared_ptr<Fallback> fallback = std::make_shared<Fallback>();
};

/// A compiled program.
class Compilation {
public:
  explicit Compilation(CompiledProgram made) : compiled(std::move(made)) {
    compiled.program->stopWhen([] {
      Locked locked;
      return sleepAtTheEnd([] { return PyErr_CheckSignals() != 0; });
    });
  }

  Session makeSession() {
    rt::StatusOr<std::shared_ptr<rt::Session>> made = compiled.program->makeSession();
    if (!made.isOk())
      raise(made.status(), /*compiling=*/false);
    return {std::move(*made)};
  }

  /// Runs the program with a session, which may be null.
  Results call(const std::vector<nb::object> &inputs, const Session *session) {
    std::vector<rt::TensorView> read = views(toArrays(inputs));
    rt::StatusOr<std::vector<rt::TensorView>> results = [&] {
      Unlocked unlocked;
      return compiled.program->callForResults(read, session ? session->session.get() : nullptr);
    }();
    if (!results.isOk())
      raise(results.status(), /*compiling=*/false);
    return {std::move(*results)};
  }

  /// Profiles one call step by step. Returns (steps, report, table, trace): the (name, kind, seconds) of each step, the
  /// report with the times, a table of them for users, and the trace as JSON, which is empty unless `traced`.
  nb::tuple profile(const std::vector<nb::object> &inputs, bool traced, const Session *session) {
    rt::Trace trace;
    std::vector<rt::TensorView> read = views(toArrays(inputs));
    auto steps = [&]() -> rt::StatusOr<std::vector<rt::StepProfile>> {
      Unlocked unlocked;
      rt::InputDims dims;
      for (const rt::TensorView &input : read)
        dims.push_back(input.dims);
      rt::StatusOr<std::vector<rt::TensorView>> results = rt::makeResults(*compiled.program, dims);
      if (!results.isOk())
        return results.status();
      return compiled.program->profile(read, *results, traced ? &trace : nullptr,
                                       session ? session->session.get() : nullptr);
    }();
    if (!steps.isOk())
      raise(steps.status(), /*compiling=*/false);
    nb::list result;
    for (const rt::StepProfile &step : *steps)
      result.append(nb::make_tuple(step.name, rt::name(step.kind), static_cast<double>(step.nanoseconds) * 1e-9));
    rt::StatusOr<std::string> report = rt::addMeasuredTimes(compiled.report, *steps);
    rt::StatusOr<std::string> table = report.isOk() ? rt::formatMeasuredTimes(*report) : report;
    if (!table.isOk())
      raise(table.status(), /*compiling=*/false);
    return nb::make_tuple(result, *report, *table, traced ? rt::toJson(trace, compiled.plan->name) : "");
  }

  /// Returns (summary as JSON, table) of the memory that a call with inputs of these dims needs.
  nb::tuple memory(const rt::InputDims &inputs) const {
    rt::StatusOr<rt::MemoryUse> use = compiled.program->memory(inputs);
    if (!use.isOk())
      raise(use.status(), /*compiling=*/false);
    return nb::make_tuple(rt::describeMemory(*use), rt::formatMemory(*use));
  }

  /// Replaces the data of weights. The program then shares the given tensors. Ignores keys that the program does not
  /// use.
  void replaceWeights(const std::vector<std::pair<std::string, nb::object>> &weights) {
    std::vector<std::pair<uint32_t, rt::Constant>> replacements;
    for (const auto &[key, tensor] : weights) {
      auto owner = std::make_shared<SharedArray>(toArray(tensor));
      for (auto [number, constant] : llvm::enumerate(compiled.plan->constants))
        if (constant.key == key)
          replacements.emplace_back(number, rt::Constant{owner->data(), owner->nbytes(), owner, key});
    }
    rt::Status status;
    {
      Unlocked unlocked;
      status = compiled.program->replaceConstants(replacements);
    }
    if (!status.isOk())
      raise(status, /*compiling=*/false);
    for (auto &[number, constant] : replacements)
      replaced[number] = std::move(constant);
  }

  /// Writes the program to a container, with its current weights and with additional tensors by key.
  void save(const std::string &path, const std::string &metadata,
            const std::vector<std::pair<std::string, nb::object>> &tensors, const std::string &weightsFile,
            bool allowFramework, bool replaceWeights) const {
    rt::Status status;
    std::vector<std::pair<std::string, SharedArray>> added;
    for (const auto &[key, tensor] : tensors)
      added.emplace_back(key, toArray(tensor));
    // Copied with the interpreter lock held, because other threads may replace weights.
    const std::map<uint32_t, rt::Constant> constants = replaced;
    {
      Unlocked unlocked;
      auto plan = std::make_shared<rt::Plan>(*compiled.plan);
      for (const auto &[number, constant] : constants)
        plan->constants[number].replaceBytes(constant);
      for (const auto &[key, array] : added)
        putConstant(*plan, {array.data(), array.nbytes(), nullptr, key});
      CompiledProgram current;
      current.plan = std::move(plan);
      current.report = compiled.report;
      status = saveProgram(path, current, metadata, {weightsFile, allowFramework, replaceWeights});
    }
    if (!status.isOk())
      raise(status, /*compiling=*/false);
  }

  /// Returns a copy of the data of the constant with that key, or None if there is none.
  nb::object constant(const std::string &key) const {
    for (const rt::Constant &constant : compiled.plan->constants)
      if (constant.key == key)
        return nb::bytes(constant.data, constant.size);
    return nb::none();
  }

  /// Returns the inputs and outputs of a call as the plan describes them: (symbols, inputs, outputs). A symbol is
  /// (name, minimum, maximum, input, dim, scale, offset). A tensor is (name, dtype, dims), with each dim as a postfix
  /// list of (operation, a, b).
  nb::tuple plainSignature() const {
    nb::list symbols;
    for (const rt::Symbol &one : compiled.plan->symbols)
      symbols.append(nb::make_tuple(one.name, one.min, one.max, one.input, one.dim, one.scale, one.offset));
    return nb::make_tuple(symbols, describeBuffers(compiled.plan->inputs), describeBuffers(compiled.plan->outputs));
  }

  /// Returns the states as the plan describes them, like the inputs of `plainSignature`.
  nb::list states() const { return describeBuffers(compiled.plan->states); }

  /// Returns (segment number, call as text) for each step that calls the framework.
  std::vector<std::pair<int32_t, std::string>> frameworkCalls() const {
    std::vector<std::pair<int32_t, std::string>> calls;
    for (const rt::Step &step : compiled.plan->steps)
      if (step.kind == rt::StepKind::Callback)
        calls.emplace_back(step.segment, compiled.plan->callbacks[step.callee].name);
    return calls;
  }

  std::string device() const { return compiled.device ? compiled.device->deviceName() : std::string(); }

  CompiledProgram compiled;

private:
  /// Returns views that share the arrays. The last view drops its array with the interpreter lock held, on any thread.
  static std::vector<rt::TensorView> views(std::vector<SharedArray> arrays) {
    std::vector<rt::TensorView> result;
    for (const SharedArray &array : arrays)
      result.push_back(view(array));
    std::shared_ptr<const void> owner(new std::vector<SharedArray>(std::move(arrays)), [](auto *shared) {
      Locked locked;
      delete shared;
    });
    for (rt::TensorView &one : result)
      one.owner = owner;
    return result;
  }

  nb::list describeBuffers(const std::vector<uint32_t> &numbers) const {
    nb::list described;
    for (uint32_t number : numbers) {
      const rt::Buffer &buffer = compiled.plan->buffers[number];
      nb::list dims;
      for (const rt::Expr &dim : buffer.type.dims) {
        nb::list code;
        for (auto [op, a, b] : dim.code())
          code.append(nb::make_tuple(static_cast<int>(op), a, b));
        dims.append(code);
      }
      described.append(nb::make_tuple(buffer.name, rt::name(buffer.type.element), dims));
    }
    return described;
  }

  /// Replaces the data of the constants with that key, or adds a constant.
  static void putConstant(rt::Plan &plan, rt::Constant constant) {
    bool isThere = false;
    for (rt::Constant &present : plan.constants)
      if (present.key == constant.key && present.size == constant.size) {
        present.replaceBytes(constant);
        isThere = true;
      }
    if (!isThere)
      plan.constants.push_back(std::move(constant));
  }

  std::map<uint32_t, rt::Constant> replaced; ///< Constants that differ from the plan's, by number.
};

rt::CallbackHandler callbacksOf(const std::shared_ptr<Fallback> &fallback) {
  return [fallback](uint32_t number, const auto &inputs, const auto &outputs, const auto &sizes) {
    return fallback->call(number, inputs, outputs, sizes);
  };
}

Compilation *compileRequest(Request &request) {
  std::shared_ptr<Fallback> fallback = request.fallback;
  request.callbacks = callbacksOf(fallback);
  auto compiled = [&] {
    Unlocked unlocked;
    return compile(request);
  }();
  if (!compiled.isOk())
    raise(compiled.status(), /*compiling=*/true);
  fallback->plan = compiled->plan;
  return new Compilation(std::move(*compiled));
}

/// Loads the program of a container. Returns (program, metadata). `run` serves the framework calls. `beforeDevice` is
/// called before a device is opened and may raise. `publicKey` may be empty.
nb::tuple loadContainer(const std::string &path, const std::string &device, nb::object run, nb::object beforeDevice,
                        const std::string &publicKey) {
  auto fallback = std::make_shared<Fallback>();
  fallback->run = share(std::move(run));
  rt::OpenOptions options;
  options.device = device;
  options.callbacks = callbacksOf(fallback);
  options.publicKeyFile = publicKey;
  options.beforeDevice = [&] {
    Locked locked;
    try {
      sleepAtTheEnd([&] { beforeDevice(); });
    } catch (nb::python_error &error) {
      error.restore(); // Raised by `raise`.
      return rt::Status(rt::StatusCode::Unavailable, "the device may not be used");
    }
    return rt::Status::ok();
  };
  auto loaded = [&] {
    Unlocked unlocked;
    return rt::openProgram(path, options);
  }();
  if (!loaded.isOk())
    raise(loaded.status(), /*compiling=*/false);
  fallback->plan = loaded->plan;
  CompiledProgram compiled;
  compiled.plan = std::move(loaded->plan);
  compiled.program = std::move(loaded->program);
  compiled.device = std::move(loaded->device);
  compiled.report = std::move(loaded->info.report);
  nb::object compilation = nb::cast(new Compilation(std::move(compiled)), nb::rv_policy::take_ownership);
  return nb::make_tuple(compilation, loaded->info.metadata);
}

std::string partitionRequest(Request &request, const std::string &format) {
  std::optional<ReportFormat> wanted = symbolizeReportFormat(format);
  if (!wanted)
    throw nb::value_error(("expected report format json, text, table or html, but got '" + format + "'").c_str());
  auto report = [&] {
    Unlocked unlocked;
    return partition(request, *wanted);
  }();
  if (!report.isOk())
    raise(report.status(), /*compiling=*/true);
  return *report;
}

/// Returns a line for each Vulkan device. It includes the reason if the device cannot be used.
std::vector<std::string> listDevices() {
  rt::StatusOr<std::vector<rt::vulkan::DeviceCaps>> found = rt::vulkan::listDevices();
  if (!found.isOk())
    return {};
  std::vector<std::string> lines;
  for (const rt::vulkan::DeviceCaps &caps : *found)
    lines.push_back(caps.name + ", " + caps.driver +
                    (caps.unusable.empty() ? "" : " (can't be used: " + caps.unusable + ")"));
  return lines;
}

/// Binds the value of an option as an attribute of the request that is named like the keyword.
template <typename T>
void bindOption(nb::class_<Request> &request, const CompileOption &option, const T *) {
  auto find = [&option](Request &r) -> T & { return *std::get<T *>(option.find(r)); };
  request.def_prop_rw(
      option.keyword, [find](Request &r) { return find(r); },
      [find](Request &r, T value) { find(r) = std::move(value); });
}

void bindOption(nb::class_<Request> &request, const CompileOption &option, const Strategy *) {
  request.def_prop_rw(
      option.keyword, [](Request &r) { return std::string(stringifyStrategy(r.options.partition.strategy)); },
      [](Request &r, const std::string &name) {
        std::optional<Strategy> strategy = symbolizeStrategy(name);
        if (!strategy)
          throw nb::value_error(("unknown strategy '" + name + "'").c_str());
        r.options.partition.strategy = *strategy;
      });
}

void bindRequest(nb::module_ &m) {
  nb::class_<Request> request(m, "Request");
  request.def(nb::init<>())
      .def_rw("text", &Request::text)
      .def_rw("name", &Request::name)
      .def_rw("allow_missing_device", &Request::allowMissingDevice)
      .def("add_weight", &Request::addWeight, "key"_a, "tensor"_a)
      .def("set_progress", &Request::setProgress, "function"_a)
      .def("set_fallback", [](Request &r, nb::object run) { r.fallback->run = share(std::move(run)); }, "run"_a);
  Request sample;
  for (const CompileOption &option : getCompileOptions())
    if (option.find)
      std::visit([&](const auto *value) { bindOption(request, option, value); }, option.find(sample));
}

void bindCompilation(nb::module_ &m) {
  nb::class_<Results>(m, "Results").def("tensors", &Results::tensors);
  nb::class_<Session>(m, "Session")
      .def("reset", &Session::reset)
      .def("dims", &Session::dims, "number"_a)
      .def("read", &Session::read, "number"_a)
      .def("write", &Session::write, "values"_a);
  nb::class_<Compilation>(m, "Compilation")
      .def("make_session", &Compilation::makeSession)
      .def("call", &Compilation::call, "inputs"_a, "session"_a = nb::none())
      .def("profile", &Compilation::profile, "inputs"_a, "traced"_a, "session"_a = nb::none())
      .def("memory", &Compilation::memory, "inputs"_a)
      .def("replace_weights", &Compilation::replaceWeights, "weights"_a)
      .def("save", &Compilation::save, "path"_a, "metadata"_a, "tensors"_a, "weights_file"_a, "allow_framework"_a,
           "replace_weights"_a)
      .def("constant", &Compilation::constant, "key"_a)
      .def_prop_ro("plain_signature", &Compilation::plainSignature)
      .def_prop_ro("states", &Compilation::states)
      .def_prop_ro("framework_calls", &Compilation::frameworkCalls)
      .def_prop_ro("report", [](Compilation &c) { return c.compiled.report; })
      .def_prop_ro("notice", [](Compilation &c) { return c.compiled.notice; })
      .def_prop_ro("device", &Compilation::device);
}

} // namespace

NB_MODULE(_inlay, m) {
  // Tracing of loops keeps the caller's globals until the process ends, so nanobind would report their contents as
  // leaks.
  nb::set_leak_warnings(false);
  m.attr("__version__") = INLAY_VERSION;
  m.attr("llvm_version") = LLVM_VERSION_STRING;
  m.def("devices", &listDevices);
  m.def("format_kernels", &rt::formatKernels, nb::arg("report"));
  m.def("insert_kernels", &rt::insertKernels, nb::arg("page"), nb::arg("report"));
  python::bindGraph(m);
  python::bindSignatures(m);
  python::bindPatterns(m);
  python::bindWatch(m);

  bindRequest(m);
  bindCompilation(m);

  m.def("compile", &compileRequest, "request"_a, nb::rv_policy::take_ownership);
  m.def("load", &loadContainer, "path"_a, "device"_a, "run"_a, "before_device"_a, "public_key"_a);
  m.def("partition", &partitionRequest, "request"_a, "format"_a = "json");
}
