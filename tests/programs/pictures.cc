// Classes of pictures: files in folders, random changes, a small ResNet in bfloat16, pictures for TensorBoard, and an
// export that predict.cc loads.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/image/decode_resize.h"
#include "data/image/random_image.h"
#include "data/vocabulary.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "frontends/summary.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with folders train and test, which have a folder of PNGs for each class.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints, exports, and the names of the classes.");

namespace tandem {
namespace {

constexpr int64_t kSize = 24;

Tensor Block(const Tensor& x, int64_t filters, int64_t strides, bool training) {
  const auto convolve = [&](const Tensor& in, int64_t size, int64_t steps) {
    const Tensor y = layers::Conv2D(
        in, {.filters = filters, .kernel_size = size, .strides = steps, .padding = Padding::kSame, .use_bias = false});
    return layers::BatchNormalization(y, {.momentum = 0.9, .training = training});
  };
  const Tensor y = convolve(Relu(convolve(x, 3, strides)), 3, 1);
  return Relu(y + convolve(x, 1, strides));
}

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const Tensor image = features["image"];  // [b, kSize, kSize, 3], 0 to 255
  summary::Image("image", image / 255.0);
  Tensor x = image / 127.5 - 1.0;
  for (const int64_t filters : {8, 16}) x = Block(x, filters, 2, mode == Mode::kTrain);
  const Tensor logits = layers::Dense(ReduceMean(x, {1, 2}), {.units = params.Int("classes", 0)});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"probabilities", Softmax(logits)}});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  const Metric accuracy = metrics::Accuracy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", accuracy}});
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.005}).Minimize(loss),
                              {{"accuracy", accuracy}});
}

Dataset Files(const std::string& split) {
  return Dataset::ListFiles({absl::StrCat(absl::GetFlag(FLAGS_data_dir), "/", split, "/*/*.png")})
      .Map([](const Element& in) -> absl::StatusOr<Element> {
        Element out = in;
        out.Set("label", BaseName(DirName(in.Get<std::string>("file"))));
        return out;
      });
}

absl::StatusOr<Element> Load(const Element& in) {
  const std::string file = in.Get<std::string>("file");
  TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(file));
  TD_ASSIGN_OR_RETURN(HostTensor image, DecodeAndResize(bytes, kSize, kSize, {.name = file, .channels = 3}));
  Element out;
  out.Set("image", std::move(image));
  out.Set("label", in["label"]);
  return out;
}

// As Load, changed at random: "index" is another number whenever the picture comes again.
absl::StatusOr<Element> LoadChanged(const Element& in) {
  TD_ASSIGN_OR_RETURN(Element out, Load(in));
  const ExampleKey key{.seed = 1, .example = in.Get<int64_t>("index")};
  TD_ASSIGN_OR_RETURN(HostTensor image, RandomFlipLeftRight(out["image"], key));
  TD_ASSIGN_OR_RETURN(image, RandomBrightness(image, 20, key));
  out.Set("image", std::move(image));
  return out;
}

absl::Status Run() {
  TD_ASSIGN_OR_RETURN(const Vocabulary classes, Vocabulary::FromDataset(Files("train"), "label"));
  const InputFn train_input = [=](const InputContext&) {
    return classes.Lookup(Files("train"), "label").Shuffle(1000).Repeat().Enumerate().Map(LoadChanged).Batch(32);
  };
  const InputFn eval_input = [=](const InputContext&) {
    return classes.Lookup(Files("test"), "label").Map(Load).Batch(32);
  };
  const RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir),
                         .save_checkpoints_steps = 50,
                         .precision = Precision::kMixedBfloat16};
  Estimator estimator(ModelFn, config, {{"classes", classes.size() - 1}});
  const EvalSpec eval{.input_fn = eval_input, .exporters = {FinalExporter("final", {.input_fn = eval_input})}};
  TD_ASSIGN_OR_RETURN(const EvalResult result,
                      TrainAndEvaluate(estimator, {.input_fn = train_input, .max_steps = 250}, eval));
  if (!estimator.is_chief()) return absl::OkStatus();
  std::printf("%s\n", result.ToString().c_str());
  return classes.Write(JoinPath(config.model_dir, "classes.txt"));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::RunProgram(argc, argv, "learns classes of pictures.", tandem::Run); }
