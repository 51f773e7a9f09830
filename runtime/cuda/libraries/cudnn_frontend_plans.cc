// cuDNN through cudnn-frontend. This file is built only where the build found the headers; no_cudnn.cc stands in for it
// otherwise. The frontend throws where a library or a symbol is missing and where JSON is damaged: no exception leaves
// this file.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING 1
#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "base/status_macros.h"
#include "runtime/cuda/libraries/cudnn_backend.h"
#include "runtime/cuda/libraries/cudnn_plan_text.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/library_call.h"

namespace fe = cudnn_frontend;

// A variable that the frontend requires its user to define.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace tandem {
namespace {

using Graph = fe::graph::Graph;
using Dims = std::vector<int64_t>;

constexpr size_t kOldestCudnn = 90000, kPastNewestCudnn = 100000;
// The oldest version that makes plans without a device: cudnn-frontend says that it has not been validated before.
constexpr size_t kOldestDeviceless = 91100;
constexpr int64_t kX = 1, kKernel = 2, kY = 3, kBias = 4;  // the numbers by which a plan refers to its tensors

// Properties of architectures. Without them cuDNN would ask a device for them before it makes plans.
const char kSm90[] =
#include "runtime/cuda/libraries/devices/sm_90.inc"
    ;

absl::Status FrontendError(const std::string& what, std::string message) {
  // The message may have several lines about engines, of which the first is enough.
  message = message.substr(0, std::min<size_t>(message.find('\n'), 300));
  return absl::InternalError(absl::StrCat("cuDNN cannot ", what, ": ", message));
}

// `error` is passed by value, because the frontend's accessors are not const.
absl::Status Check(fe::error_t error, const char* what) {
  return error.is_good() ? absl::OkStatus() : FrontendError(what, error.get_message());
}

// Returns fn's status, or an error for the exception that it threw.
template <typename Fn>
auto Guarded(const char* what, Fn fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const std::exception& e) {
    return FrontendError(what, e.what());
  } catch (...) {
    return FrontendError(what, "an exception of unknown type");
  }
}

// cuDNN's order of dimensions is NCHW, and KCRS for kernels; strides describe their place in memory: channels last.
Dims ChannelsFirst(const std::vector<int64_t>& nhwc) { return {nhwc[0], nhwc[3], nhwc[1], nhwc[2]}; }
Dims KernelDims(const std::vector<int64_t>& hwio) { return {hwio[3], hwio[2], hwio[0], hwio[1]}; }
Dims ChannelsLastStrides(const Dims& d) { return {d[1] * d[2] * d[3], 1, d[3] * d[1], d[1]}; }

// A graph of one convolution and its epilogue, with plans to choose from that give the same results in every run and
// round as the call allows.
struct Builder {
  explicit Builder(const format::LibraryCall& call)
      : conv(*call.operation.As<format::Conv2D>()),
        tf32(call.tf32),
        type(OperandType(conv) == DType::kBFloat16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::FLOAT),
        graph(std::make_shared<Graph>()) {
    graph->set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
  }

  std::shared_ptr<fe::graph::Tensor_attributes> Input(int64_t id, const Dims& dims, const Dims& strides) {
    return graph->tensor(
        fe::graph::Tensor_attributes().set_uid(id).set_dim(dims).set_stride(strides).set_data_type(type));
  }

  void Output(const std::shared_ptr<fe::graph::Tensor_attributes>& tensor, int64_t id, const Dims& dims) {
    tensor->set_output(true).set_uid(id).set_dim(dims).set_stride(ChannelsLastStrides(dims)).set_data_type(type);
  }

  template <typename Attributes>
  Attributes Window() const {
    Attributes attributes;
    attributes.set_pre_padding(conv.pad_low).set_post_padding(conv.pad_high).set_stride(conv.strides);
    attributes.set_dilation({1, 1});
    return attributes;
  }

