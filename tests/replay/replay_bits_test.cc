// S2, a Transformer and a run of four workers, each killed and resumed once, at twenty steps that are drawn at random:
// every tensor of the step that is made again has the bits that a hook fetched in the run. Prints how many have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/content_fingerprint.h"
#include "base/exit_code.h"
#include "estimator/replay/replay_request.h"
#include "estimator/replay/step_file.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"
#include "frontends/activations.h"
#include "runtime/collectives/testing/processes.h"
#include "samples/models.h"

namespace tandem {
namespace {

using test::ModelDir;
using test::StepHook;

constexpr int64_t kSteps = 40, kReplayed = 20;

struct Job {
  std::string name;
  ModelFn model;
  InputFn input;
  Params params;
  int replicas = 1, accumulate = 1;
};

RunConfig Of(const Job& job, const std::string& dir, RunConfig config) {
  config.model_dir = dir;
  config.seed = 17;
  config.save_checkpoints_secs = std::nullopt;
  config.save_checkpoints_steps = 8;
  config.keep_checkpoint_max = 0;
  config.accumulate_batches = job.accumulate;
  config.compile_cache_dir = JoinPath(::testing::TempDir(), absl::StrCat("replay_bits_", job.name));
  config.log_step_count_steps = 0;
  config.save_summary_steps = 0;
  return config;
}

// Twenty of the steps, the same in each run of the test.
std::vector<int64_t> DrawnSteps() {
  std::vector<int64_t> steps(kSteps);
  std::iota(steps.begin(), steps.end(), 0);
  std::shuffle(steps.begin(), steps.end(), std::mt19937(20261129));
  steps.resize(kReplayed);
  std::sort(steps.begin(), steps.end());
  return steps;
}

absl::string_view BytesOf(const HostTensor& t) {
  return {static_cast<const char*>(t.raw()), static_cast<size_t>(t.byte_size())};
}

// The tensors of a step, which the program makes once more.
absl::StatusOr<StepFile> Replayed(const Job& job, const RunConfig& config, int64_t step) {
  const std::string file = JoinPath(::testing::TempDir(), absl::StrCat("replay_bits_", job.name, ".npz"));
  SetReplayOfProcess(ReplayRequest{.step = step, .dump_step = true, .out = file});
  Estimator estimator(job.model, config, job.params);
  const absl::Status status = estimator.Train(job.input, {.max_steps = kSteps});
  SetReplayOfProcess(std::nullopt);
  if (ExitCodeFor(status) != kExitOk) return status;
  auto read = ReadStepFile(file);
  Env::Default()->DeleteFile(file).IgnoreError();
  return read;
}

// The names of all tensors that the job's graph has. In a process of its own, as this one must not have threads yet.
std::vector<std::string> NamesOf(const Job& job) {
  const std::string file = JoinPath(ModelDir("names"), "names.txt");
  Processes process(1, [&](int) {
    const RunConfig config = Of(job, ModelDir("names_run"), test::Config("", job.replicas));
    Estimator estimator(job.model, config, job.params);
    if (const absl::Status trained = estimator.Train(job.input, {.max_steps = 1}); !trained.ok()) {
      std::fprintf(stderr, "%s\n", trained.ToString().c_str());
      return 1;
    }
    const absl::StatusOr<StepFile> step = Replayed(job, config, 0);
    if (!step.ok()) return 1;
    std::vector<std::string> names;
    for (const auto& entry : step->arrays) {
      // Values behind the step are no tensors of the graph.
      if (!absl::StrContains(entry.first, "@") && entry.first != "global_step") names.push_back(entry.first);
    }
    std::ofstream(file) << absl::StrJoin(names, "\n");
    return 0;
  });
  EXPECT_EQ(process.WaitAll(), 0);
  return absl::StrSplit(Env::Default()->ReadFile(file).value_or(""), '\n', absl::SkipEmpty());
}

// What a hook saw of a tensor.
struct Seen {
  int64_t bytes = 0;
  std::string fingerprint;
};
using SeenOfStep = std::map<std::string, Seen>;

// A hook that notes what it sees in `steps`, and ends the training behind step `last`.
std::shared_ptr<StepHook> Watch(const std::vector<std::string>& names, const std::vector<int64_t>& steps, int64_t last,
                                std::map<int64_t, SeenOfStep>* seen) {
  return std::make_shared<StepHook>(
      [=](RunContext& context, const RunValues& values) {
        if (values.step == last) context.Fail(absl::AbortedError("killed"));
        if (!std::binary_search(steps.begin(), steps.end(), values.step)) return;
        SeenOfStep& of_step = (*seen)[values.step];
        for (const auto& [name, value] : values.tensors) {
          of_step[name] = {value.byte_size(), ContentFingerprint(BytesOf(value))};
        }
      },
      names);
}

struct Count {
  int64_t equal = 0, all = 0;
};

// A worker has seen a value whole, or its rows of it.
void Compare(const SeenOfStep& seen, const StepFile& step, int rank, int workers, const std::vector<std::string>& names,
             Count* count) {
  for (const std::string& name : names) {
    ++count->all;
    const auto value = step.arrays.find(name);
    const auto other = seen.find(name);
    if (value == step.arrays.end() || other == seen.end()) {
      ADD_FAILURE() << name << " is missing in step " << step.step;
      continue;
    }
    absl::string_view bytes = BytesOf(value->second);
    if (other->second.bytes * workers == static_cast<int64_t>(bytes.size())) {
      bytes = bytes.substr(bytes.size() / workers * rank, bytes.size() / workers);
    }
    const bool equal = ContentFingerprint(bytes) == other->second.fingerprint;
    EXPECT_TRUE(equal) << name << " of step " << step.step << ", worker " << rank;
    count->equal += equal;
  }
}

void Report(const Job& job, const Count& count) {
  std::printf("%s: %lld of %lld tensors equal, in %lld steps\n", job.name.c_str(), static_cast<long long>(count.equal),
              static_cast<long long>(count.all), static_cast<long long>(kReplayed));
  std::fflush(stdout);
  EXPECT_GT(count.all, 20 * kReplayed);
  EXPECT_EQ(count.equal, count.all);
}

void ExpectEqualBits(const Job& job) {
  const std::vector<std::string> names = NamesOf(job);
  const std::vector<int64_t> steps = DrawnSteps();
  const RunConfig config = Of(job, ModelDir("run"), test::Config("", job.replicas));
  std::map<int64_t, SeenOfStep> seen;
  {
    Estimator estimator(job.model, config, job.params);
    ASSERT_FALSE(
        estimator.Train(job.input, {.max_steps = kSteps, .hooks = {Watch(names, steps, /*last=*/21, &seen)}}).ok());
  }
  {
    Estimator estimator(job.model, config, job.params);
    ASSERT_EQ(estimator.Train(job.input, {.max_steps = kSteps, .hooks = {Watch(names, steps, /*last=*/-1, &seen)}}),
              absl::OkStatus());
  }
  Count count;
  for (const int64_t step : steps) {
    const absl::StatusOr<StepFile> again = Replayed(job, config, step);
    ASSERT_TRUE(again.ok()) << again.status();
    Compare(seen[step], *again, /*rank=*/0, /*workers=*/1, names, &count);
  }
  Report(job, count);
}

// `rows` examples of pictures with labels, one-hot or not, and of sequences of ids; shuffled.
InputFn Examples(int64_t batch, bool one_hot) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    constexpr int64_t kCount = 48, kTokens = 12;
    std::vector<float> pixels(kCount * 28 * 28), places(kCount * 10);
    std::vector<int32_t> labels, ids;
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 37 % 101) / 101;
    for (int64_t i = 0; i < kCount; ++i) {
      labels.push_back(static_cast<int32_t>(i * 3 % 10));
      places[i * 10 + i * 3 % 10] = 1;
      for (int64_t t = 0; t < kTokens; ++t) ids.push_back(static_cast<int32_t>((i * 7 + t * t) % 50));
    }
    return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({kCount, 28, 28, 1}, pixels)},
                                      {"ids", HostTensor::FromVector({kCount, kTokens}, ids)},
                                      {"label", one_hot ? HostTensor::FromVector({kCount, 10}, places)
                                                        : HostTensor::FromVector({kCount}, labels)}})
        .Shuffle(20, {.seed = 3})
        .Repeat()
        .Batch(batch)
        .Prefetch(2);
  };
}

