// Clusters with parameter servers, as real processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "cluster/testing_certificates.h"
#include "estimator/parameter_server/test_jobs.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

// The name of the last checkpoint and the bytes of its variables and slots.
std::string Weights(const std::string& dir) {
  const std::string latest = Latest(dir);
  return BaseName(latest) + Env::Default()->ReadFile(latest + "/variables.safetensors").value_or("unreadable");
}

float Value(const std::string& dir, const std::string& name) {
  const auto data = CheckpointManager(Env::Default(), dir).Restore(Latest(dir));
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *data->variables.at(name).data<float>() : -1;
}

// Two dense layers with batch norm, so that there are statistics, and gradients that are clipped by their global norm.
EstimatorSpec ClippedModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor h = layers::Dense(features["x"], {.units = 5});
  h = layers::BatchNormalization(h, {.training = mode == Mode::kTrain});
  Tensor y = layers::Dense(Relu(h), {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"mean_y", metrics::Mean(y)}});
  return EstimatorSpec::Train(
      loss,
      optimizers::Momentum({.learning_rate = 0.05, .momentum = 0.9, .clip = {.global_norm = 0.5}}).Minimize(loss));
}

// Gradient descent on sum(w x) at rate 1: w becomes minus the sum of all examples, exactly, in any order.
EstimatorSpec SumModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  GraphBuilder* graph = features["value"].graph();
  Tensor w = graph->Variable({.name = "w"});
  Tensor loss = ReduceSum(features["value"] * w);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {});
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 1}).Minimize(loss));
}

TEST(Served, OneWorkerHasTheBitsOfOneProcess) {
  for (const auto& [name, model] : {std::make_pair("adam", LineModel), std::make_pair("clipped", ClippedModel)}) {
    for (const int devices : {1, 2}) {
      const std::string alone = ModelDir(absl::StrCat(name, devices, "alone"));
      RunConfig config = Config(alone, devices);
      config.save_checkpoints_steps = 20;
      config.save_summary_steps = 0;
      ASSERT_EQ(RunTask(
                    Job(1, 0, alone, devices), model, 0,
                    [](int, Estimator& e) { return e.Train(LineInput(61, 4), {.max_steps = 50}); },
                    [&](RunConfig* c) { *c = config; }),
                0);
      for (const int servers : {1, 2, 3}) {
        const Job job(1, servers, ModelDir(absl::StrCat(name, devices, "by", servers)), devices);
        const std::vector<int> codes =
            RunJob(job, model, [](int, Estimator& e) { return e.Train(LineInput(61, 4), {.max_steps = 50}); });
        EXPECT_EQ(codes, std::vector<int>(1 + servers, 0));
        EXPECT_TRUE(Weights(job.model_dir) == Weights(alone)) << name << " " << devices << " " << servers;
      }
    }
  }
}

// Gradients of several workers are some updates old, unless nobody may be ahead.
TEST(Served, MomentumOfSeveralWorkersIsSaid) {
  const auto expects = [](bool said) -> Work {
    return [said](int task, Estimator& e) -> absl::Status {
      SetMinLogSeverity(LogSeverity::kWarning);
      const LogCapture log;
      if (absl::Status status = e.Train(LineInput(61, 4), {.max_steps = 6}); !status.ok()) return status;
      const std::string part = "has momentum, and 2 workers update the parameter servers without waiting";
      if (log.Contains(part) == (said && task == 0)) return absl::OkStatus();
      return absl::InternalError(absl::StrCat("the log of task ", task, ":\n", log.Text()));
    };
  };
  const auto bounded = [](RunConfig* config) { config->max_staleness = 0; };
  const auto silent = [](RunConfig* config) { config->silence = {"stale_momentum"}; };
  EXPECT_EQ(RunJob(Job(2, 1, ModelDir("two")), ClippedModel, expects(true)), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(Job(2, 1, ModelDir("adam")), LineModel, expects(false)), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(Job(2, 1, ModelDir("bounded")), ClippedModel, expects(false), bounded), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(Job(2, 1, ModelDir("silent")), ClippedModel, expects(false), silent), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(Job(1, 1, ModelDir("one")), ClippedModel, expects(false)), std::vector<int>(2, 0));
}

