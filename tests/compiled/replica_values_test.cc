// Gradients through what replicas compute from their own rows: trained programs against central differences, in double,
// of losses that are written out here for every replica.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "estimator/horovod/horovod.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using Rows1 = std::vector<double>;
struct Part {
  Rows1 x, t;  // of one replica
};
using Weights = std::map<std::string, double>;
// The loss of the global batch; replicas without rows are not in `parts`.
using Loss = std::function<double(const Weights&, const std::vector<Part>& parts)>;

struct Model {
  std::string name;
  std::function<Tensor(GraphBuilder&)> build;  // returns the loss
  Loss loss;
  int ranks = 1;  // that the devices are of
};
void PrintTo(const Model& m, std::ostream* os) { *os << m.name; }

struct Statistics {
  double mean = 0, variance = 0;
};
Statistics Of(const Rows1& x) {
  Statistics s;
  for (double v : x) s.mean += v / static_cast<double>(x.size());
  for (double v : x) s.variance += (v - s.mean) * (v - s.mean) / static_cast<double>(x.size());
  return s;
}

constexpr double kEpsilon = 1e-3;

// mean over all rows of (f(x, statistics of the row's replica) - t)^2.
Loss MeanSquare(std::function<double(const Weights&, double x, const Statistics&)> f) {
  return [f](const Weights& w, const std::vector<Part>& parts) {
    double sum = 0, rows = 0;
    for (const Part& p : parts) {
      const Statistics s = Of(p.x);
      for (size_t i = 0; i < p.x.size(); ++i) sum += std::pow(f(w, p.x[i], s) - p.t[i], 2);
      rows += static_cast<double>(p.x.size());
    }
    return sum / rows;
  };
}

Tensor X(GraphBuilder& g) { return g.Input("x", DType::kFloat32, {kBatch, 1}); }
Tensor Error(GraphBuilder& g, const Tensor& y) {
  return ReduceMean(Square(y - g.Input("t", DType::kFloat32, {kBatch, 1})));
}
Tensor Weight(GraphBuilder& g, const char* name) {
  return g.Variable({.name = name, .shape = {1}, .initializer = {Initializer::Kind::kUniform, 0.5, 1.5}});
}

double Normal(double x, const Statistics& s) { return (x - s.mean) / std::sqrt(s.variance + kEpsilon); }

