// Model: a graph of layers that can be compiled, trained, evaluated and saved, like Keras' models.
//
//   auto images = keras::Input({.shape = {28, 28, 1}});
//   auto x = keras::layers::Flatten()(images);
//   keras::Model model(images, keras::layers::Dense(10, {.activation = "softmax"})(x));
//   model.Compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
//   TD_ASSIGN_OR_RETURN(const keras::History history, model.Fit({x_train, y_train}, {.epochs = 5}));
//
// A model becomes a model_fn, and Fit, Evaluate and Predict are calls of one Estimator.
#ifndef TANDEM_ESTIMATOR_KERAS_MODEL_H_
#define TANDEM_ESTIMATOR_KERAS_MODEL_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/estimator/config/run_config.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/callback.h"
#include "tandem/estimator/keras/data.h"
#include "tandem/estimator/keras/files/load_weights.h"
#include "tandem/estimator/keras/logs.h"
#include "tandem/frontends/keras/layer.h"
#include "tandem/frontends/keras/losses.h"
#include "tandem/frontends/keras/metrics.h"
#include "tandem/frontends/keras/optimizer.h"
#include "tandem/frontends/keras/summary.h"

namespace tandem::keras {

class CompiledModel;  // defined in estimator/keras/compiled_model.h

}  // namespace tandem::keras

namespace TANDEM_API tandem {
namespace keras {

// The argument `loss` of Compile: the losses of a model's outputs.
class LossArgs {
 public:
  LossArgs() = default;
  // One loss for each output: "mse", losses::MeanSquaredError, or a lambda.
  template <typename F>
  requires std::constructible_from<LossArg, F> LossArgs(F&& loss) : all_(std::forward<F>(loss)) {}  // NOLINT: implicit
  // Losses by the outputs' names; an output that is not listed has no loss.
  LossArgs(std::map<std::string, LossArg> by_output) : by_output_(std::move(by_output)) {}  // NOLINT: implicit

  bool empty() const { return all_.empty() && by_output_.empty(); }
  const LossArg& all() const { return all_; }
  const std::map<std::string, LossArg>& by_output() const { return by_output_; }

 private:
  LossArg all_;
  std::map<std::string, LossArg> by_output_;
};

// The argument `metrics` of Compile: the metrics of a model's outputs.
class MetricArgs {
 public:
  MetricArgs() = default;
  // A list of metrics, all of which are computed for each output.
  MetricArgs(std::initializer_list<MetricArg> all) : all_(all) {}  // NOLINT: implicit
  explicit MetricArgs(std::vector<MetricArg> all) : all_(std::move(all)) {}
  MetricArgs(std::map<std::string, std::vector<MetricArg>> by_output)  // NOLINT: implicit
      : by_output_(std::move(by_output)) {}

  const std::vector<MetricArg>& all() const { return all_; }
  const std::map<std::string, std::vector<MetricArg>>& by_output() const { return by_output_; }

 private:
  std::vector<MetricArg> all_;
  std::map<std::string, std::vector<MetricArg>> by_output_;
};

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  LossArgs loss;
  MetricArgs metrics;
  // Factor of each output's loss, by the output's name; 1 for outputs that are not listed.
  std::map<std::string, double> loss_weights;
  // Devices, precision and so on. model_dir and the settings of checkpoints and logs are ignored, because Fit sets
  // them.
  RunConfig config = {};
};

struct FitOptions {
  int64_t batch_size = 32;  // rows of a batch of arrays, for all devices together
  int64_t epochs = 1;
  int verbose = 1;  // 0: silent, 1: a progress bar, 2: a line for each epoch
  std::vector<CallbackPtr> callbacks;
  // The fraction of the arrays' rows, at their end, that is evaluated instead of trained on.
  double validation_split = 0;
  Data validation_data;
  bool shuffle = true;  // whether to shuffle arrays anew in each epoch
  std::map<int64_t, double> class_weight;
  int64_t initial_epoch = 0;
  // Number of batches in an epoch. If not set, an epoch is one pass over the data.
  std::optional<int64_t> steps_per_epoch;
  std::optional<int64_t> validation_steps;
  std::optional<int64_t> validation_batch_size;
  int64_t validation_freq = 1;
  // The directory for checkpoints of the run. A Fit that was killed and is called again goes on exactly where it was.
  // If empty, there are no checkpoints.
  std::string directory;
};

struct ModelEvaluateOptions {
  int64_t batch_size = 32;
  int verbose = 1;
  std::optional<int64_t> steps;
  std::vector<CallbackPtr> callbacks;
};

struct ModelPredictOptions {
  int64_t batch_size = 32;
};

// Copies refer to the same model, as with Layer. Errors of the constructor, of Add and of Compile are returned by the
// next call that returns a status.
class Model : public Layer {
 public:
  // Makes a model without layers. All calls of it return an error.
  Model() = default;
  Model(const KerasTensors& inputs, const KerasTensors& outputs, const std::string& name = "",
        SourceLocation loc = SourceLocation::Current());