TEST(Served, TlsKeepsTheBits) {
  const TestingCa ca("Served CA");
  const TlsFiles own = ca.Make({.name = "own"});
  const Job plain(1, 2, ModelDir("plain")), encrypted(1, 2, ModelDir("encrypted"));
  const Work work = [](int, Estimator& e) { return e.Train(LineInput(61, 4), {.max_steps = 50}); };
  EXPECT_EQ(RunJob(plain, ClippedModel, work), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(encrypted, ClippedModel, work, [&](RunConfig* config) { config->tls = own; }),
            std::vector<int>(3, 0));
  EXPECT_TRUE(Weights(plain.model_dir) == Weights(encrypted.model_dir));
}

TEST(Served, TlsKeepsOthersOut) {
  const TestingCa ca("Served CA"), other_ca("Other CA");
  const TlsFiles own = ca.Make({.name = "own"}), elsewhere = ca.Make({.name = "elsewhere", .names = "DNS:elsewhere"});
  TlsFiles wrong_key = own, named = own;
  wrong_key.key = elsewhere.key;
  named.server_name = "elsewhere";
  const struct {
    std::optional<TlsFiles> server, worker;
    const char* text;
  } cases[] = {
      {own, std::nullopt, "it speaks TLS, and this process does not; set TANDEM_TLS_CERTIFICATE"},
      {std::nullopt, own, "it does not speak TLS, and this process does; set TANDEM_TLS_CERTIFICATE"},
      {other_ca.Make({.name = "stranger"}), own, "its certificate, by \"Other CA\", was not issued by a CA of "},
      {elsewhere, own, "its certificate is for elsewhere and not for 127.0.0.1; "},
      {own, wrong_key, "the key does not belong to the certificate in "},
      {own, named, "is for 127.0.0.1 and not for the server name elsewhere"},
  };
  for (const auto& [server_files, worker_files, text] : cases) {
    const Job job(1, 1, ModelDir());
    const std::string said = job.model_dir + ".txt";
    const auto run = [&, &server = server_files, &worker = worker_files](int task) {
      return RunTask(
          job, LineModel, task,
          [&](int, Estimator& e) {
            const absl::Status status = e.Train(LineInput(61, 4), {.max_steps = 50});
            if (task == 0) std::ofstream(said) << status.message();
            return status;
          },
          [&](RunConfig* config) {
            config->peer_deadline_secs = 2;
            config->tls = task == 0 ? worker : server;
          });
    };
    Processes server(1, [&](int) { return run(1); });
    Processes worker(1, [&](int) { return run(0); });
    EXPECT_EQ(worker.Wait(0), kExitUsage);
    const std::string message = Env::Default()->ReadFile(said).value_or("");
    EXPECT_TRUE(absl::StrContains(message, text)) << message;
    server.Signal(0, SIGTERM);
    EXPECT_EQ(server.Wait(0), kExitTerminated);
  }
  // A server's own mistake.
  const Job job(1, 1, ModelDir());
  EXPECT_EQ(RunTask(
                job, LineModel, 1, [](int, Estimator& e) { return e.Train(LineInput(61, 4)); },
                [&](RunConfig* config) { config->tls = wrong_key; }),
            kExitUsage);
}

TEST(Served, LanesAreTheWorkers) {
  const Job job(1, 1, ModelDir(), /*devices=*/3);
  EXPECT_EQ(RunJob(
                job, LineModel, [](int, Estimator& e) { return e.Train(LineInput(61, 4), {.max_steps = 5}); },
                [](RunConfig* config) { config->lanes = 3; }),
            std::vector<int>(2, 0));
}

TEST(Served, ATrainingGoesOnFromItsCheckpoint) {
  const Job straight(1, 2, ModelDir("straight")), stopped(1, 2, ModelDir("stopped"));
  const auto train = [](int64_t steps) {
    return [steps](int, Estimator& e) { return e.Train(LineInput(61, 4, -1, 20), {.max_steps = steps}); };
  };
  EXPECT_EQ(RunJob(straight, LineModel, train(60)), std::vector<int>(3, 0));
  EXPECT_EQ(RunJob(stopped, LineModel, train(33)), std::vector<int>(3, 0));
  EXPECT_EQ(BaseName(Latest(stopped.model_dir)), "model.ckpt-33");
  EXPECT_EQ(RunJob(stopped, LineModel, train(60)), std::vector<int>(3, 0));
  EXPECT_TRUE(Weights(straight.model_dir) == Weights(stopped.model_dir));
  // Nothing is left to do, which the servers are told.
  EXPECT_EQ(RunJob(stopped, LineModel, train(60)), std::vector<int>(3, 0));
}

