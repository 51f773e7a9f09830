// Parameter servers and workers of a job, over the network and in one process, with the parts of a compiled step.
#ifndef TANDEM_TESTS_COMPILED_SERVED_JOB_H_
#define TANDEM_TESTS_COMPILED_SERVED_JOB_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cluster/testing_address.h"
#include "estimator/parameter_server/parameter_server.h"
#include "estimator/parameter_server/placement.h"
#include "estimator/parameter_server/served_variables.h"
#include "estimator/parameter_server/server_state.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/parts.h"

namespace tandem::compiled {

inline void Model(GraphBuilder& g, int units) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3}), label = g.Input("label", DType::kFloat32, {kBatch, 1});
  Tensor y = layers::Dense(layers::Dense(x, {.units = units}), {.units = 1});
  Tensor loss = losses::MeanSquaredError(label, y);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
  g.Output("loss", loss);
}

constexpr int64_t kWords = 200;  // of models with an embedding
inline const Options kOptions = {.batch = 8, .ranges = {{"word", {0, kWords}}}};

// A job of one server and some workers, each with a store of its own.
class ServedJob : public testing::Test {
 protected:
  struct Worker {
    std::unique_ptr<ServedVariables> variables;
    Program program;
    int64_t steps = 0;
  };

  void SetUp() override {
    Use([](GraphBuilder& g) { Model(g, 4); });
  }

  void Use(const BuildFn& model, int servers = 1) {
    model_ = model;
    auto parts = Parts::Make(model_, kOptions, servers);
    ASSERT_TRUE(parts.ok()) << parts.status();
    parts_ = std::make_unique<Parts>(*std::move(parts));
    while (static_cast<int>(addresses_.size()) < servers) addresses_.push_back(FreeAddress());
    addresses_.resize(servers);
  }

  void Serve(std::optional<int64_t> max_staleness = std::nullopt) {
    servers_.clear();
    for (int i = 0; i < static_cast<int>(addresses_.size()); ++i) servers_.push_back(NewServer(i, max_staleness));
  }

  std::unique_ptr<ParameterServer> NewServer(int i, std::optional<int64_t> max_staleness = std::nullopt) {
    ServerOptions options{.index = i, .who = absl::StrCat("ps ", i), .workers = 3, .max_staleness = max_staleness};
    for (const VariableSpec& v : parts_->worker().graph->variables()) {
      for (const PlacedPart& part : PlacementOf(*parts_->worker().executable)) {
        if (part.server != i || part.variable != v.name) continue;
        options.variables.push_back({.name = part.name(), .dtype = v.dtype, .shape = part.ShapeOf(v.shape)});
      }
    }
    options.scalar_defaults["learning_rate"] = 0.1;
    auto state = ServerState::Create(options, parts_->servers()[i].executable, std::make_shared<ThreadPool>(1));
    EXPECT_TRUE(state.ok()) << state.status();
    auto server = ParameterServer::Start(*std::move(state), addresses_[i], /*deadline_seconds=*/10);
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  // One without values takes the place of a server.
  void Restart(int i) {
    servers_[i] = nullptr;
    servers_[i] = NewServer(i);
  }

  Worker NewWorker(int64_t rank, double deadline_seconds = 10, double start_deadline_seconds = 10) {
    Worker worker;
    auto program = Prepare(model_, PartOptions());
    EXPECT_TRUE(program.ok()) << program.status();
    worker.program = *std::move(program);
    for (const VariableSpec& v : worker.program.graph->variables()) {
      const bool read = worker.program.variables->Contains(v.name);
      EXPECT_TRUE(worker.program.variables->Create({.name = v.name, .dtype = v.dtype, .shape = v.shape}).ok());
      if (read) continue;
      EXPECT_TRUE(worker.program.variables->Assign(v.name, HostTensor::Zeros(v.dtype, v.shape)).ok());
    }
    worker.variables =
        std::make_unique<ServedVariables>(ServedVariables::Options{.addresses = addresses_,
                                                                   .rank = rank,
                                                                   .who = absl::StrCat("worker ", rank),
                                                                   .start_deadline_seconds = start_deadline_seconds,
                                                                   .deadline_seconds = deadline_seconds});
    return worker;
  }

  Options PartOptions() const {
    Options options = kOptions;
    options.part.servers = static_cast<int>(addresses_.size());
    return options;
  }

  absl::Status Begin(Worker& worker, int64_t training = 1) {
    return worker.variables->Begin(*worker.program.executable, worker.program.variables, /*step=*/0, training);
  }

  // The variables that the worker's program reads.
  static TensorMap Read(const Worker& worker) {
    TensorMap values;
    for (const auto& variable : worker.program.executable->index().variables) {
      values[variable.name] = *worker.program.variables->Read(variable.name);
    }
    return values;
  }

  // A step of a worker's on its own inputs.
  static absl::Status Step(Worker& worker) {
    return StepOn(worker, RandomInputs(*worker.program.executable, 8, kOptions, static_cast<int>(worker.steps++)));
  }
  static absl::Status StepOn(Worker& worker, const TensorMap& batch) {
    const StepInputs inputs = Deal(worker.program, batch, {8}, worker.variables->step());
    const absl::StatusOr<StepResult> result = worker.program.Run(inputs);
    if (!result.ok()) return result.status();
    std::map<std::string, HostTensor> values;
    const auto& outputs = worker.program.executable->index().outputs;
    for (size_t i = 0; i < outputs.size(); ++i) values[outputs[i].name] = result->outputs[i];
    return worker.variables->Exchange(values, inputs.scalars);
  }

  std::vector<std::string> addresses_;
  BuildFn model_;
  std::unique_ptr<Parts> parts_;
  std::vector<std::unique_ptr<ParameterServer>> servers_;
};

}  // namespace tandem::compiled

#endif  // TANDEM_TESTS_COMPILED_SERVED_JOB_H_