EstimatorSpec Trained(const Tensor& labels, const Tensor& logits) {
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.003}).Minimize(loss));
}

// One layer of an encoder, with dropout.
EstimatorSpec Transformer(const Features& features, const Tensor& labels, Mode, const Params&) {
  Tensor x = layers::Embedding(features["ids"], {.input_dim = 50, .output_dim = 32});
  const Tensor attention = layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = 16});
  x = layers::LayerNormalization(x + layers::Dropout(attention, {.rate = 0.1, .training = true}));
  Tensor y = layers::Dense(layers::Dense(x, {.units = 64, .activation = Gelu}), {.units = 32});
  x = layers::LayerNormalization(x + layers::Dropout(y, {.rate = 0.1, .training = true}));
  return Trained(labels, layers::Dense(ReduceMean(x, {1}), {.units = 10}));
}

EstimatorSpec SmallConvnet(const Features& features, const Tensor& labels, Mode, const Params&) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 4, .kernel_size = 3, .strides = 2, .activation = Relu});
  x = layers::Flatten(layers::MaxPooling2D(x));
  x = layers::Dropout(layers::Dense(x, {.units = 16, .activation = Relu}), {.rate = 0.4, .training = true});
  return Trained(labels, layers::Dense(x, {.units = 10}));
}