TEST(Served, EveryWorkerMakesStepsAndEveryExampleCountsOnce) {
  for (const AutoShard shard : {AutoShard::kBatch, AutoShard::kOff}) {
    const Job job(3, 2, ModelDir(absl::StrCat("of ", Name(shard))), /*devices=*/2);
    const InputFn input = [](const InputContext& context) -> absl::StatusOr<Dataset> {
      TD_ASSIGN_OR_RETURN(const Dataset all, NumbersInput(1000, 7)(context));
      return context.num_input_pipelines > 1 ? all.Shard(context.num_input_pipelines, context.input_pipeline_id) : all;
    };
    const std::vector<int> codes = RunJob(
        job, SumModel, [&](int, Estimator& e) { return e.Train(input); },
        [&](RunConfig* config) { config->auto_shard = shard; });
    EXPECT_EQ(codes, std::vector<int>(5, 0));
    EXPECT_EQ(Value(job.model_dir, "w"), -999.f * 1000 / 2) << Name(shard);
    // 143 batches, two in a step: 143 = 3 * 47 + 2.
    EXPECT_EQ(BaseName(Latest(job.model_dir)), "model.ckpt-72") << Name(shard);
  }
}

TEST(Served, AllStopWithTheChief) {
  const Job job(3, 1, ModelDir());
  const std::vector<int> codes = RunJob(job, LineModel, [&](int task, Estimator& e) -> absl::Status {
    auto hook = std::make_shared<StepHook>([task](RunContext& context, const RunValues&) {
      if (task == 0 && context.global_step() >= 300) context.RequestStop();
    });
    TD_RETURN_IF_ERROR(e.Train(LineInput(), {.hooks = {hook}}));
    if (task == job.workers) return absl::OkStatus();
    return e.last_train_result()->reason == StopReason::kStopRequested ? absl::OkStatus()
                                                                       : absl::InternalError("another reason");
  });
  EXPECT_EQ(codes, std::vector<int>(4, 0));
}

TEST(Served, TrainAndEvaluateEvaluatesOnTheChief) {
  const Job job(2, 2, ModelDir());
  const std::vector<int> codes = RunJob(job, LineModel, [](int task, Estimator& e) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const EvalResult result,
                        TrainAndEvaluate(e, {.input_fn = LineInput(), .max_steps = 100},
                                         {.input_fn = LineInput(64, 8, 1), .start_delay_secs = 0, .throttle_secs = 0}));
    if (result.empty() != (task != 0)) return absl::InternalError("evaluated elsewhere");
    return task != 0 || result.global_step() >= 100 ? absl::OkStatus() : absl::InternalError("too early");
  });
  EXPECT_EQ(codes, std::vector<int>(4, 0));
  EXPECT_TRUE(Env::Default()->Exists(job.model_dir + "/DONE"));
}

TEST(Served, SeveralTrainingsAndASignal) {
  const Job job(2, 1, ModelDir());
  const std::vector<int> codes = RunJob(job, LineModel, [](int task, Estimator& e) -> absl::Status {
    for (int i = 1; i <= 3; ++i) TD_RETURN_IF_ERROR(e.Train(LineInput(64, 8, 2)));
    auto hook = std::make_shared<StepHook>([task, n = 0](RunContext&, const RunValues&) mutable {
      if (task == 0 && ++n == 50) kill(getpid(), SIGTERM);
    });
    return e.Train(LineInput(), {.hooks = {hook}});
  });
  EXPECT_EQ(codes, (std::vector<int>{kExitTerminated, kExitTemporary, 0}));
}

// Long enough that something can happen meanwhile.
Work SlowTraining(int64_t max_steps) {
  return [max_steps](int, Estimator& e) {
    auto slow = std::make_shared<StepHook>([](RunContext&, const RunValues&) { Sleep(0.002); });
    return e.Train(LineInput(), {.max_steps = max_steps, .hooks = {slow}});
  };
}

