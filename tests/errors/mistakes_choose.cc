// Mistakes in evaluating, choosing, predicting and exporting.
#include <filesystem>
#include <memory>

#include "estimator/early_stopping.h"
#include "estimator/exporter.h"
#include "estimator/serving/model.h"
#include "tests/errors/mistakes.h"

namespace tandem::mistakes {
namespace {

using Specs = std::vector<EvalSpec>;

absl::Status Choose(Estimator& estimator, const Specs& specs, TrainSpec train = {}) {
  train.input_fn = Input();
  train.max_steps = 2;
  return TrainAndEvaluate(estimator, train, specs).status();
}

// Of the two evaluations "valid" and "test".
absl::Status ChooseOfTwo(RunConfig config, TrainSpec train = {}) {
  Estimator estimator(GoodModel, std::move(config));
  return Choose(estimator, {{.input_fn = Input(), .name = "valid"}, {.input_fn = Input(), .name = "test"}},
                std::move(train));
}

// Looks at a number of the evaluation after each checkpoint.
class ResultListener : public CheckpointSaverListener {
 public:
  explicit ResultListener(Estimator* estimator) : estimator_(estimator) {}
  absl::StatusOr<bool> AfterSave(int64_t) override {
    const absl::StatusOr<EvalResult> result = estimator_->Evaluate(Input(), {.name = "mine"});
    if (!result.ok()) return result.status();
    return (*result)["acuracy"] > 0.99;
  }