// The first: its processes are forked while this one has one thread.
TEST(ReplayBits, OfFourWorkers) {
  constexpr int kWorkers = 4;
  const Job job = {.name = "workers", .model = SmallConvnet, .input = Examples(4, /*one_hot=*/false)};
  const std::vector<std::string> names = NamesOf(job);
  const std::vector<int64_t> steps = DrawnSteps();
  const std::string dir = ModelDir("run");
  // Lines "STEP BYTES FINGERPRINT NAME".
  std::vector<std::map<int64_t, SeenOfStep>> seen(kWorkers);
  for (const int64_t last : {21, -1}) {
    const std::vector<std::string> results = test::ResultsOfWorkers(kWorkers, [&](int, RunConfig config) {
      std::map<int64_t, SeenOfStep> mine;
      config = Of(job, dir, std::move(config));
      config.threads = 1;
      config.handle_signals = false;
      Estimator estimator(job.model, config, job.params);
      const absl::Status trained =
          estimator.Train(job.input, {.max_steps = kSteps, .hooks = {Watch(names, steps, last, &mine)}});
      EXPECT_EQ(trained.ok(), last < 0) << trained;
      std::string text;
      for (const auto& [step, tensors] : mine) {
        for (const auto& [name, value] : tensors) {
          absl::StrAppend(&text, step, " ", value.bytes, " ", value.fingerprint, " ", name, "\n");
        }
      }
      return text;
    });
    for (int rank = 0; rank < kWorkers; ++rank) {
      for (absl::string_view line : absl::StrSplit(results[rank], '\n', absl::SkipEmpty())) {
        const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 3));
        int64_t step = 0, bytes = 0;
        ASSERT_TRUE(words.size() == 4 && absl::SimpleAtoi(words[0], &step) && absl::SimpleAtoi(words[1], &bytes));
        seen[rank][step][words[3]] = {bytes, words[2]};
      }
    }
  }
  // One process, as for a run of one worker.
  RunConfig config = Of(job, dir, test::Config(""));
  config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0"});
  Count count;
  for (const int64_t step : steps) {
    const absl::StatusOr<StepFile> again = Replayed(job, config, step);
    ASSERT_TRUE(again.ok()) << again.status();
    for (int rank = 0; rank < kWorkers; ++rank) Compare(seen[rank][step], *again, rank, kWorkers, names, &count);
  }
  Report(job, count);
}

TEST(ReplayBits, OfATransformerWithDropoutAndAccumulatedBatches) {
  ExpectEqualBits(
      {.name = "transformer", .model = Transformer, .input = Examples(4, /*one_hot=*/false), .accumulate = 2});
}

TEST(ReplayBits, OfS2OnTwoDevices) {
  const absl::StatusOr<SampleModel> s2 = SampleModelByName("multi_gpu");
  ASSERT_TRUE(s2.ok()) << s2.status();
  ExpectEqualBits({.name = "s2",
                   .model = s2->model_fn,
                   .input = Examples(2, s2->one_hot_labels),
                   .params = {{"optimizer", s2->optimizer}},
                   .replicas = 2});
}

}  // namespace
}  // namespace tandem
