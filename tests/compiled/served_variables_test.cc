// Workers and parameter servers over the network, in one process, with the parts of a compiled step.
#include "estimator/parameter_server/served_variables.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "estimator/parameter_server/placement.h"
#include "estimator/parameter_server/protocol.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "tests/compiled/served_job.h"

namespace tandem::compiled {
namespace {

using ServedVariablesTest = ServedJob;

// An embedding of a kilobyte a row, whose gradient has a row for each of a batch's words, and a dense layer.
constexpr int64_t kWidth = 256;
void Embedding(GraphBuilder& g, const Optimizer& optimizer, int64_t words = kWords) {
  Tensor word = g.Input("word", DType::kInt32, {kBatch}), label = g.Input("label", DType::kFloat32, {kBatch, 1});
  Tensor x = layers::Embedding(word, {.input_dim = words, .output_dim = kWidth});
  Tensor loss = losses::MeanSquaredError(label, layers::Dense(x, {.units = 1}));
  optimizer.Minimize(loss);
  g.Output("loss", loss);
}

// A position that a worker tells is the one of its last update; updates of one that tells none are counted.
TEST_F(ServedVariablesTest, PositionsBelongToTheValues) {
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/1), one = NewWorker(1), silent = NewWorker(2);
  ASSERT_TRUE(parts_->Assign(chief.program.Values()).ok());
  chief.variables->set_position([&] { return absl::StrCat("chief ", chief.steps); });
  one.variables->set_position([&] { return absl::StrCat("one ", one.steps); });
  const ServedVariables::Positions first = {{0, {.position = "a"}}, {1, {.position = "b"}}, {2, {.position = "c"}}};
  ASSERT_EQ(chief.variables->Begin(*chief.program.executable, chief.program.variables, /*step=*/0, 1, first),
            absl::OkStatus());
  EXPECT_FALSE(chief.variables->had_values());
  ASSERT_EQ(Begin(one), absl::OkStatus());
  ASSERT_EQ(Begin(silent), absl::OkStatus());
  EXPECT_EQ(one.variables->positions().at(1).position, "b");
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_EQ(chief.variables->positions().at(2).position, "c");
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) EXPECT_EQ(Step(one), absl::OkStatus());
  });
  std::thread clock([&] {
    while (!done) servers_[0]->state().WaitForEnd(std::chrono::milliseconds(10));
  });
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Step(silent), absl::OkStatus());
  // Half of the deadline later.
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_EQ(chief.variables->positions().at(2).position, "c");
  EXPECT_EQ(chief.variables->positions().at(2).behind, 3);
  EXPECT_EQ(chief.variables->positions().at(1).behind, 0);
  EXPECT_EQ(chief.variables->positions().at(1).position, absl::StrCat("one ", chief.variables->step() - 3));
  ASSERT_EQ(silent.variables->Leave(1), absl::OkStatus());
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_EQ(chief.variables->positions().at(1).behind, 0);
  EXPECT_EQ(chief.variables->positions().at(1).position, absl::StrCat("one ", chief.variables->step() - 3));
  done = true;
  other.join();
  clock.join();
}

TEST_F(ServedVariablesTest, StepsAreThoseOfThePartsInOneProcess) {
  Serve();
  Worker chief = NewWorker(0);
  ASSERT_TRUE(parts_->Assign(chief.program.Values()).ok());
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  for (int i = 0; i < 5; ++i) {
    const TensorMap batch = RandomInputs(*chief.program.executable, 8, kOptions, i);
    ASSERT_TRUE(parts_->Run(Deal(parts_->worker(), batch, {8}, i)).ok());
    ASSERT_EQ(Step(chief), absl::OkStatus());
    EXPECT_EQ(chief.variables->step(), i + 1);
  }
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_TRUE(parts_->Differences(chief.program.Values()).empty());
}

