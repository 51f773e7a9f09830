#include "runtime/cuda/testing/fake_cudnn.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/cuda/testing/tf32.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/gpu_library.h"

namespace tandem {

struct FakeCudnn::State {
  int sm = 90;
  int live = 0;
  std::vector<std::string> calls;
  std::map<std::string, absl::Status> failures;
  bool refuses_epilogues = false;

  absl::Status Enter(const std::string& what, const format::LibraryCall& call) {
    const bool epilogue = !call.operation.As<format::Conv2D>()->epilogue.empty();
    if (refuses_epilogues && epilogue) return absl::UnimplementedError("no plan with an epilogue");
    if (PlannedConvolution(call).operation.As<format::Conv2D>()->kernel_shape !=
        call.operation.As<format::Conv2D>()->kernel_shape) {
      return absl::InternalError("this convolution is not to be asked for");
    }
    return Enter(what);
  }
  absl::Status Enter(const std::string& what) {
    auto found = failures.find(what);
    if (found == failures.end()) return absl::OkStatus();
    absl::Status status = found->second;
    failures.erase(found);
    return status;
  }
};

namespace {

using State = FakeCudnn::State;
// The number of plans that Build offers, and of more that only BuildNamed finds: they lie behind those in a list of a
// few plans, and measurements of another day may have found them.
constexpr int kPlans = 3, kHiddenPlans = 7;

std::vector<float> Read(CUdeviceptr address, int64_t n, DType type) {
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i) {
    values[i] = type == DType::kBFloat16 ? FromBFloat16Bits(reinterpret_cast<const uint16_t*>(address)[i])
                                         : reinterpret_cast<const float*>(address)[i];
  }
  return values;
}

// Returns the numbers that enter products.
std::vector<float> Operand(DType type, bool tf32, CUdeviceptr address, int64_t n) {
  std::vector<float> values = Read(address, n, type);
  if (tf32 && type == DType::kFloat32) {
    for (float& v : values) v = ToTf32(v);
  }
  return values;
}

void Write(CUdeviceptr address, const std::vector<float>& values, DType type) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::kBFloat16) {
      reinterpret_cast<uint16_t*>(address)[i] = ToBFloat16Bits(values[i]);
    } else {
      reinterpret_cast<float*>(address)[i] = values[i];
    }
  }
}

// Calls fn(offset in x of the channels, offset in y of the channels, tap) for every tap of every window inside of x.
template <typename Fn>
void ForEachTap(const format::Conv2D& c, Fn fn) {
  const auto &x = c.x_shape, &k = c.kernel_shape, &y = c.y_shape;
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t i = 0; i < y[1]; ++i) {
      for (int64_t j = 0; j < y[2]; ++j) {
        for (int64_t a = 0; a < k[0]; ++a) {
          const int64_t p = i * c.strides[0] + a - c.pad_low[0];
          if (p < 0 || p >= x[1]) continue;
          for (int64_t b = 0; b < k[1]; ++b) {
            const int64_t q = j * c.strides[1] + b - c.pad_low[1];
            if (q < 0 || q >= x[2]) continue;
            fn(((n * x[1] + p) * x[2] + q) * x[3], ((n * y[1] + i) * y[2] + j) * y[3], a * k[1] + b);
          }
        }
      }
    }
  }
}

