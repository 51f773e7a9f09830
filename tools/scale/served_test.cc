// Forecasts with parameter servers, against values worked out by hand and against a simulation of the queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "runtime/testing/executable_builder.h"
#include "tools/scale/parameter_servers.h"
#include "tools/scale/served_step.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

const Link kLink = {1e9, 1e-3, 0};

ServedStep TwoServers() {
  ServedStep step;
  step.compute = 0.100;
  step.servers = {{10e6, 10e6, 0.005}, {20e6, 5e6, 0.001}};
  return step;
}

TEST(Served, AWorkerAloneWaitsForAllItsParts) {
  // 100 ms, 30 MB there and 15 MB back, two latencies, the longer update.
  EXPECT_NEAR(AloneSeconds(TwoServers(), kLink), 0.100 + 0.045 + 0.002 + 0.005, 1e-12);
  EXPECT_NEAR(AloneSeconds(TwoServers(), {1e9, 1e-3, 1e-4}), 0.1521, 1e-12);
}

TEST(Served, FewWorkersAreTheBound) {
  const ServedForecast f = ForecastServed(TwoServers(), 4, kLink, 0);
  EXPECT_NEAR(f.rate, 4 / 0.152, 1e-9);
  EXPECT_EQ(f.bound, Bound::kWorkers);
  EXPECT_EQ(f.server, -1);
  EXPECT_EQ(f.staleness, 3);
}

TEST(Served, ManyWorkersShareTheBusiestServersLink) {
  for (int workers : {8, 1024}) {
    const ServedForecast f = ForecastServed(TwoServers(), workers, kLink, 0);
    EXPECT_NEAR(f.rate, 1 / 0.020, 1e-9);  // 20 MB to server 1
    EXPECT_EQ(f.bound, Bound::kServerLink);
    EXPECT_EQ(f.server, 1);
    EXPECT_EQ(f.staleness, workers - 1);
  }
}

TEST(Served, UpdatesAreMadeOneAfterAnother) {
  ServedStep step = TwoServers();
  step.servers[0].update = 0.030;
  const ServedForecast f = ForecastServed(step, 64, kLink, 0);
  EXPECT_NEAR(f.rate, 1 / 0.030, 1e-9);
  EXPECT_EQ(f.bound, Bound::kServerUpdates);
  EXPECT_EQ(f.server, 0);
}

TEST(Served, CoresAreSharedByWorkersAndServers) {
  // A step takes 106 ms of a core, and 45 ms in which one carries bytes.
  const ServedForecast f = ForecastServed(TwoServers(), 4, kLink, 2);
  EXPECT_NEAR(f.rate, 2 / 0.151, 1e-9);
  EXPECT_EQ(f.bound, Bound::kCores);
  EXPECT_EQ(ForecastServed(TwoServers(), 2, kLink, 2).bound, Bound::kWorkers);
  ServedStep two_threads = TwoServers();
  two_threads.threads = 2;
  EXPECT_NEAR(ForecastServed(two_threads, 4, kLink, 2).rate, 2 / 0.251, 1e-9);
}

TEST(Served, ServersCopyWhatComesAndGoes) {
  ServedStep step = TwoServers();
  AddCopies(1e9, &step);
  EXPECT_NEAR(step.servers[0].update, 0.025, 1e-12);
  EXPECT_NEAR(step.servers[1].update, 0.026, 1e-12);
}

// Workers around one server, event by event: each computes, sends through the server's port in, is updated, and gets
// the values through its port out. Steps a second of the second half.
double SimulatedRate(const ServedStep& step, int workers, const Link& link) {
  const ServerLoad& s = step.servers[0];
  struct Request {
    double time;
    int worker, stage;
    bool operator>(const Request& other) const { return time > other.time; }
  };
  std::priority_queue<Request, std::vector<Request>, std::greater<>> events;
  for (int w = 0; w < workers; ++w) events.push({step.compute, w, 0});
  const double seconds[] = {s.sent / link.bandwidth, s.update, s.returned / link.bandwidth};
  double free[] = {0, 0, 0};
  const int steps = 200 * workers;
  int done = 0;
  double half = 0, now = 0;
  while (done < steps) {
    Request r = events.top();
    events.pop();
    if (r.stage == 3) {
      now = r.time;
      if (++done == steps / 2) half = now;
      events.push({r.time + step.compute, r.worker, 0});
      continue;
    }
    free[r.stage] = std::max(free[r.stage], r.time) + seconds[r.stage];
    // Latencies: to the server, and back.
    events.push({free[r.stage] + (r.stage == 1 ? 0 : link.latency), r.worker, r.stage + 1});
  }
  return (steps - steps / 2) / (now - half);
}

TEST(Served, QueuesMoveAsFastAsTheBoundSays) {
  ServedStep step;
  step.compute = 0.050;
  for (const ServerLoad& load : {ServerLoad{10e6, 10e6, 0.002}, ServerLoad{1e6, 1e6, 0.012}, ServerLoad{1e6, 9e6, 0}}) {
    step.servers = {load};
    for (int workers : {1, 2, 3, 5, 8, 16, 64}) {
      const double forecast = ForecastServed(step, workers, kLink, 0).rate;
      EXPECT_NEAR(SimulatedRate(step, workers, kLink) / forecast, 1, 0.02) << workers << " workers";
    }
  }
}