// Rows travel alone, with the bits of whole tensors: gradients of eight words of a batch, and with gradient descent
// what they change. With momentum a row changes on when its word is not read any more; with Adam, too, and a worker
// that has waited for long gets more rows.
TEST_F(ServedVariablesTest, RowsOfAnEmbeddingTravelAlone) {
  using namespace optimizers;  // NOLINT
  constexpr uint64_t kRow = kWidth * 4, kTable = kWords * kRow;
  const std::vector<std::pair<Optimizer, bool>> rules = {
      {GradientDescent({.learning_rate = 0.1}), true},
      {Adagrad({.learning_rate = 0.1}), true},
      {Momentum({.learning_rate = 0.1, .momentum = 0.9}), false},
      {Adam({.learning_rate = 0.1}), false},
      {GradientDescent({.learning_rate = 0.1, .clip = {.global_norm = 0.1}}), true}};
  for (const auto& [rule, only_touched] : rules) {
    SCOPED_TRACE(&rule - &rules[0].first);
    Use([&rule = rule](GraphBuilder& g) { Embedding(g, rule); });
    Serve();
    Worker chief = NewWorker(0), other = NewWorker(1);
    ASSERT_TRUE(parts_->Assign(chief.program.Values()).ok());
    ASSERT_EQ(Begin(chief), absl::OkStatus());
    ASSERT_EQ(Begin(other), absl::OkStatus());
    other.steps = 100;  // other inputs
    int64_t step = 0;
    const auto both = [&](Worker& worker) {
      const TensorMap batch = RandomInputs(*worker.program.executable, 8, kOptions, static_cast<int>(worker.steps));
      ASSERT_TRUE(parts_->Run(Deal(parts_->worker(), batch, {8}, step)).ok());
      ASSERT_EQ(Step(worker), absl::OkStatus());
      ++step;
      // It has what the parts of one process have.
      ASSERT_EQ(parts_->Differences(Read(worker)), std::vector<std::string>());
    };
    both(chief);
    EXPECT_GE(chief.variables->traffic().received, kTable) << "nobody knows which rows have changed";
    for (int i = 0; i < 4; ++i) {
      const ServedVariables::Traffic before = chief.variables->traffic();
      both(chief);
      // Rows with their numbers, and the dense layer.
      EXPECT_LT(chief.variables->traffic().sent - before.sent, 9 * (kRow + 4) + 2000);
      if (only_touched) {
        EXPECT_LT(chief.variables->traffic().received - before.received, 9 * (kRow + 4) + 2000);
      }
    }
    // What a worker has read when it began is old: it has to know what others have made of it meanwhile.
    ASSERT_EQ(other.variables->ReadAll(), absl::OkStatus());
    both(other);
    both(other);
    ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
    both(chief);
    // The rows of several steps of others come in one answer.
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(Step(other), absl::OkStatus());
    }
    ASSERT_EQ(Step(chief), absl::OkStatus());
    const TensorMap by_rows = Read(chief);
    ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
    for (const auto& [name, value] : Read(chief)) EXPECT_TRUE(value.BitEqual(by_rows.at(name))) << name;
  }
}