// Computes the convolution. The kernel is KRSC: output channel, tap, input channel.
void Compute(const format::Conv2D& c, bool tf32, const CudnnTensors& t) {
  const DType type = OperandType(c);
  const auto operand = [&](CUdeviceptr address, int64_t n) { return Operand(type, tf32, address, n); };
  const int64_t in = c.kernel_shape[2], out = c.kernel_shape[3], taps = c.kernel_shape[0] * c.kernel_shape[1];
  const int64_t outputs_of_group = out / Groups(c);
  // Returns the first input channel of the group that output channel `o` is in.
  const auto group = [&](int64_t o) { return o / outputs_of_group * in; };
  const int64_t x_n = NumElements(c.x_shape), y_n = NumElements(c.y_shape), k_n = taps * in * out;
  if (c.direction == format::Direction::kInputGrad) {
    const std::vector<float> dy = operand(t.y, y_n), k = operand(t.kernel, k_n);
    std::vector<float> dx(x_n);
    ForEachTap(c, [&](int64_t x, int64_t y, int64_t tap) {
      for (int64_t o = 0; o < out; ++o) {
        const float* w = &k[(o * taps + tap) * in];
        for (int64_t i = 0; i < in; ++i) dx[x + group(o) + i] += dy[y + o] * w[i];
      }
    });
    return Write(t.x, dx, type);
  }
  if (c.direction == format::Direction::kFilterGrad) {
    const std::vector<float> xs = operand(t.x, x_n), dy = operand(t.y, y_n);
    std::vector<float> dk(k_n);
    ForEachTap(c, [&](int64_t x, int64_t y, int64_t tap) {
      for (int64_t o = 0; o < out; ++o) {
        float* w = &dk[(o * taps + tap) * in];
        for (int64_t i = 0; i < in; ++i) w[i] += dy[y + o] * xs[x + group(o) + i];
      }
    });
    return Write(t.kernel, dk, type);
  }
  const std::vector<float> xs = operand(t.x, x_n), k = operand(t.kernel, k_n);
  std::vector<float> y_values(y_n);
  ForEachTap(c, [&](int64_t x, int64_t y, int64_t tap) {
    for (int64_t o = 0; o < out; ++o) {
      const float* w = &k[(o * taps + tap) * in];
      float sum = 0;
      for (int64_t i = 0; i < in; ++i) sum += xs[x + group(o) + i] * w[i];
      y_values[y + o] += sum;
    }
  });
  if (t.bias != 0) {
    const std::vector<float> bias = Read(t.bias, out, type);
    for (int64_t i = 0; i < y_n; ++i) y_values[i] += bias[i % out];
  }
  if (c.epilogue.relu()) {
    for (float& v : y_values) v = v > 0 ? v : 0;
  }
  Write(t.y, y_values, type);
}

std::string PlanText(const format::LibraryCall& call, int sm, int engine) {
  return absl::StrCat("fake plan ", engine, " sm_", sm, " ", PlanChoiceKey(call, "", ""));
}

class FakePlan : public CudnnLoadedPlan {
 public:
  FakePlan(std::shared_ptr<State> state, const format::LibraryCall& call, int engine)
      : state_(std::move(state)),
        conv_(*call.operation.As<format::Conv2D>()),
        tf32_(call.tf32),
        engine_(engine),
        name_(absl::StrCat("fake_eng", engine)) {
    ++state_->live;
  }
  ~FakePlan() override { --state_->live; }
  // Not a multiple of 256, to test that what lies behind it is aligned.
  uint64_t workspace_bytes() const override { return 1000 + engine_ * 1000; }
  const std::string& name() const override { return name_; }
  absl::Status Enqueue(const CudnnTensors& t, CUdeviceptr workspace, CUstream stream) override {
    if (absl::Status failed = state_->Enter("Enqueue"); !failed.ok()) return failed;
    state_->calls.push_back("Enqueue " + name_);
    const uint64_t element = SizeOf(OperandType(conv_));
    const bool writes_x = conv_.direction == format::Direction::kInputGrad;
    const bool writes_kernel = conv_.direction == format::Direction::kFilterGrad;
    std::vector<DeviceAccess> accesses = {{t.x, NumElements(conv_.x_shape) * element, writes_x},
                                          {t.kernel, NumElements(conv_.kernel_shape) * element, writes_kernel},
                                          {t.y, NumElements(conv_.y_shape) * element, !writes_x && !writes_kernel},
                                          {workspace, workspace_bytes(), true}};
    if (t.bias != 0) accesses.push_back({t.bias, conv_.kernel_shape[3] * element, false});
    const CUresult result =
        FakeDriver::current()->Enqueue(stream, "cudnnBackendExecute", std::move(accesses),
                                       [conv = conv_, tf32 = tf32_, t, workspace, bytes = workspace_bytes()] {
                                         std::memset(reinterpret_cast<void*>(workspace), 0xcd, bytes);
                                         Compute(conv, tf32, t);
                                       });
    return CudaStatus(FakeDriver::current()->api(), result, "cudnnBackendExecute");
  }