std::vector<Model> Models() {
  const std::string gamma = "batch_normalization/gamma", beta = "batch_normalization/beta";
  return {
      {"BatchNorm",
       [](GraphBuilder& g) {
         return Error(g, layers::BatchNormalization(X(g), {.epsilon = kEpsilon, .training = true}));
       },
       MeanSquare(
           [=](const Weights& w, double x, const Statistics& s) { return Normal(x, s) * w.at(gamma) + w.at(beta); })},
      {"BatchNormTwice",  // statistics of a value that depends on weights: gradients flow through them
       [](GraphBuilder& g) {
         Tensor x = Tanh(X(g) * Weight(g, "w"));
         return Error(g, layers::BatchNormalization(x, {.epsilon = kEpsilon, .training = true}));
       },
       [=](const Weights& w, const std::vector<Part>& parts) {
         std::vector<Part> inner = parts;
         for (Part& p : inner) {
           for (double& v : p.x) v = std::tanh(v * w.at("w"));
         }
         return MeanSquare([=](const Weights& u, double x, const Statistics& s) {
           return Normal(x, s) * u.at(gamma) + u.at(beta);
         })(w, inner);
       }},
      {"ScaleBehindAFunction",  // what is common goes through ops of its own before it meets the statistic
       [](GraphBuilder& g) {
         Moments m = BatchMoments(X(g));
         return Error(g, (X(g) - m.mean) * (Exp(Weight(g, "w")) * Rsqrt(m.variance + kEpsilon)));
       },
       MeanSquare([](const Weights& w, double x, const Statistics& s) { return Normal(x, s) * std::exp(w.at("w")); })},
      {"SumWithAStatistic",  // the gradient of w is the same number on all replicas, and yet a part of w's
       [](GraphBuilder& g) { return Error(g, X(g) + (Weight(g, "w") + Square(BatchMoments(X(g)).mean))); },
       MeanSquare([](const Weights& w, double x, const Statistics& s) { return x + w.at("w") + s.mean * s.mean; })},
      {"LossOfStatistics",  // replicas report different losses: the mean over those that have rows
       [](GraphBuilder& g) {
         Moments m = BatchMoments(X(g) * Weight(g, "w"));
         return ReduceSum(Square(m.mean) + m.variance + Weight(g, "v"));
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         double sum = 0;
         for (const Part& p : parts) {
           const Statistics s = Of(p.x);
           sum += w.at("w") * w.at("w") * (s.mean * s.mean + s.variance) + w.at("v");
         }
         return sum / static_cast<double>(parts.size());
       }},
      {"MeanOfStatistics",
       [](GraphBuilder& g) {
         Tensor mean = CrossReplicaMean(BatchMoments(X(g) * Weight(g, "w")).mean);
         return Error(g, X(g) * mean);
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         double mean = 0;
         for (const Part& p : parts) mean += w.at("w") * Of(p.x).mean / static_cast<double>(parts.size());
         return MeanSquare([=](const Weights&, double x, const Statistics&) { return x * mean; })(w, parts);
       }},
      {"SumOfStatistics",
       [](GraphBuilder& g) {
         Tensor sum = CrossReplicaSum(BatchMoments(X(g) * Weight(g, "w")).mean);
         return Error(g, X(g) * sum);
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         double sum = 0;
         for (const Part& p : parts) sum += w.at("w") * Of(p.x).mean;
         return MeanSquare([=](const Weights&, double x, const Statistics&) { return x * sum; })(w, parts);
       }},
      {"Allgather",  // each replica's value at its place, times a number of the place
       [](GraphBuilder& g) {
         Tensor means = horovod::Allgather(BatchMoments(X(g) * Weight(g, "w")).mean);
         Tensor numbers = Iota(&g, means.shape(), 0, DType::kFloat32) + 1.0;
         return Error(g, X(g) * ReduceSum(Square(means) * numbers));
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         double sum = 0;  // parts without rows are behind the others, and zeros
         for (size_t i = 0; i < parts.size(); ++i) {
           sum += std::pow(w.at("w") * Of(parts[i].x).mean, 2) * static_cast<double>(i + 1);
         }
         return MeanSquare([=](const Weights&, double x, const Statistics&) { return x * sum; })(w, parts);
       }},
      {"BroadcastOfTheFirstRank",
       [](GraphBuilder& g) { return Error(g, X(g) * horovod::Broadcast(BatchMoments(X(g) * Weight(g, "w")).mean, 0)); },
       [](const Weights& w, const std::vector<Part>& parts) {
         const double root = w.at("w") * Of(parts[0].x).mean;
         return MeanSquare([=](const Weights&, double x, const Statistics&) { return x * root; })(w, parts);
       }},
      {"BroadcastOfTheSecondRank",
       [](GraphBuilder& g) {
         return Error(g, X(g) * (horovod::Broadcast(BatchMoments(X(g) * Weight(g, "w")).mean, 1) + Weight(g, "v")));
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         // Of two replicas the second, of four the third; without rows there are zeros.
         const double root = parts.size() < 2 ? 0 : w.at("w") * Of(parts[parts.size() / 2].x).mean;
         return MeanSquare([=](const Weights& u, double x, const Statistics&) { return x * (root + u.at("v")); })(
             w, parts);
       },
       2},
      {"RowsOfTheReplica",  // the step scalar is a value of one replica too
       [](GraphBuilder& g) {
         Tensor rows = Reshape(g.StepScalar("replica_example_count", DType::kFloat32), {1});
         return Error(g, X(g) * (Weight(g, "w") * rows));
       },
       [](const Weights& w, const std::vector<Part>& parts) {
         double sum = 0, rows = 0;
         for (const Part& p : parts) {
           for (size_t i = 0; i < p.x.size(); ++i) {
             sum += std::pow(p.x[i] * w.at("w") * static_cast<double>(p.x.size()) - p.t[i], 2);
           }
           rows += static_cast<double>(p.x.size());
         }
         return sum / rows;
       }},
  };
}