 private:
  Estimator* const estimator_;
};

absl::Status ExportTrained(const std::string& dir, const ServingInput& input) {
  if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
  return Estimator(GoodModel, Config(dir)).ExportModel(dir + "/exports", input).status();
}

}  // namespace

const std::vector<Mistake>& ChoosingMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"TwoEvaluationsWithoutNames",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input()}, {.input_fn = Input(8)}});
       },
       "TrainAndEvaluate: of the 2 evaluations number 1 and number 2 have no name; each needs a name of "
       "its own (EvalSpec.name), by which its results are told apart"},
      {"TwoEvaluationsOfOneName",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input(), .name = "test"}, {.input_fn = Input(8), .name = "test"}});
       },
       R"(TrainAndEvaluate: of the 2 evaluations number 1 and number 2 have the name "test"; each needs a )"
       "name of its own (EvalSpec.name), by which its results are told apart"},
      {"KeepBestOfNoEvaluation",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.keep_best = KeepBest{};
         return ChooseOfTwo(config);
       },
       "RunConfig.keep_best: there are several evaluations, and it names none; set `evaluation` to one of "
       R"("valid", "test")"},
      {"KeepBestOfAMistypedEvaluation",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.keep_best = KeepBest{.evaluation = "vaild"};
         return ChooseOfTwo(config);
       },
       R"(RunConfig.keep_best: there is no evaluation "vaild" (EvalSpec.name); did you mean "valid"? There )"
       R"(are "valid", "test")"},
      {"KeepBestWithoutDirection",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.keep_best = KeepBest{.metric = "accuracy"};
         return ChooseOfTwo(config);
       },
       "RunConfig: keep_best: direction is not set, and nothing says whether a larger or a smaller "
       R"("accuracy" is better; set it to MetricDirection::kMax or MetricDirection::kMin)"},
      {"EarlyStoppingByAMistypedMetric",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input()}}, {.hooks = {StopIfNoIncrease(estimator, "acuracy", 10)}});
       },
       R"(StopIfNoIncrease::Begin: the evaluation has no metric "acuracy"; did you mean "accuracy"? It has )"
       "accuracy, loss"},
      {"EarlyStoppingByAMistypedEvaluation",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input(), .name = "valid"}},
                       {.hooks = {StopIfNoDecrease(estimator, "loss", 10, {.evaluation = "valld"})}});
       },
       R"(StopIfNoDecrease: there is no evaluation "valld" (EvalSpec.name); did you mean "valid"? There are )"
       R"("valid")"},
      {"PlateauOfAMistypedMetric",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         const ReduceOnPlateau rule{.metric = "acuracy", .direction = MetricDirection::kMax};
         return Choose(estimator, {{.input_fn = Input()}}, {.reduce_on_plateau = rule});
       },
       R"(ReduceOnPlateau: the evaluation has no metric "acuracy"; did you mean "accuracy"? It has )"
       "accuracy, loss"},
      {"PlateauFactorAboveOne",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input()}}, {.reduce_on_plateau = ReduceOnPlateau{.factor = 10}});
       },
       "ReduceOnPlateau: factor must be in (0, 1), got 10"},
      {"NoCheckpointsToEvaluate",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.save_checkpoints_steps = 0;
         Estimator estimator(GoodModel, config);
         return Choose(estimator, {{.input_fn = Input()}});
       },
       "TrainAndEvaluate evaluates checkpoints, and they are off; set save_checkpoints_steps or "
       "save_checkpoints_secs, or EvalSpec.every_steps to evaluate the weights in memory"},
      {"EvaluationOfNoSteps",
       [](const std::string& dir) {
         std::filesystem::create_directories(dir);
         return Estimator(GoodModel, Config(dir)).Evaluate(Input(), {.steps = 0}).status();
       },
       "Evaluate: steps must be positive, got 0; leave it out for the whole input"},
      {"EvaluationWhereNothingIs",
       [](const std::string& dir) { return Estimator(GoodModel, Config(dir + "/modle")).Evaluate(Input()).status(); },
       R"(model_dir "{dir}/modle" does not exist; check its name, or train first)"},
      {"EvaluationOfUntrainedWeights",
       [](const std::string& dir) { return Warned("trained", [&] { return EvaluateModel(dir, GoodModel); }); },
       "Could not find trained model in model_dir: {dir}, running initialization to evaluate. The weights "
       "are untrained. Train first, or name another model_dir or a checkpoint_path. "
       R"((RunConfig.silence = {"untrained_weights"} switches this warning off.))"},
      {"CheckpointThatIsNotThere",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         return Estimator(GoodModel, Config(dir))
             .Evaluate(Input(), {.checkpoint_path = dir + "/model.ckpt-77"})
             .status();
       },
       "{dir}/model.ckpt-77: there is no such checkpoint; there are model.ckpt-0, model.ckpt-2"},
      {"MistypedNumberOfAResult",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return estimator.Train(Input(),
                                {.max_steps = 2, .saving_listeners = {std::make_shared<ResultListener>(&estimator)}});
       },
       R"(CheckpointSaverHook::BeforeRun: CheckpointSaverListener::AfterSave: EvalResult["acuracy"]: the )"
       "evaluation has no number of this name, it has accuracy, global_step, loss; did you mean "
       R"("accuracy"?)",
       Found::kLater},
      {"VariableThatIsNotThere",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         return Estimator(GoodModel, Config(dir)).GetVariableValue("dense/kernl").status();
       },
       R"({dir}/model.ckpt-2: has no tensor "dense/kernl"; did you mean "dense/kernel"? It has: dense/bias, )"
       "dense/kernel"},
      {"ExportBeforeTraining",
       [](const std::string& dir) {
         std::filesystem::create_directories(dir);
         return Estimator(GoodModel, Config(dir)).ExportModel(dir + "/exports", {.input_fn = Input()}).status();
       },
       "ExportModel: there is no trained model in model_dir {dir}; train first"},
      {"ExportOfAnUnknownFeature",
       [](const std::string& dir) {
         return ExportTrained(dir, {.features = {{.name = "X", .dtype = DType::kFloat32, .shape = {kBatch, 4}}}});
       },
       R"(ServingInput, with the features X:float32[b,4]: Features "Features" at {Tensor logits = )"
       R"(layers::Dense(features["x"], {.units = 3});}: the input has no feature "x"; it has X; did you )"
       R"(mean "X"?)"},
      {"ExportOfAShapeWithoutBatch",
       [](const std::string& dir) {
         return ExportTrained(dir, {.features = {{.name = "x", .dtype = DType::kFloat32, .shape = {4}}}});
       },
       R"(ServingInput: feature "x" has shape [4], which does not begin with the batch; write {kBatch, ...})"},
      {"TwoExportersOfOneName",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return Choose(estimator, {{.input_fn = Input(),
                                    .exporters = {FinalExporter("best", {.input_fn = Input()}),
                                                  LatestExporter("best", {.input_fn = Input()})}}});
       },
       R"(EvalSpec: two exporters have the name "best", and would export to the same folder; rename one)"},
      {"BestExporterByAMistypedMetric",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         const BestExporterOptions by{.metric = "acuracy", .direction = MetricDirection::kMax};
         return Choose(estimator,
                       {{.input_fn = Input(), .exporters = {BestExporter("best", {.input_fn = Input()}, by)}}});
       },
       R"(BestExporter "best": the evaluation has no metric "acuracy"; did you mean "accuracy"? It has )"
       "accuracy, loss"},
      {"ModelOfADirectoryThatHasNotPredicted",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         return LoadModel(dir).status();
       },
       "{dir}/model.ckpt-2: no program of mode predict in {dir}/compiled has its variables; export the model "
       "(Estimator::ExportModel), or predict once with RunConfig.compile_cache and no compile_cache_dir"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
