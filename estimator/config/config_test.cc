// RunConfig, strategies, params and the DONE marker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/config/params.h"
#include "estimator/config/run_config.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) { return ::testing::TempDir() + "/" + name; }

TEST(RunConfig, DefaultsSaveEveryTenMinutes) {
  RunConfig config;
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_EQ(config.checkpoint_secs(), 600);
  EXPECT_EQ(config.checkpoint_steps(), 0);
  EXPECT_EQ(config.keep_checkpoint_max, 5);
  EXPECT_EQ(config.log_step_count_steps, 100);
  EXPECT_EQ(config.train_strategy().devices, std::vector<std::string>{"cpu:0"});
}

TEST(RunConfig, StepsReplaceSecondsAndZeroTurnsOff) {
  RunConfig steps{.save_checkpoints_steps = 10};
  EXPECT_EQ(steps.checkpoint_steps(), 10);
  EXPECT_EQ(steps.checkpoint_secs(), 0);
  EXPECT_TRUE(steps.checkpoints_enabled());
  RunConfig off{.save_checkpoints_secs = 0};
  EXPECT_TRUE(off.Validate().ok());
  EXPECT_FALSE(off.checkpoints_enabled());
}

TEST(RunConfig, TlsIsGivenOrOfTheEnvironment) {
  RunConfig given{.tls = TlsFiles{.certificate = "/tls/job.crt", .key = "/tls/job.key"}};
  EXPECT_THAT(std::string(given.Validate().message()), HasSubstr("tls has no ca; certificate, key and ca go together"));
  given.tls->ca = "/tls/ca.crt";
  EXPECT_TRUE(given.Validate().ok());
  EXPECT_THAT(std::string(RunConfig{.tls = TlsFiles{}}.Validate().message()),
              HasSubstr("no certificate, no key, no ca"));
  const RunConfig config;
  EXPECT_EQ(config.ResolvedTls().value(), std::nullopt);
  setenv("TANDEM_TLS_CERTIFICATE", "/other.crt", 1);
  EXPECT_EQ(ExitCodeFor(config.ResolvedTls().status()), kExitUsage);
  setenv("TANDEM_TLS_KEY", "/other.key", 1);
  setenv("TANDEM_TLS_CA", "/other.ca", 1);
  EXPECT_EQ(config.ResolvedTls().value(),
            (TlsFiles{.certificate = "/other.crt", .key = "/other.key", .ca = "/other.ca"}));
  EXPECT_EQ(given.ResolvedTls().value(), given.tls);
  for (const char* name : {"TANDEM_TLS_CERTIFICATE", "TANDEM_TLS_KEY", "TANDEM_TLS_CA"}) unsetenv(name);
}