// A table that is spread over servers: its rows travel alone to and from each of them, a lost server gets its rows
// back, and all have the bits of parts in one process.
TEST_F(ServedVariablesTest, RowsOfATableThatIsSpreadOverServers) {
  constexpr int64_t kMany = 3000;  // 3 MB
  using namespace optimizers;      // NOLINT
  for (const Optimizer& rule :
       {GradientDescent({.learning_rate = 0.1}), Adam({.learning_rate = 0.1, .clip = {.global_norm = 0.1}})}) {
    for (const int servers : {2, 3}) {
      SCOPED_TRACE(servers);
      Use([&](GraphBuilder& g) { Embedding(g, rule, kMany); }, servers);
      int64_t rows = 0;
      for (const PlacedPart& part : PlacementOf(*parts_->worker().executable)) {
        if (part.variable == "embedding/embeddings") rows += part.rows;
      }
      ASSERT_EQ(rows, kMany);
      Serve();
      Worker chief = NewWorker(0), other = NewWorker(1);
      ASSERT_TRUE(parts_->Assign(chief.program.Values()).ok());
      ASSERT_EQ(Begin(chief), absl::OkStatus());
      ASSERT_EQ(Begin(other), absl::OkStatus());
      for (int i = 0; i < 4; ++i) {
        Worker& worker = i == 2 ? other : chief;
        if (i >= 2) {
          ASSERT_EQ(worker.variables->ReadAll(), absl::OkStatus());  // what the other one has made of the values
        }
        Options options = kOptions;
        options.ranges["word"] = {0, kMany};
        const TensorMap batch = RandomInputs(*worker.program.executable, 8, options, i);
        ASSERT_TRUE(parts_->Run(Deal(parts_->worker(), batch, {8}, i)).ok());
        const uint64_t before = worker.variables->traffic().sent;
        ASSERT_EQ(StepOn(worker, batch), absl::OkStatus());
        EXPECT_LT(worker.variables->traffic().sent - before, 9 * (kWidth * 4 + 4) + 5000);
        EXPECT_EQ(parts_->Differences(Read(worker)), std::vector<std::string>());
      }
      ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
      const TensorMap all = chief.program.Values();
      EXPECT_EQ(parts_->Differences(all), std::vector<std::string>());
      // The servers come back without values; the chief gives each its rows.
      Serve();
      ASSERT_EQ(StepOn(chief, RandomInputs(*chief.program.executable, 8, kOptions, 9)), absl::OkStatus());  // is lost
      ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
      for (const auto& [name, value] : chief.program.Values()) EXPECT_TRUE(value.BitEqual(all.at(name))) << name;
    }
  }
}

TEST_F(ServedVariablesTest, OthersWaitForTheChiefsValuesAndSeeEachOthersUpdates) {
  Serve();
  Worker chief = NewWorker(0), other = NewWorker(1);
  absl::Status begun;
  std::thread first([&] { begun = Begin(other); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  first.join();
  ASSERT_EQ(begun, absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());
  EXPECT_EQ(other.variables->step(), 2);
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  for (const char* name : {"dense/kernel", "dense_1/bias"}) {
    EXPECT_TRUE(chief.program.variables->Read(name)->BitEqual(*other.program.variables->Read(name))) << name;
  }
}

// Statistics of two workers' batches, from the same values of variables, both have their part in the moving average.
TEST_F(ServedVariablesTest, StatisticsOfAllWorkersCount) {
  constexpr double kMomentum = 0.5;
  for (const int servers : {1, 2}) {
    SCOPED_TRACE(servers);
    Use(
        [](GraphBuilder& g) {
          Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3}), label = g.Input("label", DType::kFloat32, {kBatch, 1});
          x = layers::BatchNormalization(x, {.momentum = kMomentum, .training = true});
          Tensor loss = losses::MeanSquaredError(label, layers::Dense(x, {.units = 1}));
          optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
          g.Output("loss", loss);
        },
        servers);
    Serve();
    Worker chief = NewWorker(0), other = NewWorker(1);
    std::vector<double> mean(3);
    const HostTensor initial = chief.program.Values().at("batch_normalization/moving_mean");
    for (int c = 0; c < 3; ++c) mean[c] = initial.data<float>()[c];
    absl::Status begun;
    std::thread first([&] { begun = Begin(other); });
    ASSERT_EQ(Begin(chief), absl::OkStatus());
    first.join();
    ASSERT_EQ(begun, absl::OkStatus());
    int seed = 0;
    for (Worker* worker : {&chief, &other}) {
      const TensorMap batch = RandomInputs(*worker->program.executable, 8, kOptions, seed++);
      ASSERT_EQ(StepOn(*worker, batch), absl::OkStatus());
      for (int c = 0; c < 3; ++c) {
        double of_batch = 0;
        for (int row = 0; row < 8; ++row) of_batch += batch.at("x").data<float>()[3 * row + c] / 8;
        mean[c] = kMomentum * mean[c] + (1 - kMomentum) * of_batch;
      }
    }
    ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
    const HostTensor got = chief.program.Values().at("batch_normalization/moving_mean");
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(got.data<float>()[c], mean[c], 1e-6) << c;
  }
}