TEST(Served, ASignalEndsTheWaitForServers) {
  const Job job(1, 1, ModelDir());
  Processes chief(1, [&](int) { return RunTask(job, LineModel, 0, SlowTraining(10)); });
  Sleep(0.7);
  chief.Signal(0, SIGTERM);
  EXPECT_EQ(chief.Wait(0), kExitTerminated);
  const Job without_chief(2, 1, ModelDir());
  const auto run = [&](int task) { return RunTask(without_chief, LineModel, task, SlowTraining(10)); };
  Processes server(1, [&](int) { return run(2); });
  Processes worker(1, [&](int) { return run(1); });
  Sleep(1.5);
  worker.Signal(0, SIGINT);
  EXPECT_EQ(worker.Wait(0), kExitInterrupted);
  server.Signal(0, SIGTERM);
  EXPECT_EQ(server.Wait(0), kExitTerminated);
}

// The chief's own input has ended.
TEST(Served, ASignalEndsTheWaitForOtherWorkersAndSaves) {
  const Job job(2, 1, ModelDir());
  const Work work = [](int task, Estimator& e) {
    auto slow = std::make_shared<StepHook>([](RunContext&, const RunValues&) { Sleep(0.002); });
    return e.Train(task == 0 ? LineInput(64, 8, 2) : LineInput(), {.hooks = {slow}});
  };
  const auto change = [](RunConfig* config) {
    config->auto_shard = AutoShard::kOff;
    config->save_checkpoints_steps = 1000000;
  };
  Processes tasks(3, [&](int task) { return RunTask(job, LineModel, task, work, change); });
  Sleep(3);
  tasks.Signal(0, SIGTERM);
  EXPECT_EQ(tasks.Wait(0), kExitTerminated);
  EXPECT_EQ(tasks.Wait(1), kExitTemporary);
  EXPECT_EQ(tasks.Wait(2), 0);
  const auto saved = ReadCheckpoint(Env::Default(), Latest(job.model_dir));
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_GT(saved->global_step, 2 * 64 / 8) << "with the steps of the other";
}

// A checkpoint has the steps that others make while the chief reads the values.
TEST(Served, ListenersHearOfCheckpointsThatAreThere) {
  struct Listener : CheckpointSaverListener {
    explicit Listener(const std::string& dir) : dir(dir) {}
    absl::StatusOr<bool> AfterSave(int64_t step) override {
      const std::string path = absl::StrCat(dir, "/model.ckpt-", step);
      if (!Env::Default()->Exists(path)) return absl::NotFoundError(path);
      return false;
    }
    const std::string dir;
  };
  const Job job(3, 1, ModelDir());
  const std::vector<int> codes = RunJob(job, LineModel, [&](int, Estimator& e) {
    return e.Train(LineInput(), {.max_steps = 400, .saving_listeners = {std::make_shared<Listener>(job.model_dir)}});
  });
  EXPECT_EQ(codes, std::vector<int>(4, 0));
}

// As a launcher does when a worker has failed.
TEST(Served, ASignalToAllSaves) {
  const Job job(3, 2, ModelDir());
  const auto change = [](RunConfig* config) { config->save_checkpoints_steps = 1000000; };
  Processes tasks(5, [&](int task) { return RunTask(job, LineModel, task, SlowTraining(100000), change); });
  Sleep(1);
  tasks.Signal(2, SIGKILL);
  EXPECT_EQ(tasks.Wait(2), -SIGKILL);
  for (int task : {3, 4, 0, 1}) tasks.Signal(task, SIGTERM);
  EXPECT_EQ(tasks.Wait(0), kExitTerminated);
  EXPECT_NE(tasks.Wait(1), 0);
  for (int server : {3, 4}) {
    const int code = tasks.Wait(server);
    EXPECT_TRUE(code == 0 || code == kExitTerminated) << code;
  }
  EXPECT_NE(BaseName(Latest(job.model_dir)), "model.ckpt-0");
}