struct Update {
  std::string name;
  Optimizer optimizer;
  // The clipped gradients of `g`, in place.
  std::function<void(Weights&)> clip;
};

std::vector<Update> Updates() {
  auto norm = [](Weights& g) {
    double squares = 0;
    for (auto& [name, v] : g) squares += v * v;
    for (auto& [name, v] : g) v *= 0.1 / std::max(0.1, std::sqrt(squares));
  };
  auto value = [](Weights& g) {
    for (auto& [name, v] : g) v = std::max(-0.2, std::min(0.2, v));
  };
  return {
      {"plain", optimizers::SGD({.learning_rate = 1.0}), [](Weights&) {}},
      {"clip_global_norm", optimizers::SGD({.learning_rate = 1.0, .clip = {.global_norm = 0.1}}), norm},
      {"clip_value", optimizers::SGD({.learning_rate = 1.0, .clip = {.value = 0.2}}), value},
  };
}

const double kX[] = {1, 2, 3, 5, -2, .5, 4, 7};
const double kT[] = {.5, -1, 1, 0, 2, 1, -.5, .25};

TensorMap Batch() {
  return {{"x", HostTensor::FromVector<float>({8, 1}, std::vector<float>(kX, kX + 8))},
          {"t", HostTensor::FromVector<float>({8, 1}, std::vector<float>(kT, kT + 8))}};
}

// The weights after a step on `rows` rows of each replica, by the loss's own differences.
Weights Expected(const Model& model, const Update& update, const Weights& start, const std::vector<int64_t>& rows) {
  std::vector<Part> parts;
  int64_t at = 0;
  for (int64_t n : rows) {
    if (n > 0) parts.push_back({Rows1(kX + at, kX + at + n), Rows1(kT + at, kT + at + n)});
    at += n;
  }
  Weights gradients, result = start;
  for (const auto& [name, value] : start) {
    const double h = 1e-5;
    Weights more = start, less = start;
    more[name] += h;
    less[name] -= h;
    gradients[name] = (model.loss(more, parts) - model.loss(less, parts)) / (2 * h);
  }
  update.clip(gradients);
  for (auto& [name, value] : result) value -= gradients[name];
  return result;
}

class ReplicaValues : public testing::TestWithParam<Model> {};

