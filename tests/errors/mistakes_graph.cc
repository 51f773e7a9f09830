// More mistakes in a model_fn: what is swapped, missing or mistyped, and values that cannot be.
#include "frontends/summary.h"
#include "tests/errors/mistakes.h"

namespace tandem::mistakes {
namespace {

Tensor Scores(const Features& f) { return layers::Dense(f["x"], {.units = 3}); }

// A model_fn whose loss is right and whose evaluation has this metric.
ModelFn WithMetric(std::function<Metric(const Features& features, const Tensor& labels, const Tensor& logits)> metric) {
  return [metric](const Features& f, const Tensor& labels, Mode mode, const Params&) {
    Tensor logits = Scores(f);
    Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"mine", metric(f, labels, logits)}});
    return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
  };
}

}  // namespace

const std::vector<Mistake>& GraphMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"SwappedLabelsAndLogits",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor logits = Scores(f);
           return losses::SparseSoftmaxCrossEntropy(logits, labels);
         });
       },
       R"(SparseSoftmaxCrossEntropy "SparseSoftmaxCrossEntropy" at {return )"
       "losses::SparseSoftmaxCrossEntropy(logits, labels);}: `logits` must be a floating-point [b, ..., "
       "classes], got int32 [b]; the first argument, float32 [b,3], looks like it: labels come first, "
       "SparseSoftmaxCrossEntropy(labels, logits)"},
      {"MistypedFeature",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor x = f["X"];
           return losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(x, {.units = 3}));
         });
       },
       R"(Features "Features" at {Tensor x = f["X"];}: the input has no feature "X"; it has x, image, id; )"
       R"(did you mean "x"?)"},
      {"OneNumberForAnExample",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor targets = Cast(labels, DType::kFloat32);
           return losses::MeanSquaredError(targets, Scores(f));
         });
       },
       R"(MeanSquaredError "MeanSquaredError" at {return losses::MeanSquaredError(targets, Scores(f));}: )"
       "labels [b] and predictions [b,3] must have the same shape; for one number a label, give the "
       "last layer one unit"},
      {"GatherOfEachExample",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor chosen = Gather(f["x"], f["id"]);
           return losses::MeanSquaredError(Cast(labels, DType::kFloat32), chosen);
         });
       },
       R"(gather "Gather" at {Tensor chosen = Gather(f["x"], f["id"]);}: params [b,4] must not be batched: )"
       "rows would mix; GatherRows takes of each example its own rows"},
      {"PairsInABatch",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor code = Scores(f);
           Tensor pairs = MatMul(code, code, false, true);
           return ReduceMean(pairs);
         });
       },
       R"(matmul "MatMul" at {Tensor pairs = MatMul(code, code, false, true);}: the batch of [b,3] would )"
       "become columns; it must stay dimension 0. The products of all examples with each other are "
       "PairwiseProducts(x, y, rows), those within an example, [b, n, d], BatchMatMul(x, x, {.transpose_b = true})"},
      {"ScoresForProbabilities",
       [](const std::string& dir) {
         return Warned("probabilities", [&] {
           return Train(dir, [](const Features& f, const Tensor& labels) {
             Tensor scores = layers::Dense(f["x"], {.units = 3});
             return losses::SparseCategoricalCrossEntropy(labels, scores);
           });
         });
       },
       "SparseCategoricalCrossEntropy at {return losses::SparseCategoricalCrossEntropy(labels, scores);} "
       R"(takes probabilities, and gets scores, "dense/Add" at {Tensor scores = layers::Dense(f["x"], )"
       "{.units = 3});}, which no Softmax or Sigmoid has brought to [0, 1]; put Softmax behind it, or set "
       R"(.from_logits = true, which is more accurate. (RunConfig.silence = {"scores_for_probabilities"} )"
       "switches this warning off.)"},
      {"ScoresForOneProbability",
       [](const std::string& dir) {
         return Warned("probabilities", [&] {
           return Train(dir, [](const Features& f, const Tensor& labels) {
             Tensor score = Reshape(layers::Dense(f["x"], {.units = 1}), {kBatch});
             return losses::BinaryCrossEntropy(Minimum(Cast(labels, DType::kFloat32), 1.0), score);
           });
         });
       },
       "BinaryCrossEntropy at {return losses::BinaryCrossEntropy(Minimum(Cast(labels, DType::kFloat32), "
       R"(1.0), score);} takes probabilities, and gets scores, "dense/Add" at {Tensor score = )"
       R"(Reshape(layers::Dense(f["x"], {.units = 1}), {kBatch});}, which no Softmax or Sigmoid has brought )"
       "to [0, 1]; put Sigmoid behind it, or set .from_logits = true, which is more accurate. "
       R"((RunConfig.silence = {"scores_for_probabilities"} switches this warning off.))"},
      {"ProbabilitiesForLogits",
       [](const std::string& dir) {
         return Warned("probabilities", [&] {
           return Train(dir, [](const Features& f, const Tensor& labels) {
             Tensor p = layers::Dense(f["x"], {.units = 3, .activation = Softmax});
             return losses::SparseSoftmaxCrossEntropy(labels, p);
           });
         });
       },
       "SparseSoftmaxCrossEntropy at {return losses::SparseSoftmaxCrossEntropy(labels, p);} takes logits, "
       R"(and gets probabilities, the result of Softmax "dense/Softmax" at {Tensor p = )"
       R"(layers::Dense(f["x"], {.units = 3, .activation = Softmax});}: it goes through it a second time, )"
       "and training is slow or stands still; pass what Softmax gets, or take "
       R"(losses::SparseCategoricalCrossEntropy. (RunConfig.silence = {"probabilities_for_logits"} switches )"
       "this warning off.)"},
      {"ProbabilitiesFromLogits",
       [](const std::string& dir) {
         return Warned("probabilities", [&] {
           return Train(dir, [](const Features& f, const Tensor& labels) {
             Tensor p = layers::Dense(f["x"], {.units = 1, .activation = Sigmoid});
             return losses::BinaryCrossEntropy(Minimum(Cast(labels, DType::kFloat32), 1.0), p, {.from_logits = true});
           });
         });
       },
       "BinaryCrossEntropy at {return losses::BinaryCrossEntropy(Minimum(Cast(labels, DType::kFloat32), "
       "1.0), p, {.from_logits = true});} takes logits, and gets probabilities, the result of Sigmoid "
       R"("dense/Sigmoid" at {Tensor p = layers::Dense(f["x"], {.units = 1, .activation = Sigmoid});}: it )"
       "goes through it a second time, and training is slow or stands still; pass what Sigmoid gets, or "
       R"(leave from_logits out. (RunConfig.silence = {"probabilities_for_logits"} switches this warning )"
       "off.)"},
      {"LogitsIntoAMetric",
       [](const std::string& dir) {
         Estimator estimator(
             [](const Features& f, const Tensor& labels, Mode mode, const Params&) {
               Tensor logit = layers::Dense(f["x"], {.units = 1});
               Tensor y = Minimum(Cast(labels, DType::kFloat32), 1.0);
               Tensor loss = losses::BinaryCrossEntropy(y, logit, {.from_logits = true});
               if (mode == Mode::kEval) {
                 return EstimatorSpec::Eval(loss, {{"accuracy", metrics::BinaryAccuracy(y, logit)}});
               }
               return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
             },
             Config(dir));
         return Warned("probabilities", [&] {
           return TrainAndEvaluate(estimator, {.input_fn = Input(), .max_steps = 2}, {.input_fn = Input()}).status();
         });
       },
       R"(BinaryAccuracy at {return EstimatorSpec::Eval(loss, {{"accuracy", metrics::BinaryAccuracy(y, )"
       R"(logit)}});} takes probabilities, and gets "dense/Add" at {Tensor logit = layers::Dense(f["x"], )"
       "{.units = 1});}, which BinaryCrossEntropy at {Tensor loss = losses::BinaryCrossEntropy(y, logit, "
       "{.from_logits = true});} takes for logits; pass their Sigmoid, or a threshold for logits in place "
       R"(of 0.5. (RunConfig.silence = {"scores_for_probabilities"} switches this warning off.))"},
      {"AMetricOfTheName",
       [](const std::string& dir) {
         Estimator estimator(
             [](const Features& f, const Tensor& labels, Mode mode, const Params&) {
               Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Scores(f));
               if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"loss", metrics::Mean(f["x"])}});
               return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
             },
             Config(dir));
         return TrainAndEvaluate(estimator, {.input_fn = Input(), .max_steps = 2}, {.input_fn = Input()}).status();
       },
       "model_fn, mode eval, EstimatorSpec at {if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, "
       R"({{"loss", metrics::Mean(f["x"])}});}: a metric must not be named "loss": every evaluation reports )"
       "its own; choose another name"},
      {"AMeanIsNoSum",
       [](const std::string& dir) {
         return EvaluateModel(dir, WithMetric([](const Features& f, const Tensor&, const Tensor& logits) {
                                return Metric{.sums = {{"mean", ReduceMean(logits)}},
                                              .result = [](const MetricSums& sums) { return sums.at("mean")[0]; }};
                              }));
       },
       "model_fn, mode eval, EstimatorSpec at {if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, "
       R"({{"mine", metric(f, labels, logits)}});}: the sum "mean" of metric "mine" is Div at {return )"
       R"(Metric{.sums = {{"mean", ReduceMean(logits)}},}, the mean over the rows of a batch: the values of )"
       "all batches are added up, and this sum depends on how large they are; give sums over rows, such "
       "as ReduceSum(x, {0}), and let Metric::result divide them"},
      {"AMetricAsksForAnotherSum",
       [](const std::string& dir) {
         return EvaluateModel(dir, WithMetric([](const Features& f, const Tensor&, const Tensor& logits) {
                                return Metric{.sums = {{"all", ReduceSum(logits)}},
                                              .result = [](const MetricSums& sums) { return sums.at("al")[0]; }};
                              }));
       },
       R"(metric "mine": threw std::out_of_range: "map::at"; its sums are "all")", Found::kLater},
      {"TwoSummariesOfOneName",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor logits = Scores(f);
           summary::Histogram("logits", logits);
           summary::Histogram("logits", logits * 2.0);
           return losses::SparseSoftmaxCrossEntropy(labels, logits);
         });
       },
       R"(summary::Histogram "summary:histogram:0:logits/Summary::Histogram" at )"
       R"({summary::Histogram("logits", logits * 2.0);}: there is a summary "logits" already, from )"
       R"({summary::Histogram("logits", logits);}; choose another name, or build it inside of a NameScope)"},
      {"LogOfZero",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = Log(f["x"]);
           return ReduceMean(y * layers::Dense(f["x"], {.units = 1}));
         });
       },
       "NanTensorHook::AfterRun: NaN loss during training: step 0 gave loss = NaN; first seen in Log "
       R"([{Tensor y = Log(f["x"]);} (Log)] fused with {ops}, replica 0 (cpu:0), lane 0. The variables are )"
       "those of the step before and nothing that is not finite was saved. Look at that op and this "
       "batch; where a gradient or the loss has grown, lower the learning rate or clip the gradients.",
       Found::kLater},
      {"AStepScalarOfNobody",
       [](const std::string& dir) {
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor weight = f.graph()->StepScalar("global_steps", DType::kFloat32);
           return losses::SparseSoftmaxCrossEntropy(labels, Scores(f)) * weight;
         });
       },
       R"(model_fn, mode train: the step scalar "global_steps" at {Tensor weight = )"
       R"(f.graph()->StepScalar("global_steps", DType::kFloat32);} has no default value and is none of )"
       "those that the runtime sets (global_step, seed, example_count, replica_example_count, "
       R"(replica_index), so it would always be 0; did you mean "global_step"? Otherwise give it a default, )"
       "which hooks may change (RunContext::SetStepScalar)"},
      {"AParamOfAnotherKind",
       [](const std::string& dir) {
         Estimator estimator(
             [](const Features& f, const Tensor& labels, Mode mode, const Params& params) {
               const double rate = params.Number("rate", 0.1);
               Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Scores(f));
               return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = rate}).Minimize(loss));
             },
             Config(dir), {{"rate", "fast"}});
         return estimator.Train(Input());
       },
       R"(Params: "rate" is the string "fast", and {const double rate = params.Number("rate", 0.1);} asks )"
       "for a number; give it as that kind"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