TEST(Served, AServerThatIsKilledComesBack) {
  const Job job(2, 2, ModelDir());
  const auto run = [&](int task) { return RunTask(job, LineModel, task, SlowTraining(1500)); };
  Processes workers(2, run);
  auto servers = std::make_unique<Processes>(2, [&](int i) { return run(2 + i); });
  Sleep(1);
  servers->Signal(1, SIGKILL);
  EXPECT_EQ(servers->Wait(1), -SIGKILL);
  Sleep(0.3);
  Processes again(1, [&](int) { return run(3); });
  EXPECT_EQ(workers.WaitAll(), 0);
  EXPECT_EQ(servers->Wait(0), 0);
  EXPECT_EQ(again.Wait(0), 0);
  EXPECT_NEAR(Value(job.model_dir, "dense/bias"), 1, 0.05);
}

TEST(Served, TheOthersGoOnWithoutAWorkerAndOneThatComesBackGoesOnWithThem) {
  const Job job(3, 1, ModelDir());
  const auto change = [](RunConfig* config) { config->peer_deadline_secs = 3; };
  const auto run = [&](int task) { return RunTask(job, LineModel, task, SlowTraining(1500), change); };
  Processes server(1, [&](int) { return run(3); });
  Processes workers(3, run);
  Sleep(0.7);
  workers.Signal(1, SIGKILL);
  workers.Signal(2, SIGKILL);
  EXPECT_EQ(workers.Wait(1), -SIGKILL);
  EXPECT_EQ(workers.Wait(2), -SIGKILL);
  Processes again(1, [&](int) { return run(2); });
  EXPECT_EQ(workers.Wait(0), 0);
  EXPECT_EQ(again.Wait(0), 0);
  EXPECT_EQ(server.Wait(0), 0);
}

TEST(Served, AChiefThatComesBackTakesTheServersValues) {
  const Job job(2, 1, ModelDir());
  const auto run = [&](int task) { return RunTask(job, LineModel, task, SlowTraining(1500)); };
  Processes server(1, [&](int) { return run(2); });
  auto workers = std::make_unique<Processes>(2, run);
  Sleep(0.7);
  workers->Signal(0, SIGKILL);
  EXPECT_EQ(workers->Wait(0), -SIGKILL);
  Sleep(0.3);
  Processes chief(1, [&](int) { return run(0); });
  EXPECT_EQ(chief.Wait(0), 0);
  EXPECT_EQ(workers->Wait(1), 0);
  EXPECT_EQ(server.Wait(0), 0);
  EXPECT_NEAR(Value(job.model_dir, "dense/bias"), 1, 0.05);
}

TEST(Served, WhenTheChiefFailsTheOthersHearWhy) {
  const Job job(2, 1, ModelDir());
  const std::vector<int> codes = RunJob(job, LineModel, [](int task, Estimator& e) {
    const InputFn input = [task](const InputContext& context) -> absl::StatusOr<Dataset> {
      TD_ASSIGN_OR_RETURN(const Dataset points, LineInput()(context));
      return points.Map([task, n = std::make_shared<int>(0)](const Element& element) -> absl::StatusOr<Element> {
        if (task == 0 && ++*n > 100) return absl::DataLossError("a damaged example");
        return element;
      });
    };
    return e.Train(input, {.max_steps = 100000});
  });
  EXPECT_EQ(codes, (std::vector<int>{kExitBadData, kExitTemporary, kExitTemporary}));
}

// Of a process of its own: one that has spoken with servers cannot fork any more.
std::string ErrorOf(const RunConfig& config) {
  const std::string file = ModelDir("error") + "/error";
  Processes process(1, [&](int) {
    SetMinLogSeverity(LogSeverity::kError);
    Estimator estimator(LineModel, config);
    const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
    std::ofstream(file) << ExitCodeFor(status) << ": " << status.message();
    return 0;
  });
  EXPECT_EQ(process.Wait(0), 0);
  return Env::Default()->ReadFile(file).value_or("no error");
}

