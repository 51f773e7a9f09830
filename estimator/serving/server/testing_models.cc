#include "estimator/serving/server/testing_models.h"

#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/serving/signature.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

constexpr int64_t kBase = 1000000000;  // y = (version - kBase) * x
constexpr int64_t kRowsPerStep = 8;

}  // namespace

class TestServable : public Servable {
 public:
  TestServable(TestModels* models, int64_t number) : models_(models), factor_(static_cast<float>(number - kBase)) {}

  const std::vector<TensorSignature>& inputs() const override { return inputs_; }
  const std::vector<TensorSignature>& outputs() const override { return outputs_; }
  int64_t rows_per_step() const override { return kRowsPerStep; }

  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs) override {
    TD_RETURN_IF_ERROR(models_->Predict(inputs));
    HostTensor y = inputs.at("x").Clone();
    for (int64_t i = 0; i < y.num_elements(); ++i) y.data<float>()[i] *= factor_;
    return NamedTensors{{"y", y}};
  }

 private:
  TestModels* const models_;
  const float factor_;
  const std::vector<TensorSignature> inputs_ = {{"x", DType::kFloat32, {kBatch, 2}}};
  const std::vector<TensorSignature> outputs_ = {{"y", DType::kFloat32, {kBatch, 2}}};
};

TestModels::TestModels(std::string base) : base_(std::move(base)) {
  Env::Default()->DeleteRecursively(base_).IgnoreError();
}

std::string TestModels::Directory(const std::string& model) const { return JoinPath(base_, model); }

void TestModels::Export(const std::string& model, int64_t number) {
  const std::string path = JoinPath(Directory(model), absl::StrCat(number));
  EXPECT_TRUE(Env::Default()->CreateDirs(path).ok());
  EXPECT_TRUE(Env::Default()->WriteFile(JoinPath(path, kSignatureName), {}).ok());
}

void TestModels::Delete(const std::string& model, int64_t number) {
  EXPECT_TRUE(Env::Default()->DeleteRecursively(JoinPath(Directory(model), absl::StrCat(number))).ok());
}

void TestModels::SetLoadError(int64_t number, absl::Status error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  load_errors_[number] = std::move(error);
}

void TestModels::Hold(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_.insert(number);
}

void TestModels::LetGo(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_.erase(number);
  changed_.notify_all();
}

void TestModels::OnPredict(std::function<absl::Status(const NamedTensors&)> on_predict) {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_predict_ = std::move(on_predict);
}

std::vector<int64_t> TestModels::batches() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return batches_;
}

absl::Status TestModels::Predict(const NamedTensors& inputs) {
  std::function<absl::Status(const NamedTensors&)> on_predict;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    batches_.push_back(inputs.at("x").shape()[0]);
    on_predict = on_predict_;
  }
  return on_predict == nullptr ? absl::OkStatus() : on_predict(inputs);
}

absl::Status TestModels::Load(int64_t number) {
  ++load_attempts_;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return held_.count(number) == 0; });
  return load_errors_[number];
}

LoadServable TestModels::Loader() {
  return [this](const std::string& path) -> absl::StatusOr<std::unique_ptr<Servable>> {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(BaseName(path), &number)) << path;
    TD_RETURN_IF_ERROR(Load(number));
    return std::make_unique<TestServable>(this, number);
  };
}

ServerOptions TestModels::Options(const std::vector<std::string>& models) const {
  ServerOptions options;
  for (const std::string& model : models) options.models.push_back({.name = model, .directory = Directory(model)});
  options.http.port = 0;
  options.poll_interval = absl::Milliseconds(10);
  options.stop_timeout = absl::Seconds(20);
  return options;
}

void Gate::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  ++arrived_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return open_; });
}

void Gate::AwaitArrivals(int count) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return arrived_ >= count; });
}

}  // namespace tandem::serving
