// Clusters as users, operators and launchers describe them; and descriptions that are wrong.
#include "cluster/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cluster/launchers.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

Variables TfConfig(std::string text) { return {{"TF_CONFIG", std::move(text)}}; }

struct Good {
  const char* name;
  Variables variables;
  std::string text;  // of the cluster; empty where the process trains by itself
};

class DescribedClusters : public testing::TestWithParam<Good> {};

TEST_P(DescribedClusters, AreResolved) {
  const auto cluster = ResolveCluster(Environment(GetParam().variables));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->has_value() ? (*cluster)->Text() : "", GetParam().text);
}

std::vector<Good> GoodOnes() {
  const std::string four = R"("chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"])";
  const auto task = [](const std::string& cluster, const std::string& type, int index) {
    return TfConfig("{\"cluster\": {" + cluster + "}, \"task\": {\"type\": \"" + type +
                    "\", \"index\": " + std::to_string(index) + "}}");
  };
  const Variables torchrun = {{"RANK", "3"},
                              {"WORLD_SIZE", "4"},
                              {"LOCAL_RANK", "1"},
                              {"LOCAL_WORLD_SIZE", "2"},
                              {"MASTER_ADDR", "10.0.0.1"},
                              {"MASTER_PORT", "29500"}};
  const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                              {"OMPI_COMM_WORLD_SIZE", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  const Variables slurm = {{"SLURM_PROCID", "1"},
                           {"SLURM_NTASKS", "4"},
                           {"SLURM_STEP_NUM_TASKS", "2"},
                           {"SLURM_LOCALID", "0"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_JOB_ID", "7"},
                           {"SLURM_STEP_NODELIST", "node[03-04,7],x1"}};
  const auto with = [](Variables a, const Variables& b) {
    for (const auto& [name, value] : b) a[name] = value;
    return a;
  };
  return {
      {"Nothing", {}, ""},
      {"EmptyVariables", {{"TF_CONFIG", ""}, {"WORLD_SIZE", ""}}, ""},
      {"EmptyTfConfig", TfConfig("{}"), ""},
      {"EmptyCluster", TfConfig(R"({"cluster": {}, "task": {}})"), ""},
      {"WorkerZeroWithoutCluster", TfConfig(R"({"task": {"type": "worker", "index": 0}})"), ""},
      {"OtherKeys", TfConfig(R"({"model_dir": "/m", "rpc_layer": "grpc", "service": {}, "environment": "cloud"})"), ""},
      {"OneWorker", task(R"("worker": ["w:1"])", "worker", 0), ""},
      {"WorkerOne", task(R"("worker": ["a:1", "b:2"])", "worker", 1),
       "worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"WorkerZeroIsTheChief", task(R"("worker": ["a:1", "b:2"])", "worker", 0),
       "worker 0, rank 0 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"Chief", task(four, "chief", 0), "chief 0, rank 0 of 3, rank 0 at c:1, by TF_CONFIG"},
      {"WorkerBehindAChief", task(four, "worker", 1), "worker 1, rank 2 of 3, rank 0 at c:1, by TF_CONFIG"},
      {"ParameterServer", task(four, "ps", 0), "ps 0, rank 0 at c:1, by TF_CONFIG"},
      {"EvaluatorThatIsNotListed", task(four, "evaluator", 0), "evaluator 0, rank 0 at c:1, by TF_CONFIG"},
      {"EvaluatorThatIsListed", task(R"("worker": ["w:1"], "evaluator": ["e:1"])", "evaluator", 0),
       "evaluator 0, rank 0 at w:1, by TF_CONFIG"},
      {"OneWorkerWithAnEvaluator", task(R"("worker": ["w:1"], "evaluator": ["e:1"])", "worker", 0),
       "worker 0, rank 0 of 1, rank 0 at w:1, by TF_CONFIG"},
      {"Master", task(R"("master": ["m:1"], "worker": ["w:1"])", "master", 0),
       "chief 0, rank 0 of 2, rank 0 at m:1, by TF_CONFIG"},
      {"EmptyListsAreNoTasks", task(R"("chief": [], "worker": ["a:1", "b:2"], "ps": [], "evaluator": [])", "worker", 1),
       "worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"AChiefWithoutWorkers", task(R"("chief": ["c:1"], "worker": [], "ps": ["p:1"])", "chief", 0),
       "chief 0, rank 0 of 1, rank 0 at c:1, by TF_CONFIG"},
      {"OneWorkerWithoutServers", task(R"("worker": ["w:1"], "ps": [])", "worker", 0), ""},
      {"AMasterBesideEmptyLists",
       task(R"("master": ["m:1"], "chief": [], "evaluator": [], "worker": ["w:1"])", "master", 0),
       "chief 0, rank 0 of 2, rank 0 at m:1, by TF_CONFIG"},
      {"AByteOrderMark",
       TfConfig("\xef\xbb\xbf"
                R"({"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}})"),
       "worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"IndexAsAString",
       TfConfig(R"({"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": "1"}})"),
       "worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"Ipv6", task(R"("worker": ["[::1]:1", "[fe80::1%eth0]:2"])", "worker", 1),
       "worker 1, rank 1 of 2, rank 0 at [::1]:1, by TF_CONFIG"},
      {"Torchrun", torchrun,
       "worker 2, rank 3 of 4, local rank 1 of 2, rank 0 at 10.0.0.1:29500, by torchrun (RANK, WORLD_SIZE)"},
      {"TorchrunIpv6", with(torchrun, {{"MASTER_ADDR", "::1"}}),
       "worker 2, rank 3 of 4, local rank 1 of 2, rank 0 at [::1]:29500, by torchrun (RANK, WORLD_SIZE)"},
      {"TorchrunOfOne", {{"RANK", "0"}, {"WORLD_SIZE", "1"}}, ""},
      {"ARankAlone", {{"RANK", "7"}}, ""},
      {"OpenMpi", open_mpi,
       "worker 0, rank 1 of 2, local rank 1 of 2, by Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)"},
      {"OpenMpiInsideOfSlurm", with(with(open_mpi, slurm), {{"SLURM_PROCID", "0"}}),
       "worker 0, rank 1 of 2, local rank 1 of 2, by Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)"},
      {"OpenMpiAndTfConfigAgree", with(open_mpi, task(R"("worker": ["a:1", "b:2"])", "worker", 1)),
       "worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG"},
      {"AParameterServerUnderALauncher", with(open_mpi, task(four, "ps", 0)), "ps 0, rank 0 at c:1, by TF_CONFIG"},
      {"Pmi",
       {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"TANDEM_COORDINATOR", "h:5"}},
       "chief 0, rank 0 of 2, rank 0 at h:5, by PMI (PMI_RANK, PMI_SIZE)"},
      {"Jax",
       {{"JAX_PROCESS_ID", "1"}, {"JAX_NUM_PROCESSES", "2"}, {"JAX_COORDINATOR_ADDRESS", "h:5"}},
       "worker 0, rank 1 of 2, rank 0 at h:5, by JAX (JAX_PROCESS_ID, JAX_NUM_PROCESSES)"},
      {"Slurm", slurm,
       "worker 0, rank 1 of 2, local rank 0, rank 0 at node03:10217, by Slurm (SLURM_PROCID, SLURM_STEP_NUM_TASKS)"},
      {"PmiOfSlurm", with(slurm, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}),
       "worker 0, rank 1 of 2, local rank 0, rank 0 at node03:10217, by Slurm (SLURM_PROCID, SLURM_STEP_NUM_TASKS)"},
      {"PmiOfAnotherLauncherInsideOfSlurm", with(slurm, {{"PMI_RANK", "3"}, {"PMI_SIZE", "8"}}),
       "worker 2, rank 3 of 8, by PMI (PMI_RANK, PMI_SIZE)"},
      {"AScriptOfSlurm", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}, ""},
      {"Kubernetes",
       {{"JOB_COMPLETION_INDEX", "2"}, {"TANDEM_NUM_PROCESSES", "3"}, {"TANDEM_COORDINATOR", "job-0.svc:2222"}},
       "worker 1, rank 2 of 3, rank 0 at job-0.svc:2222, by Kubernetes (JOB_COMPLETION_INDEX, TANDEM_NUM_PROCESSES)"},
      {"AnIndexedJobOfSingleRuns", {{"JOB_COMPLETION_INDEX", "2"}}, ""},
  };
}

