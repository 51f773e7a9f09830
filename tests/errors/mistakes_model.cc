// Mistakes in a model_fn: layers, ops, losses, optimizers and what it returns.
#include <limits>
#include <stdexcept>

#include "base/logging.h"
#include "tests/errors/mistakes.h"

namespace tandem::mistakes {
namespace {

Tensor CrossEntropy(const Tensor& labels, const Tensor& logits) {
  return losses::SparseSoftmaxCrossEntropy(labels, logits);
}

Tensor Logits(const Features& f) { return layers::Dense(f["x"], {.units = 3}); }

absl::Status TrainWith(const std::string& dir, optimizers::GradientDescentOptions options) {
  return TrainModel(dir, [options](const Features& f, const Tensor& labels, Mode, const Params&) {
    Tensor loss = CrossEntropy(labels, Logits(f));
    TrainOp train = optimizers::GradientDescent(options).Minimize(loss);
    return EstimatorSpec::Train(loss, train);
  });
}

}  // namespace

const std::vector<Mistake>& ModelMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"ConvOfVectors",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = layers::Conv2D(f["x"], {.filters = 2});
           return CrossEntropy(labels, layers::Flatten(y));
         });
       },
       R"(Conv2D "Conv2D" at {Tensor y = layers::Conv2D(f["x"], {.filters = 2});}: needs an input of shape [b, )"
       "height, width, channels], got [b,4]; give the vectors the shape of their image with Reshape"},
      {"NoUnits",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = layers::Dense(f["x"], {.units = 0});
           return CrossEntropy(labels, y);
         });
       },
       R"(Dense "dense/Dense" at {Tensor y = layers::Dense(f["x"], {.units = 0});}: `units` must be at least 1, )"
       "got 0"},
      {"TwoLayersOfOneName",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = layers::Dense(f["x"], {.units = 3, .name = "top"});
           Tensor z = layers::Dense(y, {.units = 3, .name = "top"});
           return CrossEntropy(labels, z);
         });
       },
       R"(Dense "Dense" at {Tensor z = layers::Dense(y, {.units = 3, .name = "top"});}: there is a layer named )"
       R"("top" already at {Tensor y = layers::Dense(f["x"], {.units = 3, .name = "top"});}, and each call makes )"
       "new weights; choose another name, or, to use the same weights twice, make a layer object and call it "
       R"(twice (docs/guide/own_parts.md, "Weights that are used twice"))"},
      {"BatchNormWithoutTraining",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = layers::BatchNormalization(Logits(f), {});
           return CrossEntropy(labels, y);
         });
       },
       R"(BatchNormalization "batch_normalization/BatchNormalization" at {Tensor y = )"
       "layers::BatchNormalization(Logits(f), {});}: `training` is not set; pass .training = mode == "
       "Mode::kTrain"},
      {"FloatLabels",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor floats = Cast(labels, DType::kFloat32);
           return losses::SparseSoftmaxCrossEntropy(floats, Logits(f));
         });
       },
       R"(SparseSoftmaxCrossEntropy "sparse_softmax_cross_entropy_loss/SparseSoftmaxCrossEntropy" at {return )"
       "losses::SparseSoftmaxCrossEntropy(floats, Logits(f));}: `labels` must be class numbers, integers of "
       "shape [b], got float32 [b]; convert them with Cast(labels, DType::kInt32)"},
      {"ClassNumbersForOneHot",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           return losses::SoftmaxCrossEntropy(labels, Logits(f));
         });
       },
       R"(SoftmaxCrossEntropy "softmax_cross_entropy_loss/SoftmaxCrossEntropy" at {return )"
       "losses::SoftmaxCrossEntropy(labels, Logits(f));}: labels int32 [b] do not match predictions float32 "
       "[b,3]; for class numbers use losses::SparseSoftmaxCrossEntropy"},
      {"LossPerExample",
       [](const std::string& dir) {
         return EvaluateModel(dir, ModelOf([](const Features& f, const Tensor& labels) {
                                return losses::SparseSoftmaxCrossEntropy(labels, Logits(f),
                                                                         {.reduction = losses::Reduction::kNone});
                              }));
       },
       "model_fn, mode eval, EstimatorSpec at {if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);}: the "
       "loss must be a scalar, it has shape [b]; reduce it, for example with ReduceMean"},
      {"IntegersIntoDense",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor ids = Reshape(f["id"], {kBatch, 1});
           return CrossEntropy(labels, layers::Dense(ids, {.units = 3}));
         });
       },
       R"(Dense "Dense" at {return CrossEntropy(labels, layers::Dense(ids, {.units = 3}));}: needs a )"
       "floating-point input, got int32 [b,1]; convert it with Cast(x, DType::kFloat32)"},
      {"ShapesThatDoNotBroadcast",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = f["x"] + Logits(f);
           return CrossEntropy(labels, y);
         });
       },
       R"(add "Add" at {Tensor y = f["x"] + Logits(f);}: shapes [b,4] and [b,3] do not broadcast: counted from )"
       "the last, sizes must be equal or 1; Reshape or Slice one of them"},
      {"ReshapeToAnotherSize",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = Reshape(f["image"], {kBatch, 35});
           return CrossEntropy(labels, layers::Dense(y, {.units = 3}));
         });
       },
       R"(reshape "Reshape" at {Tensor y = Reshape(f["image"], {kBatch, 35});}: from [b,6,6,1] to [b,35] changes )"
       "the number of elements (36 to 35 per example); choose sizes whose product is 36"},
      {"ConcatOfOtherRanks",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = Concat({f["x"], f["image"]}, 1);
           return CrossEntropy(labels, layers::Dense(y, {.units = 3}));
         });
       },
       R"(concat "Concat" at {Tensor y = Concat({f["x"], f["image"]}, 1);}: operand 1, of shape [b,6,6,1], must )"
       "have the dtype of operand 0, [b,4], and its size in all dimensions but 1; Reshape one of them"},
      {"UnknownFeature",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor x = f["imgae"];
           return CrossEntropy(labels, layers::Dense(x, {.units = 3}));
         });
       },
       R"(Features "Features" at {Tensor x = f["imgae"];}: the input has no feature "imgae"; it has x, image, id; )"
       R"(did you mean "image"?)"},
      {"DivisionOfIntegers",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor half = f["id"] / 2;
           return CrossEntropy(labels, layers::Dense(Reshape(half, {kBatch, 1}), {.units = 3}));
         });
       },
       R"(div "Div" at {Tensor half = f["id"] / 2;}: operand 0 must be floating-point, got int32 [b]; convert it )"
       "with Cast(x, DType::kFloat32)"},
      {"ArgMaxInTheLoss",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor guess = ArgMax(Logits(f), -1);
           Tensor loss = ReduceMean(Square(Cast(guess, DType::kFloat32) - Cast(labels, DType::kFloat32)));
           return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
         });
       },
       R"(Minimize "gradients/Minimize" at {return EstimatorSpec::Train(loss, )"
       "optimizers::SGD({}).Minimize(loss));}: no gradients provided for any variable (dense/kernel, "
       R"(dense/bias): the loss depends on them only through "ArgMax" at {Tensor guess = ArgMax(Logits(f), -1);}, )"
       "which has no gradient; compute the loss from the model's output with ops that have gradients"},
      {"LossNeverSet",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor loss;
           return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
         });
       },
       "model_fn, mode train, EstimatorSpec at {return EstimatorSpec::Train(loss, "
       "optimizers::SGD({}).Minimize(loss));}: the loss is not set; return EstimatorSpec::Train(loss, "
       "optimizer.Minimize(loss))"},
      {"EvaluationSpecFromTraining",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           return EstimatorSpec::Eval(CrossEntropy(labels, Logits(f)));
         });
       },
       "model_fn, mode train, EstimatorSpec at {return EstimatorSpec::Eval(CrossEntropy(labels, Logits(f)));}: "
       "it is a spec for mode eval; return EstimatorSpec::Train(loss, optimizer.Minimize(loss)) in this mode"},
      {"TrainingSpecFromEvaluation",
       [](const std::string& dir) {
         return EvaluateModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor loss = CrossEntropy(labels, Logits(f));
           return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
         });
       },
       "model_fn, mode eval, EstimatorSpec at {return EstimatorSpec::Train(loss, "
       "optimizers::SGD({}).Minimize(loss));}: it is a spec for mode train; return EstimatorSpec::Eval(loss, "
       "metrics) in this mode"},
      {"NoPredictions",
       [](const std::string& dir) {
         Estimator estimator(
             [](const Features&, const Tensor&, Mode, const Params&) { return EstimatorSpec::Predict({}); },
             Config(dir));
         return estimator.Predict(Input(), [](const NamedTensors&) { return true; });
       },
       "model_fn, mode predict, EstimatorSpec at {[](const Features&, const Tensor&, Mode, const Params&) { "
       "return EstimatorSpec::Predict({}); },}: there are no predictions; return "
       R"(EstimatorSpec::Predict({{"logits", logits}}))"},
      {"LabelsInPrediction",
       [](const std::string& dir) {
         Estimator estimator(ModelOf([](const Features& f, const Tensor& labels) {
                               return losses::SparseSoftmaxCrossEntropy(labels, Logits(f));
                             }),
                             Config(dir));
         return estimator.Predict(Input(), [](const NamedTensors&) { return true; });
       },
       R"(SparseSoftmaxCrossEntropy "SparseSoftmaxCrossEntropy" at {return )"
       "losses::SparseSoftmaxCrossEntropy(labels, Logits(f));}: `labels` has no value: mode predict has no "
       "labels; return EstimatorSpec::Predict before the loss is built"},
      {"TensorOfAnotherCall",
       [](const std::string& dir) {
         auto kept = std::make_shared<Tensor>();
         Estimator estimator(
             [kept](const Features& f, const Tensor& labels, Mode mode, const Params&) {
               Tensor logits = Logits(f);
               if (mode == Mode::kTrain) *kept = logits;
               Tensor loss = CrossEntropy(labels, *kept);
               if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
               return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
             },
             Config(dir));
         {
           const LogCapture training;
           if (absl::Status status = estimator.Train(Input()); !status.ok()) return status;
         }
         return estimator.Evaluate(Input()).status();
       },
       R"(SparseSoftmaxCrossEntropy "SparseSoftmaxCrossEntropy" at {return )"
       "losses::SparseSoftmaxCrossEntropy(labels, logits);}: `logits` belongs to another graph: it was kept "
       "from an earlier call of the model_fn, or built by another; build it anew in every call"},
      {"MetricOfAVector",
       [](const std::string& dir) {
         return EvaluateModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor logits = Logits(f);
           Metric metric = {.total = logits, .count = ReduceSum(logits)};
           return EstimatorSpec::Eval(CrossEntropy(labels, logits), {{"mean", metric}});
         });
       },
       "model_fn, mode eval, EstimatorSpec at {return EstimatorSpec::Eval(CrossEntropy(labels, logits), "
       R"({{"mean", metric}});}: the total of metric "mean" must be a scalar, summed over the batch; it is )"
       R"(dense/Add at {Tensor Logits(const Features& f) { return layers::Dense(f["x"], {.units = 3}); }}, of )"
       "shape [b,3]; take metrics::Mean, or ReduceSum of it"},
      {"NegativeLearningRate", [](const std::string& dir) { return TrainWith(dir, {.learning_rate = -0.1}); },
       R"(learning_rate "LearningRate" at {TrainOp train = optimizers::GradientDescent(options).Minimize(loss);}: )"
       "must be a number >= 0, got -0.1"},
      {"LearningRateNaN",
       [](const std::string& dir) {
         return TrainWith(dir, {.learning_rate = std::numeric_limits<double>::quiet_NaN()});
       },
       R"(learning_rate "LearningRate" at {TrainOp train = optimizers::GradientDescent(options).Minimize(loss);}: )"
       "must be a number >= 0, got nan"},
      {"ClipBothWays",
       [](const std::string& dir) { return TrainWith(dir, {.clip = {.global_norm = 1, .value = 0.5}}); },
       R"(Optimizer "Optimizer" at {TrainOp train = optimizers::GradientDescent(options).Minimize(loss);}: set )"
       "only one of `clip.global_norm`, `clip.value` and `clip.norm`, got 1, 0.5 and 0"},
      {"MomentumOfOne",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor loss = CrossEntropy(labels, Logits(f));
           TrainOp train = optimizers::Momentum({.momentum = 1}).Minimize(loss);
           return EstimatorSpec::Train(loss, train);
         });
       },
       R"(Momentum "Momentum" at {TrainOp train = optimizers::Momentum({.momentum = 1}).Minimize(loss);}: )"
       "`momentum` must be in [0, 1), got 1"},
      // Beyond the forty.
      {"SecondMinimize",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           Tensor loss = CrossEntropy(labels, Logits(f));
           TrainOp first = optimizers::Adam({}).Minimize(loss);
           TrainOp second = optimizers::Adam({}).Minimize(loss * 2.0f);
           return EstimatorSpec::Train(loss, second.ok() ? second : first);
         });
       },
       R"(Minimize "Minimize" at {TrainOp second = optimizers::Adam({}).Minimize(loss * 2.0f);}: "dense/kernel" is )"
       "updated already, by the Minimize or Assign at {TrainOp first = optimizers::Adam({}).Minimize(loss);}; where "
       "two optimizers train parts of a model, name the variables of each: Minimize(loss, {.var_list = {...}})"},
      {"LabelsOfAnotherRank",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor logits = Reshape(Logits(f), {kBatch, 1, 3});
           return losses::SparseSoftmaxCrossEntropy(labels, logits);
         });
       },
       R"(SparseSoftmaxCrossEntropy "sparse_softmax_cross_entropy_loss/SparseSoftmaxCrossEntropy" at {return )"
       "losses::SparseSoftmaxCrossEntropy(labels, logits);}: `labels` must be class numbers, integers of shape "
       "[b,1] as the logits [b,1,3] without their last axis, got int32 [b]; Reshape labels or logits"},
      {"TooFewClassWeights",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor weights = losses::ClassWeights(labels, {0.5, 1});
           return losses::SparseSoftmaxCrossEntropy(labels, Logits(f), {.weights = weights});
         });
       },
       R"(component "label" of the input: label 2 in row 2 of its batch, and ClassWeights at {Tensor weights = )"
       "losses::ClassWeights(labels, {0.5, 1});} has 2 weights, of the classes 0 to 1; give it one weight for each "
       "class, or correct the data"},
      {"MissingTrainOp",
       [](const std::string& dir) {
         return TrainModel(dir, [](const Features& f, const Tensor& labels, Mode, const Params&) {
           return EstimatorSpec::Train(CrossEntropy(labels, Logits(f)), TrainOp{});
         });
       },
       "model_fn, mode train, EstimatorSpec at {return EstimatorSpec::Train(CrossEntropy(labels, Logits(f)), "
       "TrainOp{});}: missing train op: nothing would be trained; return EstimatorSpec::Train(loss, "
       "optimizer.Minimize(loss))"},
      {"ModelFnThrows",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           if (f.names().size() == 3) throw std::runtime_error("no such table");
           return CrossEntropy(labels, Logits(f));
         });
       },
       R"(model_fn, mode train: threw std::runtime_error: "no such table")"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
