// Random graphs, compiled for one or two devices, do what the reference interpreter does.
// A failure prints the seed and the graph.
#include "tests/fuzz/random_graph.h"

#include <cstdlib>
#include <iostream>
#include <random>

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
    options.shard_rows = 1 + random() % 4;
  }
  return options;
}

class RandomGraphs : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraphs, AgreeWithTheReference) {
  const uint32_t seed = GetParam();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ASSERT_NO_FATAL_FAILURE(
      compiled::CompareWithReference([=](GraphBuilder& g) { BuildRandomGraph(seed, g); }, RandomOptions(seed)));
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

}  // namespace
}  // namespace tandem::fuzz
