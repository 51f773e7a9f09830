#include "estimator/keras/model.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "estimator/keras/compiled_model.h"
#include "frontends/keras/network.h"

namespace tandem::keras {
namespace {

thread_local std::optional<DistributionStrategy> scope_strategy;

NetworkImpl* NetworkOf(const Layer& model) { return dynamic_cast<NetworkImpl*>(model.impl().get()); }

absl::Status NoModel() { return absl::InvalidArgumentError("the keras::Model is empty: it was never set"); }

}  // namespace

StrategyScope::StrategyScope(const DistributionStrategy& strategy)
    : outer_(std::exchange(scope_strategy, std::optional<DistributionStrategy>(strategy))) {}

StrategyScope::~StrategyScope() { scope_strategy = outer_; }

std::optional<DistributionStrategy> StrategyScope::Current() { return scope_strategy; }

Model::Model(const KerasTensors& inputs, const KerasTensors& outputs, const std::string& name, SourceLocation loc) {
  auto network = std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Functional", .name = name}, loc);
  network->Connect(inputs, outputs);
  impl_ = std::move(network);
}

Model::Model(SequentialTag, const std::string& name, SourceLocation loc)
    : Layer(std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Sequential", .name = name}, loc)) {}

absl::Status Model::status() const {
  const NetworkImpl* network = NetworkOf(*this);
  return network != nullptr ? network->status() : NoModel();
}

KerasTensor Model::input() const {
  if (absl::Status status = this->status(); !status.ok()) return KerasTensor(std::move(status));
  return NetworkOf(*this)->network().inputs()[0];
}

KerasTensor Model::output() const {
  if (absl::Status status = this->status(); !status.ok()) return KerasTensor(std::move(status));
  return NetworkOf(*this)->network().outputs()[0];
}

std::vector<Layer> Model::layers(int begin, std::optional<int> end) const {
  std::vector<Layer> layers;
  const NetworkImpl* network = NetworkOf(*this);
  if (network == nullptr) return layers;
  const auto all = network->layers();
  const int count = static_cast<int>(all.size());
  const auto clamp = [&](int i) { return std::min(count, std::max(0, i < 0 ? i + count : i)); };
  for (int i = clamp(begin); i < (end.has_value() ? clamp(*end) : count); ++i) layers.emplace_back(all[i]);
  return layers;
}

absl::StatusOr<Layer> Model::GetLayer(const std::string& name) const {
  std::vector<std::string> names;
  for (Layer& layer : layers()) {
    if (layer.name() == name) return layer;
    names.push_back(layer.name());
  }
  return absl::NotFoundError(absl::StrCat("the model \"", this->name(), "\" has no layer \"", name, "\"; it has ",
                                          absl::StrJoin(names, ", "), DidYouMean(name, names)));
}

absl::Status Model::Summary(const SummaryOptions& options) const {
  const NetworkImpl* network = NetworkOf(*this);
  if (network == nullptr) return NoModel();
  TD_ASSIGN_OR_RETURN(const std::string text, SummaryText(*network, options));
  if (options.print_fn == nullptr) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return absl::OkStatus();
  }
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  for (const std::string& line : lines) options.print_fn(line);
  return absl::OkStatus();
}

void Model::Compile(const CompileOptions& options, SourceLocation loc) {
  NetworkImpl* network = NetworkOf(*this);
  if (network == nullptr) return;
  CompileOptions own = options;
  if (!own.config.train_distribute.has_value()) own.config.train_distribute = StrategyScope::Current();
  if (!own.config.train_distribute.has_value()) {
    if (const CompiledModel* before = CompiledModel::Of(network); before != nullptr) {
      own.config.train_distribute = before->options().config.train_distribute;
    }
  }
  network->set_extension(std::make_shared<CompiledModel>(network, std::move(own), loc));
}

CompiledModel* Model::compiled() const { return CompiledModel::Of(impl_.get()); }

absl::StatusOr<double> Model::LearningRate() const {
  if (compiled() == nullptr) return absl::FailedPreconditionError("the model is not compiled; call Compile first");
  return compiled()->LearningRate();
}

absl::Status Model::SetLearningRate(double rate) {
  if (compiled() == nullptr) return absl::FailedPreconditionError("the model is not compiled; call Compile first");
  return compiled()->SetLearningRate(rate);
}

void Model::StopTraining() {
  if (compiled() != nullptr) compiled()->stop_training = true;
}

Sequential::Sequential(const std::string& name, SourceLocation loc) : Model(SequentialTag(), name, loc) {}

Sequential::Sequential(std::initializer_list<Layer> layers, const std::string& name, SourceLocation loc)
    : Model(SequentialTag(), name, loc) {
  for (const Layer& layer : layers) Add(layer, loc);
}

void Sequential::Add(const Layer& layer, SourceLocation loc) { NetworkOf(*this)->Add(layer.impl(), loc); }

}  // namespace tandem::keras