  // The first input or output; after an error, a tensor with that status.
  KerasTensor input() const;
  KerasTensor output() const;
  // Returns the layers [begin, end) in Keras' order; negative numbers count from the end.
  std::vector<Layer> layers(int begin = 0, std::optional<int> end = std::nullopt) const;
  // Returns the layer of that name. NotFound, with a list of the layers, if there is none.
  absl::StatusOr<Layer> GetLayer(const std::string& name) const;
  // Prints the table of layers, as Keras' summary().
  absl::Status Summary(const SummaryOptions& options = {}) const;
  // The first error of the constructor, of Add or of Compile.
  absl::Status status() const;

  // Sets optimizer, losses and metrics, in place of those of an earlier call. status() has its errors.
  void Compile(const CompileOptions& options, SourceLocation loc = SourceLocation::Current());
  // Trains for epochs - initial_epoch epochs. Batches are global: each is divided among the devices.
  absl::StatusOr<History> Fit(const Data& data, const FitOptions& options = {});
  // Returns loss and metrics over the whole data, or over options.steps batches.
  absl::StatusOr<Logs> Evaluate(const Data& data, const ModelEvaluateOptions& options = {});
  // Makes one step with these examples. Returns loss and metrics of the weights from before the step.
  absl::StatusOr<Logs> TrainOnBatch(const Data& batch);
  absl::StatusOr<Logs> TestOnBatch(const Data& batch);
  // For a model with one output; returns [examples, ...].
  absl::StatusOr<HostTensor> Predict(const Data& data, const ModelPredictOptions& options = {});
  // Returns the predictions by the outputs' names.
  absl::StatusOr<NamedTensors> PredictOutputs(const Data& data, const ModelPredictOptions& options = {});

  // The learning rate of the optimizer, which callbacks read and set; FailedPrecondition if it is a schedule.
  absl::StatusOr<double> LearningRate() const;
  absl::Status SetLearningRate(double rate);
  // Ends Fit after the current batch or epoch.
  void StopTraining();

  // Writes the layers, their weights, the arguments of Compile and the optimizer's state to a file that Keras 2 and
  // LoadModel (load_model.h) can read: .h5 or .hdf5, or an archive .keras. Readers see the old file or all of the new
  // one. InvalidArgument for another ending, and for what a file cannot name, such as an activation that is a function,
  // with its layer and line. A loss, metric or optimizer without a name is left out, with a warning.
  absl::Status Save(const std::string& path) const;
  // Writes the weights only: .h5 and .hdf5 as in Keras 2, .weights.h5 as in Keras 2.13 to 3, or .safetensors.
  absl::Status SaveWeights(const std::string& path) const;
  // Loads weights from a file that SaveWeights, Save, Keras 2 or Keras 3 has written; the model need not be compiled.
  // Does not load the optimizer's state. If it fails, no weight has changed. InvalidArgument lists everything in the
  // file that does not fit the model; other errors name the place in the file where reading failed.
  absl::StatusOr<LoadReport> LoadWeights(const std::string& path, const LoadWeightsOptions& options = {});

  // For use inside of estimator/keras only.
  explicit Model(std::shared_ptr<LayerImpl> network) : Layer(std::move(network)) {}
  CompiledModel* compiled() const;

 protected:
  struct SequentialTag {};
  Model(SequentialTag, const std::string& name, SourceLocation loc);
};

// A model whose layers are called one after another.
class Sequential : public Model {
 public:
  explicit Sequential(const std::string& name = "", SourceLocation loc = SourceLocation::Current());
  Sequential(std::initializer_list<Layer> layers, const std::string& name = "",
             SourceLocation loc = SourceLocation::Current());
  // Adds a layer behind the others; the first must know the shape of the input.
  void Add(const Layer& layer, SourceLocation loc = SourceLocation::Current());
};

// While this object exists, models that this thread compiles are trained on the strategy's devices, unless their config
// names others.
class StrategyScope {
 public:
  explicit StrategyScope(const DistributionStrategy& strategy);
  ~StrategyScope();
  StrategyScope(const StrategyScope&) = delete;
  StrategyScope& operator=(const StrategyScope&) = delete;
  // Returns this thread's strategy; nothing outside of a scope.
  static std::optional<DistributionStrategy> Current();

 private:
  std::optional<DistributionStrategy> outer_;
};

// Returns an Estimator that trains the model further, with its optimizer, loss and metrics. It starts with the current
// weights of the model, and its training does not change the model. Batches are for each replica.
Estimator ModelToEstimator(const Model& model, RunConfig config = {});

// Returns a model of the same layers that is trained on several devices: the batches of its Fit are divided among them.
Model MultiGpuModel(const Model& model, const std::vector<std::string>& devices,
                    SourceLocation loc = SourceLocation::Current());

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_MODEL_H_
