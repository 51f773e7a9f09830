// The model_fn of a compiled model.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/keras/compiled_model.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace {

constexpr char kSampleWeight[] = "sample_weight";

// Adapts data as Keras does: inputs and targets of shape [b, 1] may be given as [b], and numbers of other types are
// cast to the wanted type.
Tensor Adapted(Tensor x, const TensorSpec& wanted, SourceLocation loc) {
  if (!x.ok()) return x;
  if (x.rank() + 1 == static_cast<int>(wanted.shape.size()) && wanted.shape.back() == 1) {
    x = ExpandDims(x, x.rank(), loc);
  }
  return x.dtype() == wanted.dtype ? x : Cast(x, wanted.dtype, loc);
}

// Adds the trainable flags of all layers, those of nested models too.
void AddLayers(const NetworkImpl& network, std::map<std::shared_ptr<LayerImpl>, bool>* trainable) {
  for (const auto& layer : network.layers()) {
    (*trainable)[layer] = layer->trainable();
    if (const auto* nested = dynamic_cast<const NetworkImpl*>(layer.get()); nested != nullptr) {
      AddLayers(*nested, trainable);
    }
  }
}

// While this object exists, the layers' trainable flags are those at the time of Compile.
class TrainableFlags {
 public:
  explicit TrainableFlags(const std::map<std::shared_ptr<LayerImpl>, bool>& flags) {
    for (const auto& [layer, flag] : flags) {
      if (layer->trainable() == flag || dynamic_cast<const NetworkImpl*>(layer.get()) != nullptr) continue;
      changed_.push_back(layer.get());
      layer->set_trainable(flag);
    }
  }
  ~TrainableFlags() {
    for (LayerImpl* layer : changed_) layer->set_trainable(!layer->trainable());
  }
  TrainableFlags(const TrainableFlags&) = delete;
  TrainableFlags& operator=(const TrainableFlags&) = delete;

 private:
  std::vector<LayerImpl*> changed_;
};

std::string InputName(const KerasTensor& input) { return input.call()->layer->name(); }

}  // namespace

NetworkModelFn::NetworkModelFn(const NetworkImpl* network, CompileOptions options, SourceLocation loc)
    : network_(network), options_(std::move(options)), loc_(loc) {
  AddLayers(*network, &trainable_);
}

std::vector<std::string> NetworkModelFn::ChangedLayers() const {
  std::vector<std::string> changed;
  for (const auto& [layer, flag] : trainable_) {
    if (layer->trainable() != flag) changed.push_back(absl::StrCat("\"", layer->name(), "\""));
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

std::vector<std::string> NetworkModelFn::output_names() const {
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (const KerasTensor& output : network_->network().outputs()) {
    const std::string& name = output.call()->layer->name();
    const int before = count[name]++;
    names.push_back(before == 0 ? name : absl::StrCat(name, "_", before));
  }
  return names;
}

absl::StatusOr<Tensor> NetworkModelFn::InputOf(const Features& features, size_t i) const {
  const KerasTensors& inputs = network_->network().inputs();
  const std::string name = InputName(inputs[i]);
  std::string component;
  if (features.Has(name)) {
    component = name;
  } else if (inputs.size() == 1) {
    const std::vector<std::string> outputs = output_names();
    for (const std::string& other : features.names()) {
      const bool target = std::count(outputs.begin(), outputs.end(), other) > 0;
      if (target || other == kSampleWeight) continue;
      if (!component.empty()) {
        component.clear();
        break;
      }
      component = other;
    }
  }
  if (component.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the data have no component for the input \"", name, "\" (",
                                                   inputs[i].ToString(), "); they have ",
                                                   absl::StrJoin(features.names(), ", "), "; name one so"));
  }
  const TensorSpec wanted{inputs[i].dtype(), inputs[i].shape()};
  Tensor x = Adapted(features[component], wanted, loc_);
  if (!x.ok()) return x;
  if (x.shape() == wanted.shape) return x;
  return absl::InvalidArgumentError(absl::StrCat("the component \"", component, "\" of the data has shape ",
                                                 ShapeString(x.shape()), ", and the input ", inputs[i].ToString(),
                                                 " takes ", ShapeString(wanted.shape)));
}

