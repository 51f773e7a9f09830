// CompiledModel: a model with a loss and an optimizer: its Estimator, and where the newest values of its weights are.
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
#include "estimator/keras/data.h"
#include "estimator/keras/files/optimizer_state.h"
#include "estimator/keras/logs.h"
#include "estimator/keras/model.h"
#include "estimator/metric_accumulator.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weight_cell.h"

namespace tandem::keras {

// A model_fn of a network: its calls again, then losses and metrics. Kept by the Estimator that calls it.
class NetworkModelFn {
 public:
  // `network` must be there when Build is called. Layers are trained or not as they are now.
  NetworkModelFn(const NetworkImpl* network, CompileOptions options, SourceLocation loc);

  EstimatorSpec Build(const Features& features, const Labels& labels, Mode mode);

  const CompileOptions& options() const { return options_; }
  SourceLocation location() const { return loc_; }
  // The outputs' layers, in order: two of one layer are told apart by a number.
  std::vector<std::string> output_names() const;
  // The names of what an evaluation gives, in Keras' order: "loss", the outputs' losses, metrics. Of the last graph
  // that was built.
  const std::vector<std::string>& log_names() const { return log_names_; }
  // Of modes train and eval, once they were built.
  const std::optional<MetricAccumulator>& training_metrics() const { return training_metrics_; }
  const std::optional<MetricAccumulator>& evaluation_metrics() const { return evaluation_metrics_; }
  // The layers that have been frozen, or the contrary, since then: "\"dense\"". It counts from the next Compile on.
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
  int64_t batch_size = 32;  // of arrays
  bool shuffle = false;     // arrays
  uint64_t seed = 0;        // of shuffling
  bool repeat = false;
  std::map<int64_t, double> class_weight = {};
};

class CompiledModel : public NetworkExtension {
 public:
  // The network's; null where it is not compiled.
  static CompiledModel* Of(const LayerImpl* network);

  CompiledModel(NetworkImpl* network, CompileOptions options, SourceLocation loc);
  ~CompiledModel() override;

  // InvalidArgument, with Compile's line: a loss, metric or optimizer that is not known, or of no output.
  absl::Status status() const;
  const CompileOptions& options() const { return model_fn_->options(); }
  const NetworkModelFn& model_fn() const { return *model_fn_; }
  NetworkImpl& network() const { return *network_; }
  int replicas() const;

  // The Estimator, of a directory (none: in memory); with another than before a new one, with the values of now.
  absl::Status UseDirectory(const std::string& directory);
  // The one that there is, or a new one in memory.
  absl::Status UseCurrent() { return estimator_ != nullptr ? absl::OkStatus() : UseDirectory(""); }
  Estimator& estimator() { return *estimator_; }

  // Gives the Estimator the values that weights have been given elsewhere since it ran last. To be called before it
  // runs, and by hooks between steps.
  absl::Status TakeValues();
  absl::Status TakeValues(RunContext& context);  // of a training
  // From now on the Estimator has the newest values.
  void HoldValues();

  // The optimizer's state: of the Estimator, or what the next Fit goes on from. Nothing before the first step.
  absl::StatusOr<std::optional<OptimizerState>> ReadOptimizerState() const;
  // What the next Fit goes on from; in a directory with a checkpoint that counts instead.
  void SetOptimizerState(std::optional<OptimizerState> state) { next_state_ = std::move(state); }
  // Gives it to the Estimator, once.
  absl::Status TakeOptimizerState();

  // A pipeline of global batches, each in parts for the replicas, with components as the model_fn wants them.
  absl::StatusOr<Dataset> Pipeline(const Data& data, const PipelineOptions& options) const;
  // Sequential models without an input shape are built for the data.
  absl::Status BuildFor(const Data& data, SourceLocation loc);
  // Logs of what an evaluation gave, in Keras' order.
  Logs LogsOf(const EvalResult& result) const;

  // The optimizer's rate: of the training that this thread is in, or for the next one.
  absl::StatusOr<double> LearningRate() const;
  absl::Status SetLearningRate(double rate);
  // What was set outside of a training, once.
  std::optional<double> TakeRate() { return std::exchange(next_rate_, std::nullopt); }
  // Of the training whose hooks run now; null outside.
  void set_context(RunContext* context) { context_ = context; }

  bool stop_training = false;
  int64_t fits = 0;  // so far

 private:
  class Holder;
  // Of an Estimator in memory.
  void DeleteTemporaryFolder();
  // Values that are elsewhere, by variable.
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
