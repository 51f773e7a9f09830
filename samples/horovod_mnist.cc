// Horovod's MNIST tutorial: the program has its own loop around a MonitoredTrainingSession, the learning rate grows
// with the number of processes, and rank 0 writes checkpoints. Trains on Fashion-MNIST unless --data_dir names MNIST's
// files.
//
//   bazel-bin/tools/tandem-launch -n 2 -- bazel-bin/samples/horovod_mnist --model_dir=/tmp/horovod
//   mpirun -n 2 bazel-bin/samples/horovod_mnist --model_dir=/tmp/horovod
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/flags/run_config_flags.h"
#include "tandem/estimator/horovod/horovod.h"
#include "tandem/estimator/monitored_training_session.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, model_dir, "",
          "Folder for the checkpoints of rank 0, from which training goes on. Empty: a temporary folder.");
ABSL_FLAG(int64_t, batch_size, 100, "Images per process and step.");
ABSL_FLAG(int64_t, max_steps, 2000, "Steps of one process; several make as many together.");
ABSL_FLAG(double, learning_rate, 0.001, "Of one process; several use so many times as much.");
ABSL_FLAG(int64_t, save_checkpoints_steps, 0, "Steps between checkpoints; 0: one every 600 seconds.");

namespace tandem {
namespace {

namespace hvd = horovod;

constexpr int64_t kShown = 10;  // steps between two printed lines

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"],
                            {.filters = 32, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(x);
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = layers::Flatten(layers::MaxPooling2D(x));
  x = layers::Dense(x, {.units = 1024, .activation = Relu});
  x = layers::Dropout(x, {.rate = 0.5, .training = mode == Mode::kTrain});
  const Tensor logits = layers::Dense(x, {.units = 10});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  const Optimizer optimizer = hvd::DistributedOptimizer(
      optimizers::RMSprop({.learning_rate = params.Number("learning_rate", 0.001) * hvd::Size()}));
  return EstimatorSpec::Train(loss, optimizer.Minimize(loss));
}

absl::StatusOr<Dataset> Images(FashionMnistSplit split) {
  TD_ASSIGN_OR_RETURN(const LabelledImages raw, LoadFashionMnistSplit(split, absl::GetFlag(FLAGS_data_dir)));
  TD_ASSIGN_OR_RETURN(const HostTensor images, ScaledImages(raw.images));
  TD_ASSIGN_OR_RETURN(const HostTensor labels, Int32Labels(raw.labels));
  return Dataset::FromTensorSlices({{"image", images}, {"label", labels}}).Shard(hvd::Size(), hvd::Rank());
}

absl::StatusOr<Dataset> TrainInput(const InputContext&) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTrain));
  return images.Shuffle(10000, {.seed = static_cast<uint64_t>(hvd::Rank())})
      .Repeat()
      .Batch(absl::GetFlag(FLAGS_batch_size))
      .Prefetch();
}

// The batch size of evaluations, which does not change their result: a mean over all images.
constexpr int64_t kEvalBatchSize = 500;

absl::StatusOr<Dataset> EvalInput(const InputContext&) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTest));
  return images.Batch(kEvalBatchSize).Prefetch();
}

absl::Status Run() {
  const int64_t steps = absl::GetFlag(FLAGS_max_steps);
  if (steps < 1 || absl::GetFlag(FLAGS_batch_size) < 1) {
    return absl::InvalidArgumentError("--max_steps and --batch_size must be positive");
  }
  if (const double rate = absl::GetFlag(FLAGS_learning_rate); !(rate > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--learning_rate must be positive, got ", rate));
  }
  TD_RETURN_IF_ERROR(hvd::Init());
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir)};
  if (const int64_t every = absl::GetFlag(FLAGS_save_checkpoints_steps); every != 0) {
    config.save_checkpoints_steps = every;
  }
  TD_RETURN_IF_ERROR(ApplyRunConfigFlags(&config));
  // The other settings must come before, because DistributedOptimizer uses accumulate_batches of the config passed
  // here.
  config = hvd::Config(std::move(config));
  Estimator estimator(ModelFn, config, {{"learning_rate", absl::GetFlag(FLAGS_learning_rate)}});
  TrainOptions options{.max_steps = std::max<int64_t>(1, steps / hvd::Size()),
                       .hooks = {std::make_shared<hvd::BroadcastGlobalVariablesHook>(0)}};
  TD_ASSIGN_OR_RETURN(const auto session, MonitoredTrainingSession::Start(estimator, TrainInput, options));
  while (!session->ShouldStop()) {
    TD_ASSIGN_OR_RETURN(const RunValues values, session->Run());
    if (hvd::Rank() == 0 && values.step % kShown == 0) {
      std::printf("step %lld: loss %.4f\n", static_cast<long long>(values.step), values.Number("loss"));
    }
  }
  TD_RETURN_IF_ERROR(session->Close());
  TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(EvalInput));
  if (hvd::Rank() == 0) std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a convnet as Horovod's tutorial does.", tandem::Run);
}
