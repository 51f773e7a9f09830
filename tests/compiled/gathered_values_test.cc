// horovod::Allgather and Broadcast in compiled programs, on the devices of one process and of several, against values
// that are computed here from the rows of each replica. Their gradients are in replica_values_test.cc.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "estimator/horovod/horovod.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "graph/replicas.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/workers.h"

namespace tandem::compiled {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace hvd = horovod;

using Values = std::vector<double>;

// What Init finds in a cluster of so many ranks; of one, no cluster.
void InitRanks(int ranks) {
  std::optional<Cluster> cluster;
  if (ranks > 1) cluster = Cluster{.rank = 0, .world_size = ranks, .coordinator = "a:1"};
  ASSERT_EQ(hvd::Init(cluster), absl::OkStatus());
}

Tensor X(GraphBuilder& g) { return g.Input("x", DType::kFloat32, {kBatch, 2}); }

struct Place {
  int ranks;
  std::vector<int64_t> rows;  // of each replica of all ranks
  int root;
};
std::string Text(const Place& p) {
  return absl::StrCat(p.ranks, " ranks, rows ", testing::PrintToString(p.rows), ", root ", p.root);
}

// [sum of rows, 2], whole numbers, no two alike.
HostTensor RowsOfAll(const std::vector<int64_t>& rows) {
  int64_t total = 0;
  for (int64_t n : rows) total += n;
  HostTensor x(DType::kFloat32, {total, 2});
  for (int64_t i = 0; i < 2 * total; ++i) x.data<float>()[i] = static_cast<float>((i % 2 == 0 ? 1 : -3) * (i + 1));
  return x;
}

// The mean of each column over the rows of each replica, one behind the other; zeros for a replica without rows.
Values MeansOfReplicas(const std::vector<int64_t>& rows, const HostTensor& x) {
  Values means;
  int64_t begin = 0;
  for (int64_t n : rows) {
    for (int column = 0; column < 2; ++column) {
      double sum = 0;
      for (int64_t i = begin; i < begin + n; ++i) sum += x.data<float>()[2 * i + column];
      means.push_back(n == 0 ? 0 : sum / static_cast<double>(n));
    }
    begin += n;
  }
  return means;
}

HostTensor Fetched(const Executable& executable, const StepResult& result, const std::string& name) {
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    if (executable.index().outputs[i].name == name) return result.outputs[i];
  }
  ADD_FAILURE() << "no output " << name;
  return HostTensor();
}

void ExpectValues(const std::string& what, const HostTensor& got, const Shape& shape, const Values& want) {
  ASSERT_EQ(got.shape(), shape) << what;
  const HostTensor wide = ToFloat64(got);
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = wide.data<double>()[i];
    if (want[i] == 0) {
      EXPECT_EQ(value, 0) << what << " [" << i << "]";
    } else {
      EXPECT_NEAR(value, want[i], 1e-6 * std::abs(want[i])) << what << " [" << i << "]";
    }
  }
}

void BuildAll(GraphBuilder& g, int root) {
  const Tensor mean = BatchMoments(X(g)).mean;
  g.Output("means", hvd::Allgather(mean));
  g.Output("matrix", hvd::Allgather(Reshape(mean, {1, 2})));
  g.Output("double", hvd::Allgather(Cast(mean, DType::kFloat64)));
  g.Output("rows", hvd::Allgather(g.StepScalar("replica_example_count", DType::kFloat32)));
  g.Output("of_root", hvd::Broadcast(mean, root));
  const Tensor common = g.Constant(HostTensor::FromVector<float>({2}, {3, 4}));
  g.Output("commons", hvd::Allgather(common));
  g.Output("common", hvd::Broadcast(common, root));
}

