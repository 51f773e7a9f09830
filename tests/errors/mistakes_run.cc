// Mistakes in how a model is run: RunConfig, calls of the Estimator, hooks, checkpoints, the environment.
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "base/env.h"
#include "base/unsynced_files.h"
#include "tests/errors/mistakes.h"

namespace tandem::mistakes {
namespace {

absl::Status TrainWith(RunConfig config, const TrainOptions& options = {.steps = 2}) {
  return Estimator(GoodModel, std::move(config)).Train(Input(), options);
}

// Fetches a tensor in Begin; throws in AfterRun.
class LossPrinter : public SessionRunHook {
 public:
  explicit LossPrinter(std::string fetch, bool throws = false) : fetch_(std::move(fetch)), throws_(throws) {}
  std::string name() const override { return "LossPrinter"; }
  absl::Status Begin(HookContext& context) override {
    context.Fetch(fetch_);
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    if (throws_) throw std::out_of_range("map::at");
    return absl::OkStatus();
  }

 private:
  const std::string fetch_;
  const bool throws_;
};

class StopAtFirst : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    context.RequestStop();
    return absl::OkStatus();
  }
};

}  // namespace

const std::vector<Mistake>& RunMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"CheckpointOfAnotherModel",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         return Train(dir, [](const Features& f, const Tensor& labels) {
           Tensor y = layers::Dense(f["x"], {.units = 4, .activation = Relu});
           return losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(y, {.units = 3}));
         });
       },
       "{dir}/model.ckpt-2: this checkpoint is of another model (4 differences):\n  dense/bias: float32[3] in "
       "the checkpoint, float32[4] in the model\n  dense/kernel: float32[4,3] in the checkpoint, float32[4,4] in "
       "the model\n  dense_1/bias: float32[3] in the model, missing in the checkpoint\n  dense_1/kernel: "
       "float32[4,3] in the model, missing in the checkpoint\nUse another model_dir, or the model_fn and "
       "optimizer that the checkpoint was saved with."},
      {"ModelDirIsAFile",
       [](const std::string& dir) {
         if (absl::Status status = WriteFileUnsynced(Env::Default(), dir, "notes"); !status.ok()) return status;
         return TrainWith(Config(dir));
       },
       R"(model_dir "{dir}" cannot be written: {dir}: is a file, and a directory is needed; choose a directory )"
       "that this user can write, on a disk that has space"},
      {"StepsAndMaxSteps", [](const std::string& dir) { return TrainWith(Config(dir), {.steps = 2, .max_steps = 10}); },
       "Train: steps and max_steps cannot be both set, got 2 and 10; choose one"},
      {"NegativeSteps", [](const std::string& dir) { return TrainWith(Config(dir), {.steps = -5}); },
       "Train: steps must be positive, got -5; leave it out to train to the end of the input"},
      {"UnknownDevice",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.train_distribute = MirroredStrategy({"cpu:0", "tpu:0"});
         return TrainWith(config);
       },
       R"(RunConfig: train_distribute: MirroredStrategy: device "tpu:0": there is no such device. Allowed are )"
       "cpu:0 to cpu:63, each at most once, or the GPUs gpu:0, gpu:1 and so on."},
      {"WrongFetch",
       [](const std::string& dir) {
         return TrainWith(Config(dir), {.steps = 2, .hooks = {std::make_shared<LossPrinter>("dense/Ad")}});
       },
       R"(LossPrinter::Begin fetches "dense/Ad", but no tensor has this name in mode train; outputs are loss, and )"
       R"(every op can be fetched by its name (tandem-dump shows all); did you mean "dense/Add"?)"},
      {"SeedChanged",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         RunConfig config = Config(dir);
         config.seed = 7;
         return Warned("seed", [&] { return TrainWith(config); });
       },
       "RunConfig.seed is 7, but {dir}/model.ckpt-2 was trained with seed 0 and goes on with it; a new seed "
       "needs a new model_dir."},
      {"WarmStartFromNowhere",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.warm_start_from = WarmStartSettings{.path = dir + "/pretrained.safetensors"};
         return TrainWith(config);
       },
       "warm_start_from: {dir}/pretrained.safetensors: cannot look at: No such file or directory; name a file of "
       "weights, a checkpoint or a model_dir"},
      // Beyond the forty.
      {"MistypedMetric",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.keep_best = KeepBest{.metric = "acuracy", .direction = MetricDirection::kMax};
         Estimator estimator(GoodModel, config);
         const absl::Status status =
             TrainAndEvaluate(estimator, {.input_fn = Input(), .max_steps = 2}, {.input_fn = Input()}).status();
         return estimator.last_train_result().has_value() ? absl::InternalError("it was trained before") : status;
       },
       R"(RunConfig.keep_best: the evaluation has no metric "acuracy"; did you mean "accuracy"? It has accuracy, loss)"},
      {"ForgottenRepeat",
       [](const std::string& dir) {
         return Warned("to train on", [&] { return TrainWith(Config(dir), {.max_steps = 5000}); });
       },
       "The input has 2 steps, and ends before max_steps = 5000; to train on, add Repeat() to the dataset, in front of "
       "Batch ({return [n](const InputContext&) -> absl::StatusOr<Dataset> { return Examples(n).Batch(8); };}). "
       R"((RunConfig.silence = {"input_ended_early"} switches this warning off.))"},
      {"EndlessTraining",
       [](const std::string& dir) {
         const InputFn endless = [](const InputContext&) -> absl::StatusOr<Dataset> {
           return Examples(16).Repeat().Batch(8);
         };
         const auto stop = std::make_shared<StopAtFirst>();
         return Warned("never ends",
                       [&] { return Estimator(GoodModel, Config(dir)).Train(endless, {.hooks = {stop}}); });
       },
       "The input never ends, by Repeat ({return Examples(16).Repeat().Batch(8);}), and neither max_steps nor steps is "
       "set: only a hook or a signal ends this training. Set max_steps, or give Repeat a count. "
       R"((RunConfig.silence = {"endless_training"} switches this warning off.))"},
      {"MistypedHyperparameter",
       [](const std::string& dir) {
         const ModelFn model = [](const Features& f, const Tensor& labels, Mode mode, const Params& params) {
           EstimatorSpec spec = GoodModel(f, labels, mode, params);
           (void)params.Number("learning_rat", 1e-3);
           return spec;
         };
         Estimator estimator(model, Config(dir), {{"learning_rate", 0.1}});
         return Warned("Params", [&] { return estimator.Train(Input()); });
       },
       R"(Params: "learning_rate" was never read, and {(void)params.Number("learning_rat", 1e-3);} asked for )"
       R"("learning_rat", which is not set and has its default; did you mean the same? )"
       R"((RunConfig.silence = {"unread_params"} switches this warning off.))",
       Found::kLater},
      {"UnknownWarning",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.silence = {"unread_param"};
         return TrainWith(config);
       },
       R"(RunConfig: silence: there is no warning "unread_param"; did you mean "unread_params"? There are )"
       "input_ended_early, endless_training, unread_params, scores_for_probabilities, probabilities_for_logits, "
       "stale_momentum, watched_not_finite, untrained_weights"},
      {"MemoryLimitInKilobytes",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.memory_limit = 8 * 1024;
         const ModelFn model = ModelOf([](const Features& f, const Tensor& labels) {
           Tensor y = layers::Dense(layers::Dense(f["x"], {.units = 512}), {.units = 512});
           return losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(y, {.units = 3}));
         });
         return Estimator(model, config).Train(Input());
       },
       "compilation failed in phase memory, pass td-check-memory: the program takes # MiB and memory_limit "
       "allows # MiB: variables # MiB, batch arena # MiB, step arena # MiB, slots of lanes # MiB, threads # "
       "MiB; largest buffers: {buffers}; a smaller batch or fewer lanes take less, and microbatch_rows makes the "
       "threads' part smaller; memory_limit is in bytes: if 8192 are kilobytes, set 8388608"},
      {"TfConfigSet",
       [](const std::string& dir) {
         setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})", 1);
         RunConfig config = Config(dir);
         config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"});
         absl::Status status = TrainWith(config);
         unsetenv("TF_CONFIG");
         return status;
       },
       "cluster: worker 0, rank 0 of 2, rank 0 at a:1, by TF_CONFIG: MirroredStrategy is for one process; use "
       "MultiWorkerMirroredStrategy, or take the description of the cluster out of the environment"},
      {"HookThrows",
       [](const std::string& dir) {
         return TrainWith(Config(dir), {.steps = 2, .hooks = {std::make_shared<LossPrinter>("loss", true)}});
       },
       R"(LossPrinter::AfterRun: threw std::out_of_range: "map::at")"},
      {"NullHook", [](const std::string& dir) { return TrainWith(Config(dir), {.steps = 2, .hooks = {nullptr}}); },
       "TrainOptions.hooks: hook 0 of 1 is null; leave it out, or make it"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