  void Describe() {
    const Dims x = ChannelsFirst(conv.x_shape), y = ChannelsFirst(conv.y_shape), k = KernelDims(conv.kernel_shape);
    auto input = [&](int64_t id, const Dims& d) { return Input(id, d, ChannelsLastStrides(d)); };
    using fe::graph::Pointwise_attributes;
    if (conv.direction == format::Direction::kInputGrad) {
      return Output(graph->conv_dgrad(input(kY, y), input(kKernel, k), Window<fe::graph::Conv_dgrad_attributes>()), kX,
                    x);
    }
    if (conv.direction == format::Direction::kFilterGrad) {
      return Output(graph->conv_wgrad(input(kY, y), input(kX, x), Window<fe::graph::Conv_wgrad_attributes>()), kKernel,
                    k);
    }
    auto result = graph->conv_fprop(input(kX, x), input(kKernel, k), Window<fe::graph::Conv_fprop_attributes>());
    if (!conv.epilogue.empty()) {
      result = graph->pointwise(result, Input(kBias, {1, k[0], 1, 1}, {k[0], 1, k[0], k[0]}),
                                Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    }
    if (conv.epilogue.relu()) {
      result = graph->pointwise(result, Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
    }
    Output(result, kY, y);
  }

  // Makes plans with a device's handle, or with null where the graph has a device's properties: all plans of the
  // heuristic, or the one that `chosen` names.
  absl::Status CreatePlans(cudnnHandle_t handle, uint64_t max_workspace, const CudnnPlanText* chosen = nullptr) {
    Describe();
    TD_RETURN_IF_ERROR(Check(graph->validate(), "describe the convolution"));
    TD_RETURN_IF_ERROR(Check(handle != nullptr ? graph->build_operation_graph(handle) : graph->build_operation_graph(),
                             "describe the convolution"));
    fe::error_t created;
    if (chosen != nullptr) {
      std::unordered_map<fe::KnobType_t, int64_t> knobs;
      for (const auto& [knob, choice] : chosen->knobs) knobs[static_cast<fe::KnobType_t>(knob)] = choice;
      created = graph->create_execution_plan(chosen->engine, knobs);
    } else {
      created = graph->create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
    }
    if (created.is_bad()) return NoPlan(created.get_message());
    using Note = fe::NumericalNote_t;
    std::vector<Note> avoid = {Note::NONDETERMINISTIC};
    if (type == fe::DataType_t::FLOAT) {
      // Avoid plans that round more than float32 does. On float32 data, tensor cores mean TensorFloat-32.
      avoid.insert(avoid.end(), {Note::FFT, Note::WINOGRAD_TILE_13x13, Note::REDUCED_PRECISION_REDUCTION});
      if (!tf32) avoid.insert(avoid.end(), {Note::TENSOR_CORE, Note::DOWN_CONVERT_INPUTS});
    }
    graph->deselect_numeric_notes(avoid);
    // Plans that are compiled when they are built take seconds, and are not offered without a driver: plans made with
    // and without a device would differ.
    graph->deselect_behavior_notes({fe::BehaviorNote_t::RUNTIME_COMPILATION});
    graph->deselect_workspace_greater_than(static_cast<int64_t>(max_workspace));
    return absl::OkStatus();
  }

  // Returns the plans, best first. This is the heuristic's order, but plans of the grouped engine come last where there
  // are no groups, and are left out with an epilogue, which kernels after another engine compute faster. Without tensor
  // cores, and with more padding on one side, the heuristic may put this engine first. Plans that compute wrong results
  // are left out.
  absl::StatusOr<std::vector<int64_t>> Order() const {
    std::vector<int64_t> order, grouped;
    for (int64_t i = 0; i < graph->get_execution_plan_count(); ++i) {
      std::string name;
      TD_RETURN_IF_ERROR(Check(graph->get_plan_name_at_index(i, name), "name a plan"));
      if (conv.direction == format::Direction::kFilterGrad && conv.pad_low != conv.pad_high && IsOfEvenPadsOnly(name)) {
        continue;
      }
      (Groups(conv) == 1 && IsGroupedEngine(name) ? grouped : order).push_back(i);
    }
    if (!conv.epilogue.empty()) return order;
    order.insert(order.end(), grouped.begin(), grouped.end());
    return order;
  }

  // Builds the plans in the order of Order(), until fn(index) returns false. Errors: Unimplemented when none can be
  // built.
  template <typename Fn>
  absl::Status BuildPlans(Fn fn) {
    std::string reason = "the heuristic offers none";
    int built = 0;
    TD_ASSIGN_OR_RETURN(const std::vector<int64_t> order, Order());
    for (int64_t i : order) {
      fe::error_t error = graph->build_plan_at_index(i);
      if (error.is_bad()) {
        reason = error.get_message();
        continue;
      }
      ++built;
      TD_ASSIGN_OR_RETURN(const bool more, fn(i));
      if (!more) break;
    }
    return built > 0 ? absl::OkStatus() : NoPlan(reason);
  }

  absl::Status NoPlan(const std::string& message) const {
    std::string why = message.substr(0, std::min<size_t>(message.find('\n'), 300));
    return absl::UnimplementedError(absl::StrCat("cuDNN has no plan for ", TextOf(conv), ": ", why));
  }

  const format::Conv2D& conv;
  const bool tf32;
  fe::DataType_t type;
  std::shared_ptr<Graph> graph;
};

// A handle of cuDNN, and the stream that was set in it last, because setting a stream takes microseconds.
struct Handle {
  absl::Status Use(CUstream wanted) {
    if (set && wanted == stream) return absl::OkStatus();
    set = false;
    if (fe::detail::set_stream(cudnn, reinterpret_cast<cudaStream_t>(wanted)) != CUDNN_STATUS_SUCCESS) {
      return FrontendError("run a plan", "its handle takes no stream");
    }
    stream = wanted;
    set = true;
    return absl::OkStatus();
  }

  cudnnHandle_t cudnn = nullptr;
  CUstream stream = nullptr;
  bool set = false;
};

class LoadedPlan : public CudnnLoadedPlan {
 public:
  // Wraps plan `index` of the graph.
  LoadedPlan(std::shared_ptr<Graph> graph, int64_t index, std::shared_ptr<Handle> handle,
             const format::LibraryCall& call)
      : graph_(std::move(graph)), index_(index), handle_(std::move(handle)) {
    has_bias_ = !InfoOf(call).epilogue.empty();
  }

  absl::Status Init() {
    int64_t workspace = 0;
    TD_RETURN_IF_ERROR(Check(graph_->get_workspace_size_plan_at_index(index_, workspace), "tell a plan's workspace"));
    workspace_ = static_cast<uint64_t>(std::max<int64_t>(workspace, 0));
    return Check(graph_->get_plan_name_at_index(index_, name_), "name a plan");
  }

  uint64_t workspace_bytes() const override { return workspace_; }
  const std::string& name() const override { return name_; }

  absl::Status Enqueue(const CudnnTensors& t, CUdeviceptr workspace, CUstream stream) override {
    return Guarded("run a plan", [&]() -> absl::Status {
      TD_RETURN_IF_ERROR(handle_->Use(stream));
      std::unordered_map<int64_t, void*> tensors = {{kX, reinterpret_cast<void*>(t.x)},
                                                    {kKernel, reinterpret_cast<void*>(t.kernel)},
                                                    {kY, reinterpret_cast<void*>(t.y)}};
      if (has_bias_) tensors[kBias] = reinterpret_cast<void*>(t.bias);
      void* scratch = reinterpret_cast<void*>(workspace);
      return Check(graph_->execute_plan_at_index(handle_->cudnn, tensors, scratch, index_), "run a plan");
    });
  }

 private:
  std::shared_ptr<Graph> graph_;
  int64_t index_;
  std::shared_ptr<Handle> handle_;
  bool has_bias_;
  uint64_t workspace_ = 0;
  std::string name_;
};

class Device : public CudnnDevice {
 public:
  Device(cudnnHandle_t handle, size_t version) : handle_(std::make_shared<Handle>()), version_(version) {
    handle_->cudnn = handle;
  }
  ~Device() override {
    try {
      fe::detail::destroy_handle(handle_->cudnn);
    } catch (const std::exception&) {  // The library has no such function, so there is no handle to destroy either.
    }
  }

  absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> Load(const format::LibraryCall& call,
                                                        absl::string_view bytes) override {
    TD_ASSIGN_OR_RETURN(const CudnnPlanText chosen, ParseCudnnPlan(bytes));
    if (chosen.version != static_cast<int64_t>(version_)) {
      return absl::FailedPreconditionError(absl::StrCat("the plan is for cuDNN ", chosen.version));
    }
    using Result = absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>>;
    if (!chosen.preferred.empty()) {
      if (auto plan = BuildNamed(call, chosen.preferred, kMaxPlanWorkspace); plan.ok()) return plan;
    }
    return Guarded("load a plan", [&]() -> Result {
      TD_ASSIGN_OR_RETURN(auto plans, Plans(call, &chosen, 1, kMaxPlanWorkspace));
      return std::move(plans[0]);
    });
  }

  absl::StatusOr<std::vector<std::unique_ptr<CudnnLoadedPlan>>> Build(const format::LibraryCall& call, int limit,
                                                                      uint64_t max_workspace) override {
    return Guarded("build a plan", [&] { return Plans(call, nullptr, limit, max_workspace); });
  }

  absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> BuildNamed(const format::LibraryCall& call, const std::string& name,
                                                              uint64_t max_workspace) override {
    using Result = absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>>;
    return Guarded("build a plan", [&]() -> Result {
      Builder builder(call);
      TD_RETURN_IF_ERROR(builder.CreatePlans(handle_->cudnn, max_workspace));
      TD_ASSIGN_OR_RETURN(const std::vector<int64_t> order, builder.Order());
      for (int64_t i : order) {
        std::string found;
        TD_RETURN_IF_ERROR(Check(builder.graph->get_plan_name_at_index(i, found), "name a plan"));
        if (found != name || builder.graph->build_plan_at_index(i).is_bad()) continue;
        auto plan = std::make_unique<LoadedPlan>(builder.graph, i, handle_, call);
        TD_RETURN_IF_ERROR(plan->Init());
        return plan;
      }
      return absl::NotFoundError("cuDNN has no such plan");
    });
  }

 private:
  absl::StatusOr<std::vector<std::unique_ptr<CudnnLoadedPlan>>> Plans(const format::LibraryCall& call,
                                                                      const CudnnPlanText* chosen, int limit,
                                                                      uint64_t max_workspace) {
    Builder builder(call);
    TD_RETURN_IF_ERROR(builder.CreatePlans(handle_->cudnn, max_workspace, chosen));
    std::vector<std::unique_ptr<CudnnLoadedPlan>> plans;
    TD_RETURN_IF_ERROR(builder.BuildPlans([&](int64_t i) -> absl::StatusOr<bool> {
      auto plan = std::make_unique<LoadedPlan>(builder.graph, i, handle_, call);
      TD_RETURN_IF_ERROR(plan->Init());
      if (plan->workspace_bytes() <= max_workspace) plans.push_back(std::move(plan));
      return static_cast<int>(plans.size()) < limit;
    }));
    if (plans.empty()) return builder.NoPlan("all need more workspace than plans may have");
    return plans;
  }

  std::shared_ptr<Handle> handle_;
  size_t version_;
};

class Cudnn : public CudnnApi {
 public:
  explicit Cudnn(size_t version) : version_(version) {}

  absl::StatusOr<std::unique_ptr<CudnnDevice>> OpenDevice() const override {
    return Guarded("start on this GPU", [&]() -> absl::StatusOr<std::unique_ptr<CudnnDevice>> {
      cudnnHandle_t handle = nullptr;
      const cudnnStatus_t status = fe::detail::create_handle(&handle);
      if (status != CUDNN_STATUS_SUCCESS) {
        return FrontendError("start on this GPU", fe::detail::get_error_string(status));
      }
      return std::make_unique<Device>(handle, version_);
    });
  }

  absl::StatusOr<CudnnPlan> Compile(const format::LibraryCall& call, int sm) const override {
    if (version_ < kOldestDeviceless) {
      return absl::UnimplementedError(absl::StrCat(version(), " cannot make plans without a GPU; 9.11 and later can"));
    }
    // The library keeps state while it makes plans, and does not document thread safety.
    std::lock_guard<std::mutex> lock(mutex_);
    return Guarded("compile a plan", [&]() -> absl::StatusOr<CudnnPlan> {
      TD_ASSIGN_OR_RETURN(std::shared_ptr<fe::DeviceProperties> properties, Properties(sm));
      Builder builder(call);
      builder.graph->set_device_properties(properties).set_sm_version(sm);
      TD_RETURN_IF_ERROR(builder.CreatePlans(nullptr, kMaxPlanWorkspace));
      CudnnPlan plan;
      std::string preferred;
      int64_t preferred_workspace = 0;
      TD_RETURN_IF_ERROR(builder.BuildPlans([&](int64_t i) -> absl::StatusOr<bool> {
        CudnnPlanText chosen;
        chosen.version = static_cast<int64_t>(version_);
        std::unordered_map<fe::KnobType_t, int64_t> knobs;
        TD_RETURN_IF_ERROR(
            Check(builder.graph->get_engine_and_knobs_at_index(i, chosen.engine, knobs), "describe a plan"));
        for (const auto& [knob, choice] : knobs) {
          // The frontend has no name for deprecated knobs (USE_TEX): the engine's own setting is used then.
          if (knob != fe::KnobType_t::NOT_SET) chosen.knobs[static_cast<int64_t>(knob)] = choice;
        }
        std::string offered;
        TD_RETURN_IF_ERROR(Check(builder.graph->get_plan_name_at_index(i, offered), "name a plan"));
        absl::StatusOr<CudnnPlan> replayed = Replay(call, properties, sm, chosen);
        const bool whole = replayed.ok() && IsReplayOf(offered, replayed->name);
        if (preferred.empty() && !whole) {
          preferred = offered;
          TD_RETURN_IF_ERROR(Check(builder.graph->get_workspace_size_plan_at_index(i, preferred_workspace),
                                   "tell a plan's workspace"));
        }
        // The first plan whose replay is the same as the offered plan is chosen. If there is none, the first replay
        // that loads is.
        if (whole || (replayed.ok() && plan.bytes.empty())) plan = *std::move(replayed);
        return !whole;
      }));
      if (plan.bytes.empty()) return builder.NoPlan("the frontend can name none of its plans");
      if (!preferred.empty()) {
        TD_ASSIGN_OR_RETURN(CudnnPlanText text, ParseCudnnPlan(plan.bytes));
        text.preferred = preferred;
        plan.bytes = FormatCudnnPlan(text);
        plan.name = absl::StrCat(preferred, ", else ", plan.name);
        plan.workspace_bytes = std::max(plan.workspace_bytes, static_cast<uint64_t>(preferred_workspace));
      }
      return plan;
    });
  }

  std::string version() const override {
    return absl::StrCat("cuDNN ", version_ / 10000, ".", version_ / 100 % 100, ".", version_ % 100);
  }

 private:
  // Makes a plan from the text of `chosen`, as loading an executable does: a text that fails here would fail on the
  // device too. Name and workspace of the result are those of the plan that will run.
  static absl::StatusOr<CudnnPlan> Replay(const format::LibraryCall& call,
                                          const std::shared_ptr<fe::DeviceProperties>& properties, int sm,
                                          const CudnnPlanText& chosen) {
    CudnnPlan plan;
    plan.bytes = FormatCudnnPlan(chosen);
    TD_ASSIGN_OR_RETURN(const CudnnPlanText parsed, ParseCudnnPlan(plan.bytes));
    Builder again(call);
    again.graph->set_device_properties(properties).set_sm_version(sm);
    TD_RETURN_IF_ERROR(again.CreatePlans(nullptr, kMaxPlanWorkspace, &parsed));
    TD_RETURN_IF_ERROR(again.BuildPlans([&](int64_t i) -> absl::StatusOr<bool> {
      int64_t engine = -1, workspace = 0;
      std::unordered_map<fe::KnobType_t, int64_t> knobs;
      TD_RETURN_IF_ERROR(Check(again.graph->get_engine_and_knobs_at_index(i, engine, knobs), "describe a plan"));
      if (engine != chosen.engine) return absl::InternalError("a plan's text gives another engine");
      TD_RETURN_IF_ERROR(Check(again.graph->get_workspace_size_plan_at_index(i, workspace), "tell a plan's workspace"));
      TD_RETURN_IF_ERROR(Check(again.graph->get_plan_name_at_index(i, plan.name), "name a plan"));
      plan.workspace_bytes = static_cast<uint64_t>(std::max<int64_t>(workspace, 0));
      return false;
    }));
    return plan;
  }

  absl::StatusOr<std::shared_ptr<fe::DeviceProperties>> Properties(int sm) const {
    if (sm != 90) {
      return absl::UnimplementedError(
          absl::StrCat("plans for sm_", sm, " are made on the GPU: its properties are not known here"));
    }
    if (properties_ == nullptr) {
      auto properties = std::make_shared<fe::DeviceProperties>();
      const std::string text = kSm90;
      TD_RETURN_IF_ERROR(Check(properties->deserialize({text.begin(), text.end()}), "take a device's properties"));
      properties_ = std::move(properties);
    }
    return properties_;
  }

  size_t version_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<fe::DeviceProperties> properties_;  // properties of sm_90
};

}  // namespace

absl::StatusOr<std::unique_ptr<const CudnnApi>> OpenCudnn(const std::string& path) {
  const LibrarySpec spec = {"cuDNN",
                            {"libcudnn.so.9"},
                            "TANDEM_LIBCUDNN",
                            "install cuDNN 9 for CUDA 12 or 13 and put its folder into LD_LIBRARY_PATH"};
  TD_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Open(spec, path));
  TD_RETURN_IF_ERROR(library.Symbol("cudnnBackendCreateDescriptor").status());
  fe::cudnn_dlhandle = library.handle();
  return Guarded("tell its version", [&]() -> absl::StatusOr<std::unique_ptr<const CudnnApi>> {
    const size_t version = fe::detail::get_backend_version();
    if (version < kOldestCudnn || version >= kPastNewestCudnn) {
      return library.Error(absl::StrCat("has version ", version, ", and major version 9 is what this program knows"));
    }
    return std::make_unique<const Cudnn>(version);
  });
}

bool HasCudnnHeaders() { return true; }

}  // namespace tandem