std::shared_ptr<const Executable> Parsed(format::Index index) {
  auto executable = Executable::Parse(BuildExecutable(std::move(index), {}), "part.tdx");
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *executable : nullptr;
}

void Place(format::Index& index, const std::string& variable, uint32_t server, int64_t first_row, int64_t rows) {
  format::PlacedPart part;
  part.variable = variable;
  part.server = server;
  part.first_row = first_row;
  part.rows = rows;
  index.placement.push_back(std::move(part));
}

void PlaceAll(format::Index& index) {
  index.parameter_servers = 2;
  Place(index, "table", 0, 0, 60);
  Place(index, "table", 1, 60, 40);
  Place(index, "bias", 1, 0, 0);
  Place(index, "frozen", 1, 0, 0);
}

// Reads table [100, 2], bias [3] and frozen [50]; sends gradients of the parts of the first two.
std::shared_ptr<const Executable> WorkerPart() {
  ExecutableBuilder b(1, 1, 1, 1);
  b.Variable("table", {100, 2});
  b.Variable("bias", {3});
  b.Variable("frozen", {50});
  b.Global();
  b.Output("ps0/0/gradient", b.Step("g0", {60, 2}));
  b.Output("ps1/0/gradient", b.Step("g1", {40, 2}));
  b.Output("ps1/1/gradient", b.Step("g2", {3}));
  b.Output("loss", b.Step("loss", {}));
  PlaceAll(b.index());
  return Parsed(b.Take());
}

// Of the server's variables all but `frozen` change.
std::shared_ptr<const Executable> ServerPart(int server) {
  ExecutableBuilder b(1, 1, 1, 1);
  if (server == 0) b.Variable("table[0:60]", {60, 2});
  if (server == 1) {
    b.Variable("table[60:100]", {40, 2});
    b.Variable("bias", {3});
    b.Variable("frozen", {50});
  }
  b.Variable("momentum", {60, 2});
  b.Global();
  PlaceAll(b.index());
  b.index().parameter_server = server;
  for (auto& v : b.index().variables) v.updated = v.name != "frozen";
  return Parsed(b.Take());
}

TEST(ServedStep, CountsWhatTheProgramsSendAndRead) {
  const auto worker = WorkerPart();
  const std::vector<std::shared_ptr<const Executable>> servers = {ServerPart(0), ServerPart(1)};
  ASSERT_TRUE(worker != nullptr && servers[0] != nullptr && servers[1] != nullptr);
  const auto step = ServedStepOf(*worker, servers);
  ASSERT_TRUE(step.ok()) << step.status();
  ASSERT_EQ(step->servers.size(), 2u);
  EXPECT_EQ(step->servers[0].sent, 480);
  EXPECT_EQ(step->servers[0].returned, 480);
  EXPECT_EQ(step->servers[1].sent, 320 + 12);
  EXPECT_EQ(step->servers[1].returned, 320 + 12);
}

TEST(ServedStep, PartsOfAnotherTrainingAreRefused) {
  const auto worker = WorkerPart();
  const auto server = ServerPart(1);
  ASSERT_TRUE(worker != nullptr && server != nullptr);
  const absl::Status status = ServedStepOf(*worker, {server, server}).status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is the part of server 1 of 2"));
}

TEST(ServedStep, VariablesOfAWholeProgramArePlacedByBytes) {
  ExecutableBuilder b(1, 1, 1, 1);
  b.Variable("a", {100});
  b.Variable("a/Momentum", {100});
  b.Variable("b", {100});
  b.Variable("frozen", {10});
  b.Global();
  for (auto& v : b.index().variables) v.updated = v.name != "frozen";
  b.index().variables[1].slot_of = "a";
  const auto program = Parsed(b.Take());
  ASSERT_NE(program, nullptr);
  // a and its slot on the first server, b and what is frozen on the other; slots do not travel.
  const ServedStep step = PlacedStep(*program, 2, 0.006);
  ASSERT_EQ(step.servers.size(), 2u);
  EXPECT_EQ(step.servers[0].sent, 400);
  EXPECT_EQ(step.servers[1].sent, 400);
  EXPECT_EQ(step.servers[1].returned, 400);
  EXPECT_NEAR(step.servers[0].update, 0.004, 1e-12);
  EXPECT_NEAR(step.servers[1].update, 0.002, 1e-12);
}

TEST(ServedStep, ALargeVariableIsSpread) {
  ExecutableBuilder b(1, 1, 1, 1);
  b.Variable("table", {1024, 256});  // 1 MiB
  b.Global();
  b.index().variables[0].updated = true;
  const auto program = Parsed(b.Take());
  ASSERT_NE(program, nullptr);
  const ServedStep step = PlacedStep(*program, 4, 1);
  for (const ServerLoad& s : step.servers) EXPECT_EQ(s.sent, 256 << 10);
}

}  // namespace
}  // namespace tandem