TEST(GatheredValues, AreThoseOfTheReplicas) {
  const std::vector<Place> places = {
      {1, {4}, 0},          {1, {4, 4}, 0},       {1, {4, 3}, 0},       {1, {4, 0}, 0},       {1, {4, 4, 4, 4}, 0},
      {1, {4, 4, 2, 0}, 0}, {2, {4, 3}, 1},       {2, {4, 0}, 1},       {2, {0, 4}, 0},       {2, {4, 4, 2, 0}, 1},
      {2, {4, 4, 0, 3}, 1}, {2, {0, 4, 3, 1}, 0}, {4, {4, 4, 3, 1}, 3}, {4, {1, 0, 0, 2}, 3},
  };
  for (const std::string mode : {"train", "eval"}) {
    for (const Place& place : places) {
      SCOPED_TRACE(mode + ", " + Text(place));
      InitRanks(place.ranks);
      const auto n = static_cast<int64_t>(place.rows.size());
      absl::StatusOr<Program> program =
          Prepare([&](GraphBuilder& g) { BuildAll(g, place.root); },
                  {.devices = static_cast<int>(n), .processes = place.ranks, .batch = 4, .mode = mode});
      ASSERT_TRUE(program.ok()) << program.status();
      const HostTensor x = RowsOfAll(place.rows);
      const StepInputs inputs = Deal(*program, {{"x", x}}, place.rows, 0);
      std::vector<StepResult> results;  // of one process, and of each rank
      absl::StatusOr<StepResult> alone = program->Run(inputs);
      ASSERT_TRUE(alone.ok()) << alone.status();
      results.push_back(*std::move(alone));
      if (place.ranks > 1) {
        absl::StatusOr<Workers> workers = Workers::Make(program->executable, place.ranks);
        ASSERT_TRUE(workers.ok()) << workers.status();
        absl::StatusOr<std::vector<StepResult>> of_ranks = workers->Run(inputs);
        ASSERT_TRUE(of_ranks.ok()) << of_ranks.status();
        results.insert(results.end(), of_ranks->begin(), of_ranks->end());
      }
      const Values means = MeansOfReplicas(place.rows, x);
      const auto root = place.root * (place.rows.size() / place.ranks);
      Values commons;
      for (int64_t r = 0; r < n; ++r) commons.insert(commons.end(), {3, 4});
      for (const StepResult& result : results) {
        const auto fetched = [&](const char* name) { return Fetched(*program->executable, result, name); };
        ExpectValues("means", fetched("means"), {2 * n}, means);
        ExpectValues("matrix", fetched("matrix"), {n, 2}, means);
        ExpectValues("double", fetched("double"), {2 * n}, means);
        EXPECT_EQ(fetched("double").dtype(), DType::kFloat64);
        ExpectValues("rows", fetched("rows"), {n}, Values(place.rows.begin(), place.rows.end()));
        ExpectValues("of_root", fetched("of_root"), {2}, {means[2 * root], means[2 * root + 1]});
        ExpectValues("commons", fetched("commons"), {2 * n}, commons);
        ExpectValues("common", fetched("common"), {2}, {3, 4});
      }
    }
  }
}

TEST(GatheredValues, WhatIsNotFiniteStaysInItsPlace) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<int64_t> rows = {1, 1, 1, 1};
  InitRanks(2);
  absl::StatusOr<Program> program =
      Prepare([](GraphBuilder& g) { BuildAll(g, 1); }, {.devices = 4, .processes = 2, .batch = 1});
  ASSERT_TRUE(program.ok()) << program.status();
  const HostTensor x = HostTensor::FromVector<float>({4, 2}, {kNaN, 1, kInfinity, -kInfinity, 5, 6, 7, kNaN});
  absl::StatusOr<StepResult> result = program->Run(Deal(*program, {{"x", x}}, rows, 0));
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectValues("of_root", Fetched(*program->executable, *result, "of_root"), {2}, {5, 6});
  const HostTensor means = Fetched(*program->executable, *result, "means");
  for (int i = 0; i < 8; ++i) {
    const float want = x.data<float>()[i], got = means.data<float>()[i];
    EXPECT_TRUE(got == want || (std::isnan(want) && std::isnan(got))) << i << ": " << got;
  }
}

// An update by gathered and by broadcast values.
void BuildTraining(GraphBuilder& g) {
  const Tensor w = g.Variable({.name = "w", .shape = {2}, .initializer = {Initializer::Kind::kUniform, 0.5, 1.5}});
  const Tensor y = Tanh(X(g) * w);
  const Moments own = BatchMoments(y);
  const Tensor all = ReduceSum(Square(hvd::Allgather(own.mean)));
  const Tensor loss = ReduceMean(Square(y - hvd::Broadcast(own.variance, 1) * all - 0.25));
  g.Output("loss", loss);
  optimizers::SGD({.learning_rate = 0.5}).Minimize(loss);
  g.Assign(g.Variable({.name = "seen", .shape = {8}, .trainable = false}), hvd::Allgather(own.mean));
}

TEST(GatheredValues, TrainingsHaveTheSameBitsOnOneProcessAndSeveral) {
  InitRanks(2);
  absl::StatusOr<Program> program = Prepare(BuildTraining, {.devices = 4, .processes = 2, .batch = 4});
  ASSERT_TRUE(program.ok()) << program.status();
  const TensorMap start = program->Values();
  std::vector<Workers> groups;
  for (int count : {2, 4}) {
    absl::StatusOr<Workers> workers = Workers::Make(program->executable, count);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_EQ(workers->Assign(start), absl::OkStatus());
    groups.push_back(*std::move(workers));
  }
  int64_t step = 0;
  for (const std::vector<int64_t>& rows :
       {std::vector<int64_t>{4, 4, 4, 4}, {4, 4, 3, 0}, {4, 2, 0, 0}, {3, 1, 4, 2}}) {
    SCOPED_TRACE(step);
    int64_t total = 0;
    for (int64_t n : rows) total += n;
    const TensorMap batch = RandomInputs(*program->executable, total, {}, static_cast<int>(step));
    const StepInputs inputs = Deal(*program, batch, rows, step++);
    ASSERT_TRUE(program->Run(inputs).ok());
    for (Workers& workers : groups) {
      ASSERT_TRUE(workers.Run(inputs).ok());
      EXPECT_THAT(workers.Differences(program->Values()), testing::IsEmpty());
    }
  }
  EXPECT_GT(MaxDifference(start.at("w"), program->Values().at("w")), 1e-3) << "it trains";
}