TEST(ServedMistakes, StrategiesThatDoNotFitTheCluster) {
  const Job job(2, 1, ModelDir());
  RunConfig config = job.ConfigOf(0);
  config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0"});
  EXPECT_EQ(ErrorOf(config),
            "2: cluster: chief 0, rank 0 of 2, by a test: it has tasks of type ps, and "
            "MultiWorkerMirroredStrategy has no use for them; use ParameterServerStrategy, or leave them out");
  config = job.ConfigOf(0);
  config.cluster->addresses.clear();
  EXPECT_EQ(
      ErrorOf(config),
      "2: cluster: chief 0, rank 0 of 2, by a test: ParameterServerStrategy needs tasks of type ps, and the cluster "
      "has none");
  config = job.ConfigOf(0);
  config.max_staleness = -1;
  EXPECT_EQ(ErrorOf(config), "2: RunConfig: max_staleness must not be negative, got -1; leave it out for no bound");
}

TEST(ServedMistakes, WhatGoesByEachStep) {
  const Job job(2, 1, ModelDir());
  Estimator estimator(LineModel, job.ConfigOf(1));
  const EvalSpec evaluation{.input_fn = LineInput(64, 8, 1)};
  EvalSpec by_steps = evaluation;
  by_steps.every_steps = 10;
  EXPECT_EQ(TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 20}, by_steps).status().message(),
            "EvalSpec: every_steps and every_epochs go by each step, and with parameter servers the other workers make "
            "steps that the chief does not see; set RunConfig.save_checkpoints_steps and throttle_secs instead");
  const TrainSpec on_plateau{.input_fn = LineInput(), .max_steps = 20, .reduce_on_plateau = ReduceOnPlateau{}};
  EXPECT_EQ(TrainAndEvaluate(estimator, on_plateau, evaluation).status().message(),
            "TrainSpec: reduce_on_plateau sets the rate of all workers between steps, and with parameter servers each "
            "makes steps of its own; leave it out, or the tasks of type ps");
}

TEST(ServedMistakes, AServerThatIsNotThere) {
  const Job job(1, 1, ModelDir());
  RunConfig config = job.ConfigOf(0);
  config.peer_deadline_secs = 0.05;
  const std::string error = ErrorOf(config);
  EXPECT_TRUE(absl::StartsWith(error, absl::StrCat("75: parameter server ps 0 at ", job.addresses[0]))) << error;
  EXPECT_TRUE(absl::StrContains(error, "it was waited for 0.5 s")) << error;
}

TEST(ServedMistakes, AnAddressThatIsTaken) {
  const Job job(1, 1, ModelDir());
  const auto serve = [&](int) { return RunTask(job, LineModel, 1, SlowTraining(1)); };
  Processes first(1, serve);
  Sleep(1);
  Processes second(1, serve);
  EXPECT_EQ(second.Wait(0), kExitUsage);
}

TEST(ServedMistakes, AnotherRateBatchOrSeed) {
  const Job job(1, 1, ModelDir());
  Processes server(1, [&](int) { return RunTask(job, LineModel, 1, SlowTraining(10)); });
  const auto with_rate = [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    return LineModel(features, labels, mode, {{"learning_rate", 0.5}});
  };
  Processes rate(1, [&](int) { return RunTask(job, with_rate, 0, SlowTraining(10)); });
  EXPECT_EQ(rate.Wait(0), kExitUsage);
  Processes seed(1, [&](int) {
    return RunTask(job, LineModel, 0, SlowTraining(10), [](RunConfig* config) { config->seed = 7; });
  });
  EXPECT_EQ(seed.Wait(0), kExitUsage);
  Processes batch(1, [&](int) {
    return RunTask(job, LineModel, 0, [](int, Estimator& e) { return e.Train(LineInput(64, 4), {.steps = 1}); });
  });
  EXPECT_EQ(batch.Wait(0), kExitUsage);
  Processes right(1, [&](int) { return RunTask(job, LineModel, 0, SlowTraining(10)); });
  EXPECT_EQ(right.Wait(0), 0);
  EXPECT_EQ(server.Wait(0), 0);
}

TEST(ServedMistakes, AnotherModel) {
  const Job job(1, 1, ModelDir());
  Processes server(1, [&](int) { return RunTask(job, ClippedModel, 1, SlowTraining(10)); });
  Processes chief(1, [&](int) { return RunTask(job, LineModel, 0, SlowTraining(10)); });
  EXPECT_EQ(chief.Wait(0), kExitUsage);
  server.Signal(0, SIGTERM);
  EXPECT_EQ(server.Wait(0), kExitTerminated);
}

}  // namespace
}  // namespace tandem