TEST_P(ReplicaValues, UpdatesFollowTheLossOfTheGlobalBatch) {
  const Model& model = GetParam();
  std::optional<Cluster> cluster;
  if (model.ranks > 1) cluster = Cluster{.rank = 0, .world_size = model.ranks, .coordinator = "a:1"};
  ASSERT_EQ(horovod::Init(cluster), absl::OkStatus());
  for (const Update& update : Updates()) {
    for (const std::vector<int64_t>& rows : {std::vector<int64_t>{8}, {4, 4}, {2, 2, 2, 2}, {4, 3}, {4, 0}}) {
      SCOPED_TRACE(update.name + testing::PrintToString(rows));
      if (rows.size() % model.ranks != 0) continue;
      auto build = [&](GraphBuilder& g) {
        Tensor loss = model.build(g);
        g.Output("loss", loss);
        update.optimizer.Minimize(loss);
      };
      absl::StatusOr<Program> program =
          Prepare(build, {.devices = static_cast<int>(rows.size()), .processes = model.ranks, .batch = rows[0]});
      ASSERT_TRUE(program.ok()) << program.status();
      Weights start;
      for (const VariableSpec& v : program->graph->variables()) {
        if (v.trainable) start[v.name] = ToFloat64(program->Values().at(v.name)).data<double>()[0];
      }
      int64_t total = 0;
      for (int64_t n : rows) total += n;
      TensorMap batch;
      for (const auto& [name, tensor] : Batch()) batch[name] = compiled::Rows(tensor, 0, total);
      absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, rows, 0));
      ASSERT_TRUE(result.ok()) << result.status();
      const Weights want = Expected(model, update, start, rows);
      for (const auto& [name, value] : want) {
        EXPECT_NEAR(ToFloat64(program->Values().at(name)).data<double>()[0], value, 2e-5 * (1 + std::abs(value)))
            << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReplicaValues, testing::ValuesIn(Models()),
                         [](const auto& info) { return info.param.name; });

// The mean and what follows from it are one kernel, whose second all-reduce may then stand in front of the first one:
// that needs another kernel, and is read before the second.
TEST(ReplicaValuesOrder, FusionMovesAnAllReduce) {
  const std::vector<int64_t> rows = {4, 2};
  absl::StatusOr<Program> program = Prepare(
      [](GraphBuilder& g) {
        const Tensor mean = BatchMoments(X(g)).mean;
        g.Output("wide", Reshape(CrossReplicaSum(Sin(Broadcast(mean, {32, 1}))), {4, 8}));
        g.Output("narrow", CrossReplicaSum(mean * 2.0));
      },
      {.devices = 2, .batch = 4});
  ASSERT_TRUE(program.ok()) << program.status();
  const absl::StatusOr<StepResult> result = program->Run(Deal(*program, {{"x", Batch().at("x")}}, rows, 0));
  ASSERT_TRUE(result.ok()) << result.status();
  const double first = Of({kX, kX + 4}).mean, second = Of({kX + 4, kX + 6}).mean;
  for (size_t i = 0; i < 2; ++i) {
    const bool wide = program->executable->index().outputs[i].name == "wide";
    EXPECT_NEAR(result->outputs[i].data<float>()[0], wide ? std::sin(first) + std::sin(second) : 2 * (first + second),
                1e-5);
  }
}

std::string ErrorOf(const std::function<void(GraphBuilder&)>& build) {
  GraphBuilder g;
  build(g);
  return std::string(g.status().message());
}

TEST(ReplicaValuesErrors, AValueOfOneReplicaEntersNoUpdateUnseen) {
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) {
                Tensor w = Weight(g, "w");
                g.Assign(w, w * BatchMoments(X(g)).mean);
              }),
              testing::MatchesRegex(
                  "assign \"w\" at .*replica_values_test.cc:[0-9]+: replicas would disagree: the value depends on "
                  "\"BatchMoments\" at .*replica_values_test.cc:[0-9]+, which each replica computes from its own rows; "
                  "combine it first, with CrossReplicaSum \\(a gradient\\) or CrossReplicaMean \\(a statistic\\)"));
  EXPECT_EQ(ErrorOf([](GraphBuilder& g) {
              Tensor w = Weight(g, "w");
              g.Assign(w, w * CrossReplicaMean(BatchMoments(X(g)).mean));
            }),
            "");
}

TEST(ReplicaValuesErrors, CombiningNeedsSomethingToCombine) {
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { CrossReplicaSum(Weight(g, "w")); }),
              testing::HasSubstr("\"w\" is the same on all replicas already"));
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { CrossReplicaMean(X(g)); }), testing::HasSubstr("cannot combine rows"));
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { CrossReplicaMean(Cast(BatchMoments(X(g)).mean, DType::kInt32)); }),
              testing::HasSubstr("needs floating-point numbers, not int32"));
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) { g.Output("n", Cast(BatchMoments(X(g)).mean, DType::kInt32)); }),
              testing::HasSubstr("a mean over the replicas is not a int32: Cast it to float32"));
}

// A product's gradient of its kernel is a sum over the rows of all replicas; a kernel of one replica would need
// another.
TEST(ReplicaValuesErrors, GradientsThatNeedOneReplicasRowsAreRefused) {
  EXPECT_THAT(ErrorOf([](GraphBuilder& g) {
                Tensor kernel = Reshape(BatchMoments(X(g) * Weight(g, "w")).mean, {1, 1});
                optimizers::SGD({}).Minimize(Error(g, MatMul(X(g), kernel)));
              }),
              testing::HasSubstr("takes a value that each replica computes from its own rows; its gradient is known "
                                 "for all rows only"));
}

}  // namespace
}  // namespace tandem::compiled
