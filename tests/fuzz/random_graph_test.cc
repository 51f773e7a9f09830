// Random graphs, compiled for one or two devices, do what the reference interpreter does.
// A failure prints the seed and the graph.
#include "tests/fuzz/random_graph.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "graph/reference/reference.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::fuzz {
namespace {

compiled::Options RandomOptions(uint32_t seed) {
  std::mt19937 random(seed + 1000003);
  compiled::Options options{.devices = random() % 3 == 0 ? 2 : 1, .batch = 1 + static_cast<int64_t>(random() % 20)};
  options.threads = 1 + random() % 2;
  options.steps = 1;
  // The reductions and divisions of a random graph amplify rounding more than those of a model.
  options.tolerance = 3e-4;
  if (random() % 3 == 0) {
    for (int d = 0; d < options.devices; ++d)
      options.rows.push_back(d == 0 ? 1 + random() % options.batch : random() % (options.batch + 1));
  }
  if (random() % 4 == 0) {
    options.lanes = 2 * options.devices;
    options.microbatch_rows = 1 + random() % 4;
  }
  return options;
}

HostTensor Uniform(const Shape& shape, double low, double high, std::mt19937& random) {
  HostTensor t(DType::kFloat32, shape);
  std::uniform_real_distribution<double> uniform(low, high);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = static_cast<float>(uniform(random));
  return t;
}

// How much of the largest element of an output (or of 1e-3, as the harness counts) float32 may be off by, where terms
// that cancel leave more than `otherwise`.
double ToleranceFor(uint32_t seed, double otherwise) {
  constexpr int64_t kRows = 20;
  constexpr double kErrors = 4, kMost = 0.01;  // roundings of an op in the worst place; what is worse tests nothing
  GraphBuilder graph("exact"), noisy_graph("noisy");
  BuildRandomGraph(seed, graph);
  std::mt19937 random(seed);
  TensorMap inputs, exact_inputs, variables;
  for (auto [name, shape] : BuildNoisyGraph(seed, noisy_graph)) {
    shape[0] = kRows;
    inputs[name] = Uniform(shape, -1, 1, random);
    if (name != "noise") exact_inputs[name] = inputs[name];
  }
  for (const VariableSpec& v : graph.variables()) variables[v.name] = Uniform(v.shape, -0.8, 0.8, random);
  const auto exact = Evaluate(graph, exact_inputs, variables), noisy = Evaluate(noisy_graph, inputs, variables);
  EXPECT_TRUE(exact.ok() && noisy.ok()) << exact.status() << noisy.status();
  if (!exact.ok() || !noisy.ok()) return otherwise;
  double tolerance = otherwise;
  for (const auto& [name, value] : *exact) {
    if (variables.count(name) > 0 || name == "argmax") continue;
    const double size = std::max(compiled::MaxMagnitude(value), 1e-3);
    tolerance = std::max(tolerance, kErrors * compiled::MaxDifference(noisy->at(name), value) / size);
  }
  return std::min(tolerance, kMost);
}

class RandomGraphs : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraphs, AgreeWithTheReference) {
  const uint32_t seed = GetParam();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  compiled::Options options = RandomOptions(seed);
  options.tolerance = ToleranceFor(seed, options.tolerance);
  ASSERT_NO_FATAL_FAILURE(compiled::CompareWithReference([=](GraphBuilder& g) { BuildRandomGraph(seed, g); }, options));
  if (HasFailure()) {
    GraphBuilder g("test");
    BuildRandomGraph(seed, g);
    std::cout << g.ToString() << std::endl;
  }
}

// TANDEM_FUZZ_FIRST and TANDEM_FUZZ_COUNT choose other seeds, for longer runs by hand.
uint32_t FromEnvironment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::atoi(text));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs,
                         testing::Range(FromEnvironment("TANDEM_FUZZ_FIRST", 0),
                                        FromEnvironment("TANDEM_FUZZ_FIRST", 0) +
                                            FromEnvironment("TANDEM_FUZZ_COUNT", 150)));

// What longer runs found: terms that cancel; a maximum whose gradient was lost, as two kernels rounded it differently.
INSTANTIATE_TEST_SUITE_P(Found, RandomGraphs, testing::Values(100517, 101131));

}  // namespace
}  // namespace tandem::fuzz
