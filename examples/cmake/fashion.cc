// Trains a small convnet on Fashion-MNIST, evaluates it, exports it, and predicts with what was exported.
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "tandem/tandem.h"

ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, model_dir, "fashion_model", "Folder for checkpoints, compiled programs and exported models.");
ABSL_FLAG(int64_t, max_steps, 900, "Train until this global step.");

namespace {

using namespace tandem;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 16, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2});
  Tensor logits = layers::Dense(layers::Flatten(x), {.units = 10});
  Tensor classes = ArgMax(logits, -1);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"class", classes}, {"logits", logits}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, classes)}});
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 2e-3}).Minimize(loss));
}

absl::StatusOr<Dataset> Images(FashionMnistSplit split) {
  TD_ASSIGN_OR_RETURN(const LabelledImages raw, LoadFashionMnistSplit(split, absl::GetFlag(FLAGS_data_dir)));
  TD_ASSIGN_OR_RETURN(const HostTensor images, ScaledImages(raw.images));
  TD_ASSIGN_OR_RETURN(const HostTensor labels, Int32Labels(raw.labels));
  return Dataset::FromTensorSlices({{"image", images}, {"label", labels}});
}

absl::StatusOr<Dataset> TrainInput(const InputContext&) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTrain));
  return images.Shuffle(10000).Repeat().Batch(64).Prefetch();
}

absl::StatusOr<Dataset> EvalInput(const InputContext&) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTest));
  return images.Batch(64).Prefetch();
}

absl::Status Run() {
  const std::string folder = absl::GetFlag(FLAGS_model_dir);
  Estimator estimator(ModelFn, RunConfig{.model_dir = folder});
  TD_ASSIGN_OR_RETURN(const EvalResult result,
                      TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = absl::GetFlag(FLAGS_max_steps)},
                                       {.input_fn = EvalInput}));
  std::printf("%s\n", result.ToString().c_str());

  TD_ASSIGN_OR_RETURN(
      const std::string exported,
      estimator.ExportModel(folder + "/export", {.features = {{"image", DType::kFloat32, {kBatch, 28, 28, 1}}}}));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(exported));
  TD_ASSIGN_OR_RETURN(const LabelledImages test,
                      LoadFashionMnistSplit(FashionMnistSplit::kTest, absl::GetFlag(FLAGS_data_dir)));
  TD_ASSIGN_OR_RETURN(const HostTensor images, ScaledImages(test.images));
  TD_ASSIGN_OR_RETURN(const NamedTensors outputs, model->Predict({{"image", images}}));
  std::printf("the first image is of class %lld\n", static_cast<long long>(outputs.at("class").data<int64_t>()[0]));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a small convnet on Fashion-MNIST and predicts with it.", Run);
}