INSTANTIATE_TEST_SUITE_P(All, DescribedClusters, testing::ValuesIn(GoodOnes()),
                         [](const auto& info) { return info.param.name; });

struct Bad {
  Variables variables;
  std::vector<std::string> messages;  // of each line
};

std::string Cluster2(const std::string& cluster, const std::string& task) {
  return "{\"cluster\": " + cluster + ", \"task\": " + task + "}";
}
std::string OfTask(const std::string& task) { return Cluster2(R"({"worker": ["a:1", "b:1"]})", task); }
std::string OfJobs(const std::string& jobs) { return Cluster2(jobs, R"({"type": "worker", "index": 0})"); }
std::string OfWorkers(const std::string& workers) { return OfJobs("{\"worker\": " + workers + "}"); }

// By the line that is expected, each alone.
std::vector<Bad> BadTfConfigs() {
  const std::string worker0 = R"({"type": "worker", "index": 0})";
  std::vector<std::pair<std::string, std::string>> table = {
      {"worker", "is no JSON from byte 0 on: \"worker\""},
      {R"({"cluster": )", "is no JSON from byte 12 on: \"\""},
      {R"({"cluster": {}} x)", "is no JSON from byte 16 on: \"x\""},
      {R"({'cluster': {}})", "is no JSON from byte 1 on"},
      {"\xff\xfe{}", ": at byte 0: the byte order mark of UTF-16LE (ff fe), and text must be UTF-8"},
      {"\x01", "is no JSON from byte 0 on: \"\\x01\""},
      {"\"\xff\"", "is no JSON from byte 1 on"},
      {std::string(200000, '[') + std::string(200000, ']'), "nests deeper than 64 lists and objects"},
      {R"({"task": {"type": "worker", "index": 1e999}})", "has a number that is too large"},
      {"[]", "is []; it must be an object with the keys cluster and task"},
      {"null", "is null; it must be an object"},
      {"\"cluster\"", "is \"cluster\"; it must be an object"},
      {R"({"clusters": {}})", R"(has the key "clusters"; did you mean "cluster"?)"},
      {R"({"taks": {}})", R"(has the key "taks"; did you mean "task"?)"},
      {R"({"task": {}, "task": {}})", R"(has the key "task" twice in one object)"},
      {Cluster2(R"({"worker": ["a:1"], "worker": ["b:1"]})", worker0), R"(has the key "worker" twice in one object)"},
      {Cluster2("[]", worker0), ": cluster is []; it must be an object of jobs with lists of addresses"},
      {Cluster2("\"a:1\"", worker0), ": cluster is \"a:1\"; it must be an object of jobs"},
      {OfJobs(R"({"worker": ["a:1", "b:1"], "wroker": ["c:1"]})"),
       ": cluster.wroker is no job (did you mean worker?); jobs are"},
      {OfJobs(R"({"worker": ["a:1", "b:1"], "dealer": ["c:1"]})"), ": cluster.dealer is no job; jobs are chief"},
      {OfWorkers("[]"), ": cluster has jobs without any address; name the address of a worker at least"},
      {Cluster2(R"({"chief": [], "ps": []})", R"({"type": "chief", "index": 0})"), ": cluster has jobs without any"},
      {Cluster2(R"({"worker": [], "ps": ["a:1"]})", R"({"type": "ps", "index": 0})"),
       ": cluster has parameter servers and neither chief nor worker"},
      {OfJobs(R"({"chief": ["a:1"], "worker": []})"), ": task.type is worker, which the cluster does not have"},
      {OfWorkers("{}"), ": cluster.worker is {}; it must be a list"},
      {OfWorkers("\"a:1\""), ": cluster.worker is \"a:1\"; it must be a list"},
      {OfWorkers("null"), ": cluster.worker is null; it must be a list"},
      {OfWorkers("[1, \"a:1\"]"), ": cluster.worker[0] is 1; it must be a string HOST:PORT"},
      {OfWorkers(R"(["a:1", "b"])"), R"(: cluster.worker[1] is "b": it has no port: HOST:PORT)"},
      {OfWorkers(R"(["a:1", ""])"), R"(: cluster.worker[1] is "": it has no port)"},
      {OfWorkers(R"(["a:1", ":1"])"), R"(: cluster.worker[1] is ":1": it has no host: HOST:PORT)"},
      {OfWorkers(R"(["a:1", "b:"])"), R"("b:": its port is no number from 1 to 65535)"},
      {OfWorkers(R"(["a:1", "b:0"])"), R"("b:0": its port is no number from 1 to 65535)"},
      {OfWorkers(R"(["a:1", "b:65536"])"), R"("b:65536": its port is no number)"},
      {OfWorkers(R"(["a:1", "b:-1"])"), R"("b:-1": its port is no number)"},
      {OfWorkers(R"(["a:1", "b:x"])"), R"("b:x": its port is no number)"},
      {OfWorkers(R"(["a:1", "b: 1"])"), R"("b: 1": its port is no number)"},
      {OfWorkers(R"(["a:1", "grpc://b:1"])"), R"("grpc://b:1": an address has no scheme: HOST:PORT)"},
      {OfWorkers(R"(["a:1", "b c:1"])"), R"("b c:1": its host has a character that no name has)"},
      {OfWorkers(R"(["a:1", "::1:1"])"), R"("::1:1": an IPv6 address stands in brackets: [HOST]:PORT)"},
      {OfWorkers(R"(["a:1", "[::g]:1"])"), R"("[::g]:1": what is in brackets is no IPv6 address)"},
      {OfWorkers(R"(["a:1", "[::1:1"])"), R"("[::1:1": what is in brackets is no IPv6 address)"},
      {OfWorkers(R"(["a:1", "a:1"])"), R"(: cluster.worker[1] is "a:1", as cluster.worker[0] is)"},
      {OfJobs(R"({"ps": ["a:1"], "worker": ["b:1", "a:1"]})"), R"("a:1", as cluster.ps[0] is)"},
      {OfJobs(R"({"chief": ["a:1", "b:1"], "worker": ["c:1"]})"),
       ": cluster.chief has 2 addresses; there is one at most"},
      {OfJobs(R"({"worker": ["c:1"], "evaluator": ["a:1", "b:1"]})"), ": cluster.evaluator has 2 addresses"},
      {OfJobs(R"({"chief": ["a:1"], "master": ["b:1"], "worker": ["c:1"]})"),
       ": cluster has a chief and a master; leave one of them"},
      {OfJobs(R"({"master": ["b:1"], "worker": ["c:1"], "evaluator": ["e:1"]})"),
       ": cluster has a master and an evaluator; call the master chief"},
      {Cluster2(R"({"ps": ["a:1"]})", R"({"type": "ps", "index": 0})"),
       ": cluster has parameter servers and neither chief nor worker"},
      {Cluster2(R"({"evaluator": ["a:1"]})", R"({"type": "evaluator", "index": 0})"),
       ": cluster has an evaluator and neither chief nor worker"},
      {R"({"cluster": {"worker": ["a:1", "b:1"]}})", ": task is missing: it must say which task of the cluster"},
      {OfTask("[]"), ": task is []; it must be an object with the keys type and index"},
      {OfTask("\"worker\""), ": task is \"worker\"; it must be an object"},
      {OfTask(R"({"index": 0})"), ": task.type is missing: chief, worker, ps or evaluator"},
      {OfTask(R"({"type": "worker"})"), ": task.index is missing: the place of this process"},
      {OfTask(R"({"type": "slave", "index": 0})"),
       R"(: task.type is "slave"; it must be chief, worker, ps or evaluator)"},
      {OfTask(R"({"type": 1, "index": 0})"), ": task.type is 1; it must be"},
      {OfTask(R"({"type": "worker", "index": -1})"), ": task.index is -1; it must be a whole number from 0 on"},
      {OfTask(R"({"type": "worker", "index": 1.0})"), ": task.index is 1.0; it must be a whole number"},
      {OfTask(R"({"type": "worker", "index": true})"), ": task.index is true; it must be a whole number"},
      {OfTask(R"({"type": "worker", "index": "one"})"), ": task.index is \"one\"; it must be a whole number"},
      {OfTask(R"({"type": "worker", "index": 18446744073709551615})"), ": task.index is 18446744073709551615; it must"},
      {OfTask(R"({"type": "worker", "index": 2})"), ": task.index is 2, and cluster.worker has 2 addresses, from 0 on"},
      {OfTask(R"({"type": "chief", "index": 0})"),
       ": task.type is chief, which the cluster does not have; it has worker"},
      {OfTask(R"({"type": "ps", "index": 0})"), ": task.type is ps, which the cluster does not have"},
      {OfTask(R"({"type": "evaluator", "index": 1})"), ": task.index is 1; there is one evaluator at most"},
      {Cluster2(R"({"chief": ["a:1"], "worker": ["b:1"]})", R"({"type": "chief", "index": 1})"),
       ": task.index is 1, and cluster.chief has 1 address, from 0 on"},
      {R"({"task": {"type": "worker", "index": 1}})", ": task is worker 1, and there is no cluster"},
      {R"({"task": {"type": "ps", "index": 0}})", ": task is ps 0, and there is no cluster"},
      {R"({"task": {"type": "chief", "index": 0}})",
       ": task is chief 0, and there is no cluster; without one it is worker 0, and trains alone"},
      {R"({"cluster": {}, "task": {"type": "master", "index": 0}})", ": task is master 0, and there is no cluster"},
      // As Kubeflow writes it for a TFJob with enableDynamicWorker.
      {R"({"sparseCluster": {"worker": {"0": "w-0:1"}, "ps": ["p-0:1"]}, "task": {"type": "worker", "index": 0}})",
       ": sparseCluster names only some of the tasks"},
      {R"({"sparseCluster": {"worker": {"1": "w-1:1"}, "ps": []}, "task": {"type": "worker", "index": 1}})",
       "set enableDynamicWorker to false in the TFJob"},
  };
  std::vector<Bad> cases;
  for (const auto& [text, message] : table) cases.push_back({TfConfig(text), {message}});
  return cases;
}

std::vector<Bad> BadLaunchers() {
  const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  const auto with = [](Variables a, const Variables& b) {
    for (const auto& [name, value] : b) a[name] = value;
    return a;
  };
  const Variables slurm = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "0"}, {"SLURM_JOB_ID", "7"}};
  return {
      {{{"WORLD_SIZE", "2"}}, {"RANK is not set", "MASTER_ADDR is not set", "MASTER_PORT is not set"}},
      {{{"WORLD_SIZE", "two"}, {"RANK", "0"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}},
       {"torchrun: WORLD_SIZE is \"two\", which is no whole number"}},
      {{{"WORLD_SIZE", "0"}, {"RANK", "0"}}, {"WORLD_SIZE is 0, which is not in [1, 1048576]"}},
      {{{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}},
       {"RANK is 2 and WORLD_SIZE is 2; ranks count from 0 on"}},
      {{{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_ADDR", "a b"}, {"MASTER_PORT", "1"}},
       {"MASTER_ADDR is \"a b\": its host has a character that no name has"}},
      {{{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}},
       {"MASTER_PORT is 70000, which is not in [1, 65535]"}},
      {{{"WORLD_SIZE", "2"},
        {"RANK", "1"},
        {"MASTER_ADDR", "a"},
        {"MASTER_PORT", "1"},
        {"LOCAL_RANK", "2"},
        {"LOCAL_WORLD_SIZE", "2"}},
       {"LOCAL_RANK is 2 and LOCAL_WORLD_SIZE is 2; ranks count from 0 on"}},
      {{{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}, {"LOCAL_WORLD_SIZE", "3"}},
       {"LOCAL_WORLD_SIZE is 3, more than WORLD_SIZE, which is 2"}},
      {{{"OMPI_COMM_WORLD_RANK", "1"}}, {"Open MPI: OMPI_COMM_WORLD_SIZE is not set"}},
      {with(open_mpi, {{"TANDEM_COORDINATOR", "h"}}), {"TANDEM_COORDINATOR is \"h\": it has no port"}},
      {{{"PMI_SIZE", "2"}}, {"PMI: PMI_RANK is not set"}},
      {{{"JAX_PROCESS_ID", "1"}, {"JAX_NUM_PROCESSES", "2"}}, {"JAX: JAX_COORDINATOR_ADDRESS is not set"}},
      {slurm, {"Slurm: SLURM_JOB_NODELIST is \"\", which is no list of hosts"}},
      {with(slurm, {{"SLURM_JOB_NODELIST", "node[1-2"}}), {"\"node[1-2\", which is no list of hosts"}},
      {{{"TANDEM_NUM_PROCESSES", "2"}}, {"JOB_COMPLETION_INDEX is not set", "TANDEM_COORDINATOR is not set"}},
      {with(open_mpi, {{"WORLD_SIZE", "4"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
       {"torchrun (RANK, WORLD_SIZE) says rank 1 of 4, and Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) says "
        "rank 1 of 2; unset the variables of one of them"}},
      {with(open_mpi, TfConfig(OfTask(R"({"type": "worker", "index": 0})"))),
       {"TF_CONFIG says rank 0 of 2, and Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) says rank 1 of 2"}},
      {with(open_mpi, {{"TANDEM_FULL_WORLD_SIZE", "3"}}),
       {"TANDEM_FULL_WORLD_SIZE is \"3\": it is no multiple of the 2 processes that Open MPI"}},
      {with(open_mpi, {{"TANDEM_FULL_WORLD_SIZE", "1"}}), {"TANDEM_FULL_WORLD_SIZE is \"1\": it is no multiple"}},
      {with(open_mpi, {{"TANDEM_FULL_WORLD_SIZE", "two"}}), {"TANDEM_FULL_WORLD_SIZE is \"two\": it is no multiple"}},
      // A description of one process does not hide one of several.
      {with(open_mpi, TfConfig(R"({"task": {"type": "worker", "index": 0}})")),
       {"TF_CONFIG says rank 0 of 1, and Open"}},
      // All that is wrong at once.
      {TfConfig(Cluster2(R"({"worker": ["a", "b:0"], "boss": ["c:1"]})", R"({"type": "worker", "index": 5})")),
       {"cluster.boss is no job", "cluster.worker[0] is \"a\"", "cluster.worker[1] is \"b:0\"", "task.index is 5"}},
  };
}

class WrongDescriptions : public testing::TestWithParam<Bad> {};

TEST_P(WrongDescriptions, AreErrorsThatNameAllOfIt) {
  const auto cluster = ResolveCluster(Environment(GetParam().variables));
  EXPECT_EQ(ExitCodeFor(cluster.status()), kExitUsage) << cluster.status();
  const std::string message(cluster.status().message());
  for (const std::string& line : GetParam().messages) EXPECT_THAT(message, HasSubstr(line));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), GetParam().messages.size()) << message;
}

INSTANTIATE_TEST_SUITE_P(TfConfig, WrongDescriptions, testing::ValuesIn(BadTfConfigs()));
INSTANTIATE_TEST_SUITE_P(Launchers, WrongDescriptions, testing::ValuesIn(BadLaunchers()));

TEST(Launchers, FirstHostOfSlurmsLists) {
  EXPECT_EQ(FirstHost("node1"), "node1");
  EXPECT_EQ(FirstHost("node1,node2"), "node1");
  EXPECT_EQ(FirstHost("node[01-04,7],x3"), "node01");
  EXPECT_EQ(FirstHost("rack[2,4]n[3-5].local,a"), "rack2n3.local");
  for (const char* list : {"", ",a", "node[", "node[]", "node[-2]", "a b"}) EXPECT_EQ(FirstHost(list), "") << list;
}

TEST(Cluster, AddressesAreByTypeAndIndex) {
  const auto cluster = ResolveCluster(Environment(
      TfConfig(Cluster2(R"({"chief": ["c:1"], "worker": ["a:1", "b:1"]})", R"({"type": "worker", "index": 1})"))));
  ASSERT_TRUE(cluster.ok() && cluster->has_value()) << cluster.status();
  EXPECT_THAT((*cluster)->addresses.at(TaskType::kChief), ElementsAre("c:1"));
  EXPECT_THAT((*cluster)->addresses.at(TaskType::kWorker), ElementsAre("a:1", "b:1"));
  EXPECT_FALSE((*cluster)->is_chief());
}

// One worker is left of two: it is not alone, as it has the work of both.
TEST(ResolveCluster, TellsOfWorkersThatAreMissing) {
  auto variables = TfConfig(Cluster2(R"({"worker": ["a:1"]})", R"({"type": "worker", "index": 0})"));
  EXPECT_FALSE(ResolveCluster(Environment(variables))->has_value());
  variables["TANDEM_FULL_WORLD_SIZE"] = "2";
  const auto cluster = ResolveCluster(Environment(variables));
  ASSERT_TRUE(cluster.ok() && cluster->has_value()) << cluster.status();
  EXPECT_EQ((*cluster)->world_size, 1);
  EXPECT_EQ((*cluster)->full_world_size, 2);
}

// What the agent of torchrun tells a worker, whose MASTER_PORT it listens at itself.
Variables OfAgent(int rank, int master_port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", "4"},
          {"MASTER_ADDR", "10.0.0.1"},
          {"MASTER_PORT", std::to_string(master_port)},
          {"TORCHELASTIC_RUN_ID", "job"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
}

std::string MeetingAt(const Variables& variables) {
  const auto cluster = ResolveCluster(Environment(variables));
  EXPECT_TRUE(cluster.ok() && cluster->has_value()) << cluster.status();
  return cluster.ok() && cluster->has_value() ? (*cluster)->coordinator : "";
}

TEST(ResolveCluster, WorkersOfTorchrunMeetBesideItsAgent) {
  const std::string place = MeetingAt(OfAgent(0, 29500));
  EXPECT_EQ(place.rfind("10.0.0.1:", 0), 0) << place;
  for (int rank : {1, 2, 3}) {
    Variables variables = OfAgent(rank, 29500);
    // Each agent counts the failures of its own workers.
    variables["TORCHELASTIC_RESTART_COUNT"] = std::to_string(rank);
    EXPECT_EQ(MeetingAt(variables), place);
  }
  // Some of these ports are what comes of themselves.
  for (const char* run : {"1", "2", "3", "4"}) {
    for (int port = 10000; port < 30000; ++port) {
      Variables variables = OfAgent(1, port);
      variables["TORCHELASTIC_RUN_ID"] = run;
      ASSERT_NE(MeetingAt(variables), "10.0.0.1:" + std::to_string(port));
    }
  }
  Variables other = OfAgent(0, 29500);
  other["TORCHELASTIC_RUN_ID"] = "another";
  EXPECT_NE(MeetingAt(other), place);
  other["TANDEM_COORDINATOR"] = "h:5";
  EXPECT_EQ(MeetingAt(other), "h:5");
  other["TANDEM_COORDINATOR"] = "h";
  EXPECT_EQ(ExitCodeFor(ResolveCluster(Environment(other)).status()), kExitUsage);
  Variables without = OfAgent(0, 29500);
  without["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(MeetingAt(without), "10.0.0.1:29500");
}

TEST(ResolveCluster, OpenMpiNamesTheJob) {
  for (const std::string name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}) {
    const auto cluster = ResolveCluster(
        Environment({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {name, "309067777"}}));
    ASSERT_TRUE(cluster.ok() && cluster->has_value()) << cluster.status();
    EXPECT_EQ((*cluster)->job, "openmpi-309067777");
  }
}

}  // namespace
}  // namespace tandem