 private:
  std::shared_ptr<State> state_;
  format::Conv2D conv_;
  bool tf32_;
  int engine_;
  std::string name_;
};

class FakeDevice : public CudnnDevice {
 public:
  explicit FakeDevice(std::shared_ptr<State> state) : state_(std::move(state)) { ++state_->live; }
  ~FakeDevice() override { --state_->live; }
  absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> Load(const format::LibraryCall& call,
                                                        absl::string_view bytes) override {
    state_->calls.push_back("Load");
    if (absl::Status failed = state_->Enter("Load", call); !failed.ok()) return failed;
    for (int e = 0; e < kPlans; ++e) {
      if (bytes == PlanText(call, state_->sm, e)) return std::make_unique<FakePlan>(state_, call, e);
    }
    return absl::FailedPreconditionError("the plan is for another call or GPU");
  }
  absl::StatusOr<std::vector<std::unique_ptr<CudnnLoadedPlan>>> Build(const format::LibraryCall& call, int limit,
                                                                      uint64_t max_workspace) override {
    state_->calls.push_back(absl::StrCat("Build ", limit));
    if (absl::Status failed = state_->Enter("Build", call); !failed.ok()) return failed;
    std::vector<std::unique_ptr<CudnnLoadedPlan>> plans;
    for (int e = 0; e < std::min(limit, kPlans); ++e) {
      auto plan = std::make_unique<FakePlan>(state_, call, e);
      if (plan->workspace_bytes() <= max_workspace) plans.push_back(std::move(plan));
    }
    return plans;
  }
  absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> BuildNamed(const format::LibraryCall& call, const std::string& name,
                                                              uint64_t max_workspace) override {
    state_->calls.push_back(absl::StrCat("BuildNamed ", name));
    if (absl::Status failed = state_->Enter("BuildNamed", call); !failed.ok()) return failed;
    for (int e = 0; e < kPlans + kHiddenPlans; ++e) {
      auto plan = std::make_unique<FakePlan>(state_, call, e);
      if (plan->name() == name && plan->workspace_bytes() <= max_workspace) return plan;
    }
    return absl::NotFoundError("cuDNN has no such plan");
  }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace

FakeCudnn::FakeCudnn(int sm) : state_(std::make_shared<State>()), scoped_(this) { state_->sm = sm; }
FakeCudnn::~FakeCudnn() = default;

absl::StatusOr<std::unique_ptr<CudnnDevice>> FakeCudnn::OpenDevice() const {
  if (absl::Status failed = state_->Enter("OpenDevice"); !failed.ok()) return failed;
  return std::make_unique<FakeDevice>(state_);
}

absl::StatusOr<CudnnPlan> FakeCudnn::Compile(const format::LibraryCall& call, int sm) const {
  if (absl::Status failed = state_->Enter("Compile", call); !failed.ok()) return failed;
  if (sm != 90) return absl::UnimplementedError(absl::StrCat("the properties of sm_", sm, " are not known here"));
  return CudnnPlan{PlanText(call, sm, 0), 1000, "fake_eng0"};
}

void FakeCudnn::FailNext(const std::string& what, absl::Status status) { state_->failures[what] = std::move(status); }
void FakeCudnn::RefuseEpilogues(bool refuse) { state_->refuses_epilogues = refuse; }
std::vector<std::string> FakeCudnn::TakeCalls() { return std::exchange(state_->calls, {}); }
int FakeCudnn::live_objects() const { return state_->live; }

}  // namespace tandem
