// CompiledModel: a model with a loss and an optimizer. It owns the Estimator and knows whether the newest weights are
// in it. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_COMPILED_MODEL_H_
#define TANDEM_ESTIMATOR_KERAS_COMPILED_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/estimator.h"
#include "estimator/evaluation/metric_accumulator.h"
#include "estimator/keras/data.h"
#include "estimator/keras/files/optimizer_state.h"
#include "estimator/keras/logs.h"
#include "estimator/keras/model.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weight_cell.h"

namespace tandem::keras {

// The model_fn of a compiled network: Build repeats its layer calls in a new graph and adds losses and metrics. The
// Estimator that uses it shares ownership.
class NetworkModelFn {
 public:
  // `network` must exist whenever Build is called. Build trains the layers that are trainable when this constructor is
  // called.
  NetworkModelFn(const NetworkImpl* network, CompileOptions options, SourceLocation loc);

  EstimatorSpec Build(const Features& features, const Labels& labels, Mode mode);

  const CompileOptions& options() const { return options_; }
  SourceLocation location() const { return loc_; }
  // Returns the names of the outputs' layers, in order; if one layer has several outputs, a number is appended.
  std::vector<std::string> output_names() const;
  // Returns the names of an evaluation's results in Keras' order: "loss", the outputs' losses, the metrics. They are
  // those of the graph that was built last.
  const std::vector<std::string>& log_names() const { return log_names_; }
  // The metrics of mode train and of mode eval. Each is set once a graph of its mode was built.
  const std::optional<MetricAccumulator>& training_metrics() const { return training_metrics_; }
  const std::optional<MetricAccumulator>& evaluation_metrics() const { return evaluation_metrics_; }
  // Returns the quoted names of the layers whose trainable flag has changed since the constructor ran. The new flags
  // apply from the next Compile on.
  std::vector<std::string> ChangedLayers() const;
  // Returns the name of each weight's variable in the graph; empty until a graph was built.
  const std::map<const WeightCell*, std::string>& variables() const { return variables_; }

 private:
  Tensor Target(const Features& features, const Labels& labels, const std::string& output, bool only) const;
  absl::StatusOr<Tensor> InputOf(const Features& features, size_t i) const;

  const NetworkImpl* const network_;
  const CompileOptions options_;
  const SourceLocation loc_;
  std::map<std::shared_ptr<LayerImpl>, bool> trainable_;
  std::vector<std::string> log_names_;
  std::optional<MetricAccumulator> training_metrics_, evaluation_metrics_;
  std::map<const WeightCell*, std::string> variables_;
};

struct PipelineOptions {
  int64_t batch_size = 32;  // rows of a batch of arrays; a Dataset is batched already
  bool shuffle = false;     // whether to shuffle arrays
  uint64_t seed = 0;        // seed of the shuffling
  bool repeat = false;
  std::map<int64_t, double> class_weight = {};
};

class CompiledModel : public NetworkExtension {
 public:
  // Returns the network's CompiledModel; null if it is not compiled.
  static CompiledModel* Of(const LayerImpl* network);

  CompiledModel(NetworkImpl* network, CompileOptions options, SourceLocation loc);
  ~CompiledModel() override;

  // InvalidArgument, with Compile's line, for an unknown loss, metric or optimizer, or an output that does not exist.
  absl::Status status() const;
  const CompileOptions& options() const { return model_fn_->options(); }
  const NetworkModelFn& model_fn() const { return *model_fn_; }
  NetworkImpl& network() const { return *network_; }
  int replicas() const;

  // Uses an Estimator whose model_dir is `directory`; "": it keeps no checkpoints. If the directory changes, makes a
  // new Estimator with the current weights.
  absl::Status UseDirectory(const std::string& directory);
  // Makes an Estimator without checkpoints if there is no Estimator yet.
  absl::Status UseCurrent() { return estimator_ != nullptr ? absl::OkStatus() : UseDirectory(""); }
  Estimator& estimator() { return *estimator_; }

  // Assigns to the Estimator's variables the weights that were set outside of it since it ran last. Call it before the
  // Estimator runs and, with the hook's context, in hooks between steps.
  absl::Status TakeValues();
  absl::Status TakeValues(RunContext& context);  // for hooks of a training, with their context
  // Declares that from now on the Estimator has the newest weights.
  void HoldValues();

  // Returns the optimizer's state: that in the Estimator, or the state that was set for the next Fit. Returns nothing
  // before the first step.
  absl::StatusOr<std::optional<OptimizerState>> ReadOptimizerState() const;
  // Sets the state that the next Fit begins with. If that Fit goes on from a checkpoint, the state in the checkpoint is
  // used instead.
  void SetOptimizerState(std::optional<OptimizerState> state) { next_state_ = std::move(state); }
  // Assigns the state that SetOptimizerState has set to the Estimator's variables, once.
  absl::Status TakeOptimizerState();

  // Returns a pipeline of global batches, each divided into parts for the replicas, with the components that the
  // model_fn uses.
  absl::StatusOr<Dataset> Pipeline(const Data& data, const PipelineOptions& options) const;
  // If the model is a Sequential without an input shape, builds its layers for the shape of the data.
  absl::Status BuildFor(const Data& data, SourceLocation loc);
  // Returns the results of an evaluation as Logs, in Keras' order.
  Logs LogsOf(const EvalResult& result) const;

  // Returns the optimizer's learning rate: in a hook, that of the running training; otherwise that of the next one.
  absl::StatusOr<double> LearningRate() const;
  absl::Status SetLearningRate(double rate);
  // Returns the rate that SetLearningRate has set outside of a training, and forgets it.
  std::optional<double> TakeRate() { return std::exchange(next_rate_, std::nullopt); }
  // Sets the context of the training whose hooks run now; null outside of trainings.
  void set_context(RunContext* context) { context_ = context; }

  bool stop_training = false;
  int64_t fits = 0;  // number of calls of Fit so far

 private:
  class Holder;
  // Deletes the temporary model_dir of an Estimator without a directory.
  void DeleteTemporaryFolder();
  // Returns the weights whose newest values are not in the Estimator, by the names of their variables.
  absl::StatusOr<NamedTensors> ValuesElsewhere() const;

  RunContext* context_ = nullptr;
  std::optional<double> next_rate_, last_rate_;
  std::optional<OptimizerState> next_state_;
  NetworkImpl* const network_;
  const std::shared_ptr<NetworkModelFn> model_fn_;
  std::shared_ptr<Estimator> estimator_;
  std::string directory_;
  std::shared_ptr<Holder> holder_;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_COMPILED_MODEL_H_
