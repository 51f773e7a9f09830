#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "cluster/environment.h"
#include "cluster/resolver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/launch/layout.h"
#include "tools/launch/line_prefixer.h"
#include "tools/launch/options.h"
#include "tools/launch/outcome.h"
#include "tools/launch/ports.h"
#include "tools/launch/restarts.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

// Of a launcher that was itself started by all the others.
std::map<std::string, std::string> Inherited() {
  return {{"HOME", "/home"},
          {"TF_CONFIG", "{"},
          {"RANK", "7"},
          {"WORLD_SIZE", "9"},
          {"LOCAL_RANK", "7"},
          {"MASTER_ADDR", "a"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          {"OMPI_COMM_WORLD_RANK", "5"},
          {"OMPI_COMM_WORLD_SIZE", "6"},
          {"PMI_RANK", "3"},
          {"PMI_SIZE", "4"},
          {"JAX_PROCESS_ID", "1"},
          {"JAX_NUM_PROCESSES", "3"},
          {"SLURM_JOB_ID", "17"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", "3"},
          {"SLURM_STEP_NUM_TASKS", "8"},
          {"TANDEM_NUM_PROCESSES", "4"},
          {"JOB_COMPLETION_INDEX", "2"},
          {"TANDEM_RESTART_COUNT", "8"},
          {"TANDEM_TLS_KEY", "/tls/key"}};
}

std::vector<int> Ports(const Layout& layout) {
  std::vector<int> ports;
  for (int i = 0; i < NumPorts(layout); ++i) ports.push_back(2000 + i);
  return ports;
}

std::optional<Cluster> Resolved(const Layout& layout, int64_t index) {
  const absl::StatusOr<std::optional<Cluster>> cluster =
      ResolveCluster(Environment(TaskEnvironment(Inherited(), layout, Ports(layout), index, 2)));
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return cluster.ok() ? *cluster : std::nullopt;
}

TEST(LaunchLayout, TasksResolveToThemselves) {
  for (const Layout& layout : {Layout{Variables::kTfConfig, 4}, Layout{Variables::kTorchrun, 4},
                               Layout{Variables::kTfConfig, 3, 2}, Layout{Variables::kTfConfig, 1, 1, true},
                               Layout{Variables::kTfConfig, 1, 0, true}, Layout{Variables::kTfConfig, 2, 0, true}}) {
    const std::vector<Task> tasks = TasksOf(layout);
    ASSERT_EQ(tasks.size(), layout.workers + layout.parameter_servers + layout.evaluator);
    for (size_t i = 0; i < tasks.size(); ++i) {
      SCOPED_TRACE(absl::StrCat(Label(tasks[i]), " of ", tasks.size()));
      const std::optional<Cluster> cluster = Resolved(layout, i);
      ASSERT_TRUE(cluster.has_value());
      EXPECT_EQ(cluster->world_size, layout.workers);
      EXPECT_EQ(cluster->rank, i < layout.workers ? static_cast<int64_t>(i) : -1);
      EXPECT_EQ(cluster->coordinator, "127.0.0.1:2000");
      if (layout.variables == Variables::kTorchrun) {
        EXPECT_EQ(cluster->local_rank, i);
        EXPECT_EQ(cluster->local_world_size, layout.workers);
        continue;
      }
      EXPECT_EQ(Name(cluster->task.type), Name(tasks[i].type));
      EXPECT_EQ(cluster->task.index, tasks[i].index);
      EXPECT_EQ(cluster->addresses.at(tasks[i].type).at(tasks[i].index), absl::StrCat("127.0.0.1:", 2000 + i));
    }
  }
}

TEST(LaunchLayout, OneWorkerIsAloneWhateverTheLauncherInherits) {
  EXPECT_FALSE(Resolved({Variables::kTfConfig, 1}, 0).has_value());
  EXPECT_FALSE(Resolved({Variables::kTorchrun, 1}, 0).has_value());
}

TEST(LaunchLayout, KeepsOtherVariablesAndCountsRestarts) {
  const Layout layout = {Variables::kTfConfig, 2};
  const auto environment = TaskEnvironment(Inherited(), layout, Ports(layout), 1, 2);
  EXPECT_EQ(environment.at("HOME"), "/home");
  EXPECT_EQ(environment.at("SLURM_JOB_ID"), "17");
  EXPECT_EQ(environment.at("TANDEM_RESTART_COUNT"), "2");
  EXPECT_EQ(environment.at("TANDEM_TLS_KEY"), "/tls/key");
  EXPECT_EQ(environment.size(), 5) << "HOME, SLURM_JOB_ID, TANDEM_RESTART_COUNT, TANDEM_TLS_KEY, TF_CONFIG";
}

TEST(LaunchLayout, TellsOfWorkersThatAreMissing) {
  Layout layout = {Variables::kTfConfig, 2};
  layout.full_workers = 4;
  std::map<std::string, std::string> inherited = Inherited();
  inherited["TANDEM_FULL_WORLD_SIZE"] = "8";
  EXPECT_EQ(TaskEnvironment(inherited, layout, Ports(layout), 1, 2).at("TANDEM_FULL_WORLD_SIZE"), "4");
  layout.workers = 4;
  EXPECT_FALSE(TaskEnvironment(inherited, layout, Ports(layout), 1, 2).contains("TANDEM_FULL_WORLD_SIZE"));
  EXPECT_EQ(FewerWorkers(12, 12), 6);
  EXPECT_EQ(FewerWorkers(4, 12), 3);
  EXPECT_EQ(FewerWorkers(1, 12), 0);
  EXPECT_EQ(MoreWorkers(4, 12), 6);
  EXPECT_EQ(MoreWorkers(12, 12), 0);
}

TEST(LaunchLayout, AChiefThereIsWithParameterServersOnly) {
  EXPECT_EQ(Label(TasksOf({Variables::kTfConfig, 2})[0]), "worker 0");
  EXPECT_EQ(Label(TasksOf({Variables::kTfConfig, 2, 1})[0]), "chief 0");
  EXPECT_EQ(Label(TasksOf({Variables::kTfConfig, 2, 1})[1]), "worker 0");
}

TEST(LaunchPorts, AreDistinct) {
  const absl::StatusOr<std::vector<int>> ports = FreePorts(1000);
  ASSERT_TRUE(ports.ok()) << ports.status();
  EXPECT_EQ(std::set<int>(ports->begin(), ports->end()).size(), 1000);
}

std::string Prefixed(const std::vector<std::string>& pieces) {
  LinePrefixer lines("[a] ");
  std::string out;
  for (const std::string& piece : pieces) lines.Add(piece, &out);
  lines.Finish(&out);
  return out;
}

TEST(LinePrefixer, PrefixesWholeLines) {
  EXPECT_EQ(Prefixed({}), "");
  EXPECT_EQ(Prefixed({"one\ntw", "o", "\n", "\n"}), "[a] one\n[a] two\n[a] \n");
  EXPECT_EQ(Prefixed({"partial"}), "[a] partial\n");
  const std::string binary("\0\xff\r\n\x1b", 5);
  EXPECT_EQ(Prefixed({binary}), "[a] " + binary.substr(0, 4) + "[a] \x1b\n");
}

TEST(LinePrefixer, NamesATaskOnce) {
  EXPECT_EQ(Prefixed({"I0131 12:00:00 a.cc:1] [a] one [a] two\n"}), "[a] I0131 12:00:00 a.cc:1] one [a] two\n");
  EXPECT_EQ(Prefixed({"I0131 12:00:00 a.cc:1] [b] one\n"}), "[a] I0131 12:00:00 a.cc:1] [b] one\n");
  EXPECT_EQ(Prefixed({"[a] one\n"}), "[a] [a] one\n");  // what is no line of the log
}

TEST(LinePrefixer, KeepsALineUntilItIsComplete) {
  LinePrefixer lines("");
  std::string out;
  lines.Add("one\ntw", &out);
  EXPECT_EQ(out, "one\n");
}

TEST(LinePrefixer, DividesVeryLongLines) {
  const std::string longest(LinePrefixer::kLongestLine, 'x');
  EXPECT_EQ(Prefixed({longest, "\n"}), "[a] " + longest + "\n");
  EXPECT_EQ(Prefixed({longest + "\n"}), "[a] " + longest + "\n");
  EXPECT_EQ(Prefixed({longest + "yz\n"}), "[a] " + longest + "\n[a] yz\n");
  EXPECT_EQ(Prefixed({"ab", longest, "c"}), "[a] ab" + longest.substr(2) + "\n[a] xxc\n");
  EXPECT_EQ(Prefixed({longest + longest}), "[a] " + longest + "\n[a] " + longest + "\n");
}

TaskEnd End(int64_t index, int code, int signal = 0, double seconds = 0, bool stopped = false) {
  return {.task = {TaskType::kWorker, index},
          .pid = static_cast<pid_t>(100 + index),
          .code = code,
          .signal = signal,
          .seconds = seconds,
          .stopped = stopped};
}

TEST(LaunchOutcome, TheFirstFailureIsTheCause) {
  EXPECT_EQ(FindCause({End(0, 0), End(1, 143, 0, 1, true)}), std::nullopt);
  EXPECT_EQ(FindCause({End(0, 1, 0, 5), End(1, 2, 0, 4), End(2, 0, 0, 3)}), 1);
  EXPECT_EQ(FindCause({End(0, 0, 9, 5), End(1, 2, 0, 5.1)}), 0);
}

TEST(LaunchOutcome, ALostPeerIsAConsequence) {
  EXPECT_EQ(FindCause({End(0, 75, 0, 5), End(1, 0, 9, 5.5)}), 1);
  EXPECT_EQ(FindCause({End(0, 75, 0, 5), End(1, 65, 0, 5.9), End(2, 0, 11, 5.8)}), 2);
  EXPECT_EQ(FindCause({End(0, 75, 0, 5), End(1, 1, 0, 7)}), 0) << "a second later it is something else";
  EXPECT_EQ(FindCause({End(0, 75, 0, 5), End(1, 0, 9, 5.5, true)}), 0) << "the launcher killed it";
  EXPECT_EQ(FindCause({End(0, 75, 0, 5), End(1, 75, 0, 4)}), 1);
}

TEST(LaunchOutcome, SaysWhatHappened) {
  EXPECT_EQ(Summary({End(0, 75), End(1, 75, 0, 1, true), End(2, 0, 9), End(3, 75), End(4, 0), End(5, 0, 15, 1, true),
                     End(6, 0, 9, 1, true), End(7, 3, 0, 1, true)},
                    2),
            "worker 2 (pid 102) was killed by signal 9 (SIGKILL); worker 0, 1, 3 exited with code 75 because of it; "
            "worker 5 was stopped; worker 6 was killed, not having ended in time; worker 7 exited with code 3 when it "
            "was stopped");
  EXPECT_THAT(Summary({End(0, 1), End(1, 143, 0, 1, true), End(2, 0, 15, 1, true)}, 0),
              HasSubstr("; worker 1, 2 were stopped"));
  EXPECT_EQ(Summary({End(0, 75), End(1, 75)}, 0),
            "worker 0 (pid 100) exited with code 75; worker 1 exited with code 75");
  std::vector<TaskEnd> many = {End(0, 1)};
  for (int i = 1; i < 100; ++i) many.push_back(End(i, 75));
  EXPECT_THAT(Summary(many, 0), HasSubstr("15, 16 and 83 more exited with code 75"));
}

TEST(LaunchRestarts, OnlyAfterTemporaryFailures) {
  for (int code : {1, 75, 134, 137, 139, 143}) EXPECT_TRUE(IsTemporary(End(0, code))) << code;
  for (int code : {2, 65, 66, 70, 74, 126, 127, 3, 130}) EXPECT_FALSE(IsTemporary(End(0, code))) << code;
  EXPECT_TRUE(IsTemporary(End(0, 0, 9)));
  EXPECT_EQ(Restarts(0, std::nullopt, 4).AfterFailure(End(0, 75), 0, 4).text, "");
  Restarts restarts(2, std::nullopt, 4);
  const Restarts::Next permanent = restarts.AfterFailure(End(0, 65), 0, 4);
  EXPECT_FALSE(permanent.start);
  EXPECT_THAT(permanent.text, HasSubstr("exit code 65 is permanent"));
  EXPECT_EQ(restarts.AfterFailure(End(0, 75), std::nullopt, 4).text, "restart 1 of 2 with 4 workers, 1 left");
  EXPECT_TRUE(restarts.AfterFailure(End(0, 75), std::nullopt, 4).start);
  EXPECT_EQ(restarts.AfterFailure(End(0, 75), std::nullopt, 4).text, "not started again: no restart of 2 is left");
}

TEST(LaunchRestarts, LeaveOutAWorkerThatFailsTwice) {
  Restarts restarts(100, 2, 12);
  const auto workers_after = [&](std::optional<int64_t> rank, int64_t workers) {
    return restarts.AfterFailure(End(rank.value_or(0), 1), rank, workers).workers;
  };
  EXPECT_EQ(workers_after(1, 12), 12);
  EXPECT_EQ(workers_after(2, 12), 12);
  EXPECT_EQ(workers_after(2, 12), 6) << "the next that 12 workers' work can be dealt out to";
  EXPECT_EQ(workers_after(2, 6), 6) << "it may be another one now";
  EXPECT_EQ(workers_after(2, 6), 4);
  EXPECT_EQ(workers_after(1, 2), 2);
  EXPECT_EQ(workers_after(1, 2), 2) << "min_workers";
  EXPECT_EQ(workers_after(std::nullopt, 4), 4);
  EXPECT_EQ(workers_after(std::nullopt, 4), 4) << "no worker's own failure";
  EXPECT_EQ(workers_after(1, 4), 4);
  restarts.Forget();
  EXPECT_EQ(workers_after(1, 4), 4);
}

TEST(LaunchOptions, WhatCannotBeIsSaid) {
  const auto error = [](const auto& change) {
    LaunchOptions options = {.layout = {Variables::kTfConfig, 4}, .command = {"program"}};
    change(options);
    const absl::Status status = CheckOptions(options);
    EXPECT_EQ(ExitCodeFor(status), status.ok() ? kExitOk : kExitUsage);
    return std::string(status.message());
  };
  EXPECT_EQ(error([](LaunchOptions&) {}), "");
  EXPECT_EQ(error([](LaunchOptions& o) { o.layout.workers = 0; }), "-n (--workers) is 0; it may be from 1 to 1024");
  EXPECT_THAT(error([](LaunchOptions& o) { o.layout.workers = 1025; }), HasSubstr("is 1025"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.min_workers = 5; }), HasSubstr("it may be from 1 to 4"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.min_workers = 0; }), HasSubstr("--min_workers is 0"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.layout = {Variables::kTorchrun, 4, 1}; }), HasSubstr("--ps needs"));
  EXPECT_THAT(error([](LaunchOptions& o) {
                o.layout = {Variables::kTorchrun, 4, 0, true};
              }),
              HasSubstr("--evaluator needs --environment=tf_config"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.layout.parameter_servers = -1; }), HasSubstr("--ps is -1"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.max_restarts = -1; }), HasSubstr("--max_restarts is -1"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.grace_seconds = -1; }), HasSubstr("--grace_seconds is -1"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.grace_seconds = std::nan(""); }), HasSubstr("--grace_seconds is nan"));
  EXPECT_THAT(error([](LaunchOptions& o) { o.command = {}; }), HasSubstr("no program to start"));
  EXPECT_THAT(std::string(ParseVariables("tf_confg").status().message()), HasSubstr("did you mean tf_config?"));
}

}  // namespace
}  // namespace tandem