Tensor NetworkModelFn::Target(const Features& features, const Labels& labels, const std::string& output,
                              bool only) const {
  if (features.Has(output)) return features[output];
  if (only || labels.names().size() < 2) return labels;
  return labels[output];
}

EstimatorSpec NetworkModelFn::Build(const Features& features, const Labels& labels, Mode mode) {
  GraphBuilder* graph = features.graph();
  const Network& network = network_->network();
  const auto fail = [&](const absl::Status& status) {
    graph->Fail(status);
    return mode == Mode::kPredict ? EstimatorSpec::Predict({{"failed", graph->Poisoned()}}, loc_)
                                  : EstimatorSpec::Eval(graph->Poisoned(), {}, loc_);
  };
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < network.inputs().size(); ++i) {
    absl::StatusOr<Tensor> input = InputOf(features, i);
    if (!input.ok()) return fail(input.status());
    inputs.push_back(*std::move(input));
  }
  const TrainableFlags flags(trainable_);
  absl::StatusOr<std::vector<Tensor>> outputs =
      network.Replay({.graph = graph, .training = graph->training(), .loc = loc_}, inputs);
  if (!outputs.ok()) return fail(outputs.status());
  variables_.clear();
  for (const VariableSpec& variable : graph->variables()) {
    if (variable.owner != nullptr) {
      variables_[static_cast<const WeightCell*>(variable.owner.get())] = variable.name;
    }
  }
  const std::vector<std::string> names = output_names();
  if (mode == Mode::kPredict) {
    TensorsByName predictions;
    for (size_t i = 0; i < names.size(); ++i) predictions[names[i]] = (*outputs)[i];
    return EstimatorSpec::Predict(std::move(predictions), loc_);
  }

  const bool only = names.size() == 1;
  const Tensor weights = features.Has(kSampleWeight) ? features[kSampleWeight] : Tensor();
  Tensor loss;
  MetricsByName metrics;
  log_names_ = {"loss"};
  std::vector<std::string> metric_names;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto by_output = options_.loss.by_output().find(name);
    const LossArg& own = by_output != options_.loss.by_output().end() ? by_output->second : options_.loss.all();
    std::vector<MetricArg> of_output = options_.metrics.all();
    if (const auto it = options_.metrics.by_output().find(name); it != options_.metrics.by_output().end()) {
      of_output.insert(of_output.end(), it->second.begin(), it->second.end());
    }
    if (own.empty() && of_output.empty()) continue;
    const Tensor target = Target(features, labels, name, only);
    if (!own.empty()) {
      const auto factor = options_.loss_weights.find(name);
      Tensor term = own(target, (*outputs)[i], {.weights = weights}, loc_);
      if (factor != options_.loss_weights.end()) term = Mul(term, factor->second, loc_);
      loss = loss.empty() ? term : Add(loss, term, loc_);
      if (!only) {
        const Tensor each =
            own(target, (*outputs)[i], {.weights = weights, .reduction = tandem::losses::Reduction::kNone}, loc_);
        const std::string log = absl::StrCat(name, "_loss");
        if (each.ok() && each.rank() > 0) {
          metrics[log] = tandem::metrics::Mean(each, {}, loc_);
          log_names_.push_back(log);
        }
      }
    }
    for (const MetricArg& metric : of_output) {
      const std::string base = only ? metric.name() : absl::StrCat(name, "_", metric.name());
      std::string log = base;
      for (int n = 1; metrics.contains(log); ++n) log = absl::StrCat(base, "_", n);
      metrics[log] = metric(target, (*outputs)[i], {}, loc_);
      metric_names.push_back(log);
    }
  }
  log_names_.insert(log_names_.end(), metric_names.begin(), metric_names.end());
  if (!graph->regularization_losses().empty()) {
    loss = Add(loss, tandem::losses::RegularizationLoss(graph, loc_), loc_);
  }
  if (mode == Mode::kEval) {
    evaluation_metrics_.emplace(metrics);
    return EstimatorSpec::Eval(loss, std::move(metrics), loc_);
  }
  TrainOp update = options_.optimizer.Minimize(loss, {}, loc_);
  training_metrics_.emplace(metrics);
  return EstimatorSpec::Train(loss, std::move(update), std::move(metrics), loc_);
}

}  // namespace tandem::keras