TEST(RunConfig, ListsEveryProblemAtOnce) {
  RunConfig config{.save_checkpoints_steps = 10,
                   .save_checkpoints_secs = 5,
                   .keep_checkpoint_max = -1,
                   .train_distribute = MirroredStrategy({"gpu:0", "cpu:1", "cpu:1", "gpu:x"}),
                   .warm_start_from = WarmStartSettings{.path = "w.safetensors", .vars_to_warm_start = "("}};
  const absl::Status status = config.Validate();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  for (const char* part : {"cannot be both set", "keep_checkpoint_max", "\"gpu:x\": there is no such device",
                           "gpu:0,cpu:1,cpu:1,gpu:x are CPUs and GPUs", "\"cpu:1\" is named twice",
                           "Allowed are cpu:0 to cpu:63", "not a regular expression"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

TEST(RunConfig, LanesGoWithTheDevices) {
  auto devices = [](int n) {
    std::vector<std::string> names;
    for (int i = 0; i < n; ++i) names.push_back("cpu:" + std::to_string(i));
    return MirroredStrategy(names);
  };
  for (const auto& [n, lanes] : {std::pair(1, 16), {2, 2}, {3, 3}, {3, 48}, {5, 10}, {6, 3}}) {
    EXPECT_TRUE((RunConfig{.train_distribute = devices(n), .lanes = lanes}).Validate().ok()) << n << " " << lanes;
  }
  for (const auto& [n, lanes] : {std::pair(3, 2), {3, 16}, {5, 4}, {2, 3}}) {
    const absl::Status status = RunConfig{.train_distribute = devices(n), .lanes = lanes}.Validate();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << n << " " << lanes;
    EXPECT_THAT(std::string(status.message()), HasSubstr("lanes = " + std::to_string(lanes) + " cannot be had with " +
                                                         std::to_string(n) + " devices"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("(train_distribute)"));
  }
  const RunConfig evaluation{.train_distribute = devices(6), .eval_distribute = devices(4), .lanes = 12};
  EXPECT_THAT(std::string(evaluation.Validate().message()), HasSubstr("4 devices"));
  EXPECT_THAT(std::string(evaluation.Validate().message()), HasSubstr("(eval_distribute)"));
}

TEST(RunConfig, ADeadlineIsATime) {
  for (double seconds : {0.0, -1.0, std::nan("")}) {
    RunConfig config{.deadline_secs = seconds};
    EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("deadline_secs must be positive, got "));
  }
  RunConfig config{.deadline_secs = 2.5, .gpu_plans = "/tmp/plans.json", .deterministic = true};
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_THAT(config.ToString(), HasSubstr("deadline_secs: 2.5, gpu_plans: /tmp/plans.json, deterministic: 1"));
}

TEST(RunConfig, GpusAreNamedWithoutAGpu) {
  RunConfig config{.train_distribute = MirroredStrategy({"gpu:0", "gpu:1"})};
  EXPECT_TRUE(config.Validate().ok()) << config.Validate();
  config.eval_distribute = OneDeviceStrategy("cpu:0");
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("both CPUs or both GPUs"));
  config.eval_distribute = std::nullopt;
  config.compile_only = true;
  EXPECT_TRUE(config.CheckDevices().ok());
  config.compile_cache = false;
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("compile_only needs compile_cache"));
  // A GPU twice is for tests.
  DistributionStrategy twice = MirroredStrategy({"gpu:0", "gpu:0"});
  EXPECT_THAT(std::string(twice.Validate().message()), HasSubstr("\"gpu:0\" is named twice"));
  twice.shared_gpus = true;
  EXPECT_TRUE(twice.Validate().ok());
}

TEST(RunConfig, CrossDeviceOpsAreRegisteredAndForCpus) {
  RunConfig config{.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"}, "HierarchicalCopyAllReduce")};
  EXPECT_TRUE(config.Validate().ok()) << config.Validate();
  EXPECT_THAT(config.ToString(), HasSubstr("MirroredStrategy(cpu:0, cpu:1; HierarchicalCopyAllReduce)"));
  config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"}, "NcclAllReduce");
  EXPECT_EQ(ExitCodeFor(config.Validate()), kExitUsage);
  EXPECT_THAT(std::string(config.Validate().message()),
              HasSubstr("MirroredStrategy: no cross-device ops are registered under \"NcclAllReduce\"; registered: "
                        "HierarchicalCopyAllReduce, ReductionToOneDevice. Call RegisterCrossDeviceOps before"));
  config.train_distribute = MirroredStrategy({"gpu:0", "gpu:1"}, "ReductionToOneDevice");
  EXPECT_THAT(std::string(config.Validate().message()),
              HasSubstr("gpu:0,gpu:1 are GPUs, and cross-device ops (\"ReductionToOneDevice\") are for CPUs"));
}

TEST(RunConfig, GradientsTravelAsFloat32OrBfloat16) {
  EXPECT_TRUE(RunConfig{.communication_dtype = DType::kBFloat16}.Validate().ok());
  EXPECT_THAT(RunConfig{.communication_dtype = DType::kBFloat16}.ToString(),
              HasSubstr("communication_dtype: bfloat16"));
  EXPECT_THAT(std::string(RunConfig{.communication_dtype = DType::kInt32}.Validate().message()),
              HasSubstr("communication_dtype must be kFloat32 or kBFloat16, got int32"));
  EXPECT_THAT(
      std::string(RunConfig{.communication_dtype = DType::kBFloat16, .precision = Precision::kStrictFloat32}
                      .Validate()
                      .message()),
      HasSubstr("communication_dtype is bfloat16, and precision strict_float32 rounds nothing to it; choose one"));
}

TEST(RunConfig, StrictFloat32RoundsNothingToTensorFloat32) {
  EXPECT_THAT(std::string(RunConfig{.precision = Precision::kStrictFloat32, .tf32 = true}.Validate().message()),
              HasSubstr("tf32 is set, and precision strict_float32 rounds nothing to it; choose one"));
}

TEST(RunConfig, GpusThatAreNotThereAreAnError) {
  FakeDriver fake({.gpus = 2});
  const RunConfig good{.train_distribute = MirroredStrategy({"gpu:0", "gpu:1"})};
  EXPECT_TRUE(good.CheckDevices().ok()) << good.CheckDevices();
  const RunConfig bad{.train_distribute = OneDeviceStrategy("gpu:2")};
  const absl::Status status = bad.CheckDevices();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("there is no gpu:2 on this machine; there are gpu:0 ("));
  EXPECT_EQ(StrategyFromFlag("auto").devices, (std::vector<std::string>{"gpu:0", "gpu:1"}));
}

// Three workers, two of them here: each takes half of the GPUs, unless a launcher has dealt them out.
TEST(RunConfig, AutoSharesGpusAmongTheWorkersOfAMachine) {
  FakeDriver fake({.gpus = 4});
  const std::vector<std::string> two = {"gpu:0", "gpu:1"}, all = {"gpu:0", "gpu:1", "gpu:2", "gpu:3"};
  setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1", "a:2"]}, "task": {"type": "worker", "index": 2}})", 1);
  EXPECT_EQ(StrategyFromFlag("auto").devices, two);
  setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7", 1);
  EXPECT_EQ(StrategyFromFlag("auto").devices, all);
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})", 1);
  EXPECT_EQ(StrategyFromFlag("auto").devices, all);
  unsetenv("TF_CONFIG");
  const std::map<std::string, std::string> torchrun = {{"RANK", "1"},        {"WORLD_SIZE", "2"},
                                                       {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "2"},
                                                       {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  for (const auto& [name, value] : torchrun) setenv(name.c_str(), value.c_str(), 1);
  EXPECT_EQ(StrategyFromFlag("auto").devices, two);
  for (const auto& [name, value] : torchrun) unsetenv(name.c_str());
}

TEST(RunConfig, AutoTakesTheCpuWithoutADriver) {
  FakeDriver fake({.gpus = 0});
  const RunConfig config{.train_distribute = OneDeviceStrategy("gpu:0")};
  EXPECT_EQ(ExitCodeFor(config.CheckDevices()), kExitUsage);
  EXPECT_EQ(StrategyFromFlag("auto").devices, (std::vector<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(StrategyFromFlag("cpu:3,cpu:1").devices, (std::vector<std::string>{"cpu:3", "cpu:1"}));
}

TEST(RunConfig, EvaluationTakesTheTrainingDevicesUnlessGiven) {
  RunConfig config{.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"})};
  EXPECT_EQ(config.eval_strategy().num_replicas(), 2);
  config.eval_distribute = OneDeviceStrategy("cpu:0");
  EXPECT_EQ(config.eval_strategy().num_replicas(), 1);
  EXPECT_TRUE(config.Validate().ok());
  config.eval_distribute = MirroredStrategy({"cpu:0", "cpu:1", "cpu:2"});
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("eval_distribute has 3 devices"));
}

TEST(Strategy, RefusesWhatIsNoDevice) {
  EXPECT_TRUE(MirroredStrategy({"cpu:0", "cpu:1", "cpu:2"}).Validate().ok());
  for (const char* bad : {"cpu", "cpu:", "cpu:-1", "cpu:x", "cpu:00", "cpu:64", "tpu:0", "", "CPU:0 "}) {
    EXPECT_FALSE(OneDeviceStrategy(bad).Validate().ok()) << bad;
  }
  EXPECT_THAT(std::string(MirroredStrategy({}).Validate().message()), HasSubstr("empty"));
}

TEST(Params, FindsByNameAndKind) {
  const Params params = {{"units", 64}, {"rate", 0.5}, {"sync", true}, {"optimizer", "adam"}};
  EXPECT_EQ(params.Int("units", 1), 64);
  EXPECT_EQ(params.Number("units", 1), 64.0);
  EXPECT_EQ(params.Number("rate", 1), 0.5);
  EXPECT_TRUE(params.Bool("sync", false));
  EXPECT_EQ(params.String("optimizer", "sgd"), "adam");
  EXPECT_EQ(params.String("none", "sgd"), "sgd");
  EXPECT_FALSE(params.Has("none"));
}

TEST(Params, HasListsAndGroups) {
  const Params params = {{"filters", std::vector<int64_t>{32, 64}},
                         {"rates", std::vector<double>{0.5, 0.25}},
                         {"names", std::vector<std::string>{"a", "b"}},
                         {"encoder", Params{{"units", 8}, {"inner", Params{{"depth", 3}}}}}};
  EXPECT_THAT(params.Ints("filters", {}), ::testing::ElementsAre(32, 64));
  EXPECT_THAT(params.Numbers("filters", {}), ::testing::ElementsAre(32.0, 64.0));
  EXPECT_THAT(params.Numbers("rates", {}), ::testing::ElementsAre(0.5, 0.25));
  EXPECT_THAT(params.Strings("names", {}), ::testing::ElementsAre("a", "b"));
  EXPECT_THAT(params.Ints("none", {1}), ::testing::ElementsAre(1));
  EXPECT_EQ(params.Int("encoder.units", 1), 8);
  EXPECT_EQ(params.Int("encoder.inner.depth", 1), 3);
  EXPECT_FALSE(params.Has("encoder"));
  EXPECT_TRUE(params.status().ok());
  constexpr SourceLocation kHere = {"model.cc", 7};
  EXPECT_THAT(params.Ints("rates", {5}, kHere), ::testing::ElementsAre(5));
  EXPECT_EQ(
      params.status().message(),
      "Params: \"rates\" is a list of numbers, [0.5, 0.25], and model.cc:7 asks for a list of integers; give it as "
      "that kind");
  EXPECT_EQ(params.UnreadText(), "");
}

TEST(Params, AValueOfAnotherKindIsAnError) {
  const Params params = {{"units", "64"}, {"rate", 0.5}, {"sync", 1}, {"optimizer", true}};
  const auto message = [](const std::function<void(const Params&)>& ask, const Params& values) {
    const Params fresh = values.WithoutErrors();
    ask(fresh);
    EXPECT_TRUE(values.status().ok());
    return std::string(fresh.status().message());
  };
  constexpr SourceLocation kHere = {"model.cc", 7};
  EXPECT_EQ(message([&](const Params& p) { EXPECT_EQ(p.Int("units", 3, kHere), 3); }, params),
            "Params: \"units\" is the string \"64\", and model.cc:7 asks for an integer; give it as that kind");
  EXPECT_EQ(message([&](const Params& p) { EXPECT_EQ(p.Int("rate", 3, kHere), 3); }, params),
            "Params: \"rate\" is the number 0.5, and model.cc:7 asks for an integer; give it as that kind");
  EXPECT_EQ(message([&](const Params& p) { EXPECT_EQ(p.Number("optimizer", 2, kHere), 2); }, params),
            "Params: \"optimizer\" is the bool true, and model.cc:7 asks for a number; give it as that kind");
  EXPECT_EQ(message([&](const Params& p) { EXPECT_FALSE(p.Bool("sync", false, kHere)); }, params),
            "Params: \"sync\" is the integer 1, and model.cc:7 asks for a bool; give it as that kind");
  EXPECT_EQ(message([&](const Params& p) { EXPECT_EQ(p.String("rate", "a", kHere), "a"); }, params),
            "Params: \"rate\" is the number 0.5, and model.cc:7 asks for a string; give it as that kind");
  // A copy tells its original, and the first error stays.
  const Params fresh = params.WithoutErrors(), copy = fresh;
  copy.Int("units", 0, kHere);
  fresh.Bool("rate", false, kHere);
  EXPECT_EQ(fresh.status(), copy.status());
  EXPECT_THAT(std::string(fresh.status().message()), HasSubstr("\"units\""));
}

TEST(UnfinishedMarker, RoundTripsAndReportsDamage) {
  Env* env = Env::Default();
  const std::string dir = TempPath("unfinished");
  ASSERT_TRUE(env->CreateDirs(dir).ok());
  EXPECT_EQ(RemoveUnfinishedMarker(env, dir), absl::OkStatus());
  EXPECT_EQ(ReadUnfinishedMarker(env, dir).value(), std::nullopt);
  ASSERT_EQ(WriteUnfinishedMarker(env, dir, 22), absl::OkStatus());
  EXPECT_EQ(ReadUnfinishedMarker(env, dir).value(), 22);
  ASSERT_TRUE(env->WriteFile(dir + "/UNFINISHED", {"{}"}).ok());
  EXPECT_EQ(ReadUnfinishedMarker(env, dir).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(RemoveUnfinishedMarker(env, dir), absl::OkStatus());
  EXPECT_FALSE(env->Exists(dir + "/UNFINISHED"));
}

TEST(DoneMarker, RoundTripsAndReportsDamage) {
  Env* env = Env::Default();
  const std::string dir = TempPath("done");
  ASSERT_TRUE(env->CreateDirs(dir).ok());
  EXPECT_FALSE((*ReadDoneMarker(env, dir)).has_value());
  ASSERT_TRUE(WriteDoneMarker(env, dir, {.final_step = 22, .reason = "max_steps"}).ok());
  auto marker = ReadDoneMarker(env, dir);
  ASSERT_TRUE(marker.ok() && marker->has_value());
  EXPECT_EQ((*marker)->final_step, 22);
  EXPECT_EQ((*marker)->reason, "max_steps");
  EXPECT_TRUE(RemoveDoneMarker(env, dir).ok());
  EXPECT_TRUE(RemoveDoneMarker(env, dir).ok());
  EXPECT_FALSE((*ReadDoneMarker(env, dir)).has_value());
  ASSERT_TRUE(env->WriteFile(dir + "/DONE", {"{\"final_step\": \"x\"}"}).ok());
  EXPECT_EQ(ReadDoneMarker(env, dir).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tandem