TEST_F(ServedVariablesTest, WhoIsAheadWaitsForTheOthers) {
  Serve(/*max_staleness=*/2);
  Worker chief = NewWorker(0), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());  // it has read step 1
  ASSERT_EQ(Step(chief), absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  std::atomic<bool> done = false;
  absl::Status ahead;
  std::thread third([&] {
    ahead = Step(chief);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(done);
  EXPECT_EQ(Step(other), absl::OkStatus());
  third.join();
  EXPECT_EQ(ahead, absl::OkStatus());
  // One that has left, or is gone, is not waited for.
  EXPECT_EQ(other.variables->Leave(1), absl::OkStatus());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Step(chief), absl::OkStatus());
}

// A worker that is slower than the deadline is no sign that the server is lost.
TEST_F(ServedVariablesTest, WhoIsAheadWaitsLongerThanTheDeadline) {
  Serve(/*max_staleness=*/2);
  Worker chief = NewWorker(0, /*deadline_seconds=*/0.5), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  std::atomic<bool> done = false;
  absl::Status ahead;
  std::thread third([&] {
    ahead = Step(chief);
    done = true;
  });
  std::thread server([&, state = &servers_[0]->state()] {
    while (!done) state->WaitForEnd(std::chrono::milliseconds(50));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  EXPECT_FALSE(done);
  EXPECT_EQ(Step(other), absl::OkStatus());
  third.join();
  server.join();
  EXPECT_EQ(ahead, absl::OkStatus());
  EXPECT_EQ(other.variables->step(), 5);
  EXPECT_EQ(chief.variables->step(), 5);
}

// The update is made, and the loop sees the signal.
TEST_F(ServedVariablesTest, ASignalEndsTheWaitOfWhoIsAhead) {
  Serve(/*max_staleness=*/0);
  Worker chief = NewWorker(0), other = NewWorker(1);
  std::atomic<bool> done = false, signalled = false;
  chief.variables = std::make_unique<ServedVariables>(ServedVariables::Options{
      .addresses = addresses_, .who = "worker 0", .interrupted = [&] { return signalled.load(); }});
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());
  std::thread server([&, state = &servers_[0]->state()] {
    while (!done) state->WaitForEnd(std::chrono::milliseconds(50));
  });
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    signalled = true;
  });
  EXPECT_EQ(Step(chief), absl::OkStatus());
  done = true;
  server.join();
  signal.join();
  EXPECT_EQ(chief.variables->step(), 2);
  // The connection is whole: all is read, and the chief is not waited for.
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_EQ(chief.variables->Leave(1), absl::OkStatus());
  EXPECT_EQ(Step(other), absl::OkStatus());
}

TEST_F(ServedVariablesTest, TheChiefWaitsUntilTheOthersHaveLeft) {
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/1), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  std::atomic<bool> left = false;
  std::thread leaving([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    left = true;
    EXPECT_EQ(other.variables->Leave(1), absl::OkStatus());
  });
  // Rank 2 has never come: it is waited for until the deadline.
  std::thread waiting([&, server = servers_[0].get()] {
    for (int i = 0; i < 40; ++i) server->state().WaitForEnd(std::chrono::milliseconds(100));
  });
  EXPECT_EQ(chief.variables->WaitForOthers(1), absl::OkStatus());
  EXPECT_TRUE(left);
  leaving.join();
  waiting.join();
}

TEST_F(ServedVariablesTest, TheChiefStopsAllAndTellsWhyItFailed) {
  Serve();
  Worker chief = NewWorker(0), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  ASSERT_EQ(chief.variables->Stop(ServedVariables::Wish::kSignal), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());
  EXPECT_EQ(other.variables->wish(), ServedVariables::Wish::kSignal);
  EXPECT_EQ(other.variables->Stop(ServedVariables::Wish::kStop).message(), "only the chief may do that, not worker 1");
  chief.variables->End(absl::DataLossError("a damaged file"));
  EXPECT_TRUE(servers_[0]->state().WaitForEnd(std::chrono::seconds(10)));
  const absl::Status status = Step(other);
  EXPECT_EQ(status.message(), "the chief has ended the training: a damaged file");
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
}

