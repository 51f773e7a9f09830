// CompiledModel: a model with a loss and an optimizer. It has the Estimator, and knows where the newest weights are.
// Internal to estimator/keras.
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

// Builds a network in a graph: makes its layer calls again, then adds losses and metrics. Kept by the Estimator that
// uses it.
class NetworkModelFn {
 public:
  // `network` must exist whenever Build is called. The layers that are trainable now are trained.
  NetworkModelFn(const NetworkImpl* network, CompileOptions options, SourceLocation loc);

  EstimatorSpec Build(const Features& features, const Labels& labels, Mode mode);

  const CompileOptions& options() const { return options_; }
  SourceLocation location() const { return loc_; }
  // Returns the names of the outputs' layers, in order; if one layer has several outputs, a number is appended.
  std::vector<std::string> output_names() const;
  // The names of an evaluation's results, in Keras' order: "loss", the outputs' losses, metrics. Those of the last
  // graph that was built.
  const std::vector<std::string>& log_names() const { return log_names_; }
  // The metrics of modes train and eval; set once the mode was built.
  const std::optional<MetricAccumulator>& training_metrics() const { return training_metrics_; }
  const std::optional<MetricAccumulator>& evaluation_metrics() const { return evaluation_metrics_; }
  // Returns the layers, as "\"dense\"", whose trainable flag has changed since the constructor. The new flags are used
  // from the next Compile on.
  std::vector<std::string> ChangedLayers() const;
  // The graph's name of each weight, once a graph was built.
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
  int64_t batch_size = 32;  // of arrays; a Dataset has its own
  bool shuffle = false;     // shuffle arrays
  uint64_t seed = 0;        // seed of shuffling
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

  // Uses an Estimator with this directory ("": in memory). If the directory is another one than before, makes a new
  // Estimator with the current weights.
  absl::Status UseDirectory(const std::string& directory);
  // Keeps the Estimator if there is one, otherwise makes one in memory.
  absl::Status UseCurrent() { return estimator_ != nullptr ? absl::OkStatus() : UseDirectory(""); }
  Estimator& estimator() { return *estimator_; }

  // Gives the Estimator the weights that were set elsewhere since it ran last. Call it before the Estimator runs, and
  // in hooks between steps.
  absl::Status TakeValues();
  absl::Status TakeValues(RunContext& context);  // during a training
  // Says that from now on the Estimator has the newest weights.
  void HoldValues();

  // Returns the optimizer's state: that of the Estimator, or the one that the next Fit goes on from. Nothing before the
  // first step.
  absl::StatusOr<std::optional<OptimizerState>> ReadOptimizerState() const;
  // Sets the state that the next Fit goes on from. In a directory with a checkpoint that one is used instead.
  void SetOptimizerState(std::optional<OptimizerState> state) { next_state_ = std::move(state); }
  // Gives this state to the Estimator, once.
  absl::Status TakeOptimizerState();

  // Returns a pipeline of global batches, each divided into parts for the replicas, with the components that the
  // model_fn uses.
  absl::StatusOr<Dataset> Pipeline(const Data& data, const PipelineOptions& options) const;
  // Builds a Sequential model that has no input shape yet for the shape of the data.
  absl::Status BuildFor(const Data& data, SourceLocation loc);
  // Returns the results of an evaluation as Logs, in Keras' order.
  Logs LogsOf(const EvalResult& result) const;

  // The optimizer's learning rate: of the training whose hooks this thread runs, or of the next one.
  absl::StatusOr<double> LearningRate() const;
  absl::Status SetLearningRate(double rate);
  // Returns the rate that was set outside of a training, once.
  std::optional<double> TakeRate() { return std::exchange(next_rate_, std::nullopt); }
  // Sets the context of the training whose hooks run now; null outside of trainings.
  void set_context(RunContext* context) { context_ = context; }

  bool stop_training = false;
  int64_t fits = 0;  // number of calls of Fit so far

 private:
  class Holder;
  // Deletes the temporary model_dir of an Estimator in memory.
  void DeleteTemporaryFolder();
  // Returns the weights whose newest values are not in the Estimator, by variable.
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