// A graph's error when it is built for these replicas.
std::string ErrorOf(const std::function<void(GraphBuilder&)>& build, const ReplicaCount& replicas = {}) {
  GraphBuilder g;
  SetReplicas(g, replicas);
  build(g);
  return std::string(g.status().message());
}

TEST(GatheredValuesErrors, RowsOfTheBatchAreRefused) {
  InitRanks(1);
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { hvd::Allgather(X(g)); }),
              MatchesRegex("allgather \"Allgather\" at .*gathered_values_test.cc:[0-9]+: cannot combine rows of the "
                           "batch, \\[b,2\\]; give it what each replica computes of its rows, .*"));
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { hvd::Broadcast(X(g), 0); }),
              MatchesRegex("broadcast \"Broadcast\" at .*gathered_values_test.cc:[0-9]+: cannot combine rows .*"));
}

TEST(GatheredValuesErrors, IntegersAreRefused) {
  InitRanks(1);
  const auto integers = [](GraphBuilder& g) { return Cast(BatchMoments(X(g)).mean, DType::kInt32); };
  EXPECT_THAT(ErrorOf([&](GraphBuilder& g) { hvd::Allgather(integers(g)); }),
              MatchesRegex("allgather .*gathered_values_test.cc:[0-9]+: needs floating-point numbers, not int32; Cast "
                           "first"));
  EXPECT_THAT(ErrorOf([&](GraphBuilder& g) { hvd::Broadcast(integers(g), 0); }),
              HasSubstr("needs floating-point numbers, not int32"));
}

TEST(GatheredValuesErrors, TheRootIsARank) {
  for (const int root : {-1, 2}) {
    InitRanks(2);
    EXPECT_THAT(ErrorOf([&](GraphBuilder& g) { hvd::Broadcast(BatchMoments(X(g)).mean, root); }, {4, 2}),
                MatchesRegex(absl::StrCat("broadcast .*gathered_values_test.cc:[0-9]+: root_rank is ", root,
                                          "; ranks are numbers from 0 to Size\\(\\) - 1, which is 1")));
  }
}

TEST(GatheredValuesErrors, AStepIsOfAllRanks) {
  InitRanks(2);
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { hvd::Allgather(BatchMoments(X(g)).mean); }, {2, 1}),
              MatchesRegex("allgather .*gathered_values_test.cc:[0-9]+: Size\\(\\) is 2, and a step of this program is "
                           "made by 1 process: for predictions, .*"));
  EXPECT_EQ(ErrorOf([](GraphBuilder& g) { hvd::Broadcast(g.Constant(2), 1); }), "") << "all have it";
  InitRanks(1);
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { hvd::Broadcast(BatchMoments(X(g)).mean, 0); }, {4, 2}),
              MatchesRegex("broadcast .*: Size\\(\\) is 1, and a step of this program is made by 2 processes: .*"));
}

TEST(GatheredValuesErrors, AnEmptyTensorIsNamed) {
  InitRanks(1);
  EXPECT_THAT(hvd::Allgather(Tensor()).status().message(), HasSubstr("gathered_values_test.cc:"));
  EXPECT_THAT(hvd::Broadcast(Tensor(), 0).status().message(), HasSubstr("gathered_values_test.cc:"));
}

TEST(GatheredValuesErrors, AProgramHasTheReplicasThatItsGraphWasBuiltFor) {
  InitRanks(1);
  GraphBuilder g;
  g.Output("rows", hvd::Allgather(g.StepScalar("replica_example_count", DType::kFloat32)));
  EXPECT_THAT(CompileGraph(g, "eval", {.devices = {"cpu:0", "cpu:1"}}).status().message(),
              HasSubstr("the graph was built for 1 replicas and is compiled for 2"));
}

TEST(GatheredValuesErrors, AReplicasNumberEntersNoUpdateUnseen) {
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) {
                const Tensor w = g.Variable({.name = "w", .shape = {}});
                g.Assign(w, w + Cast(g.StepScalar("replica_index", DType::kInt32), DType::kFloat32));
              }),
              HasSubstr("replicas would disagree: the value depends on \"replica_index\""));
}

}  // namespace
}  // namespace tandem::compiled