// Who has gone on to its next training makes steps, and waits for steps of those that are still in the last one.
TEST_F(ServedVariablesTest, AStopIsOfOneTraining) {
  Serve(/*max_staleness=*/0);
  Worker chief = NewWorker(0), quick = NewWorker(1), slow = NewWorker(2);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(quick), absl::OkStatus());
  ASSERT_EQ(Begin(slow), absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  ASSERT_EQ(chief.variables->Stop(ServedVariables::Wish::kStop), absl::OkStatus());
  ASSERT_EQ(Step(slow), absl::OkStatus());
  EXPECT_EQ(slow.variables->wish(), ServedVariables::Wish::kStop);
  ASSERT_EQ(quick.variables->Leave(1), absl::OkStatus());
  EXPECT_EQ(quick.variables->wish(), ServedVariables::Wish::kStop);
  ASSERT_EQ(Begin(quick, /*training=*/2), absl::OkStatus());
  EXPECT_EQ(quick.variables->wish(), ServedVariables::Wish::kGoOn);
  std::atomic<bool> done = false;
  absl::Status ahead;
  std::thread next([&] {
    ahead = Step(quick);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(done);
  EXPECT_EQ(slow.variables->Leave(1), absl::OkStatus());
  next.join();
  EXPECT_EQ(ahead, absl::OkStatus());
  EXPECT_EQ(quick.variables->wish(), ServedVariables::Wish::kGoOn);
  // A signal ends all trainings.
  ASSERT_EQ(chief.variables->Stop(ServedVariables::Wish::kSignal), absl::OkStatus());
  ASSERT_EQ(Step(quick), absl::OkStatus());
  EXPECT_EQ(quick.variables->wish(), ServedVariables::Wish::kSignal);
}

TEST_F(ServedVariablesTest, AnotherModelIsRefused) {
  Serve();
  auto program = Prepare([](GraphBuilder& g) { Model(g, 5); }, PartOptions());
  ASSERT_TRUE(program.ok()) << program.status();
  Worker other = NewWorker(0);
  const absl::Status status = other.variables->Begin(*program->executable, program->variables, /*step=*/0);
  EXPECT_TRUE(absl::StartsWith(status.message(), "worker 0 has another model than ps 0: it sends ps0/0/")) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
}

// Whatever bytes come, there is an answer, and the server goes on.
TEST_F(ServedVariablesTest, DamagedRequestsAreAnswered) {
  Serve();
  ServerState& state = servers_[0]->state();
  int answers = 0, errors = 0;
  const int64_t connection = state.Connect([&](grpc::ByteBuffer answer) {
    parameters::Reply reply;
    FrameReader reader;
    ASSERT_TRUE(reader.Open(answer, &reply).ok());
    ++answers;
    errors += reply.failure().code() != 0 ? 1 : 0;
  });
  parameters::Request hello, assign, exchange;
  hello.mutable_hello()->set_protocol(kParameterProtocol);
  assign.mutable_assign()->add_tensors()->set_name("dense/kernel");
  exchange.mutable_exchange()->add_scalars()->set_name("learning_rate");
  std::mt19937 random(7);
  int sent = 0;
  for (const parameters::Request& request : {hello, assign, exchange}) {
    const std::string text = request.SerializeAsString();
    std::string bytes(4, '\0');
    bytes[0] = static_cast<char>(text.size());
    bytes += text + std::string(40, 'x');
    for (int i = 0; i < 5000; ++i) {
      std::string damaged = bytes.substr(0, random() % (bytes.size() + 1));
      for (int n = static_cast<int>(random() % 4); n > 0 && !damaged.empty(); --n) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      const grpc::Slice slice(damaged);
      state.Handle(connection, grpc::ByteBuffer(&slice, 1));
      ++sent;
    }
  }
  EXPECT_EQ(answers, sent);
  EXPECT_GT(errors, sent / 2);
  state.Disconnect(connection);
  Worker chief = NewWorker(0);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  EXPECT_EQ(Step(chief), absl::OkStatus());
}

}  // namespace
}  // namespace tandem::compiled
