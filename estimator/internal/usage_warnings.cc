#include "estimator/internal/usage_warnings.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/config/warnings.h"
#include "estimator/evaluation/metric_accumulator.h"

namespace tandem {
namespace {

// Returns the last stage of that name, for example "Repeat (input.cc:12)"; "" if there is none. An empty name matches
// any stage.
std::string LastStage(const BatchDealer& dealer, absl::string_view name) {
  const Throughput described = dealer.throughput();
  for (auto stage = described.stages.rbegin(); stage != described.stages.rend(); ++stage) {
    if (absl::StartsWith(stage->stage, name)) return stage->stage;
  }
  return "";
}

// Returns, for example, "max_steps = 5000".
std::string Asked(const TrainOptions& options) {
  return options.max_steps.has_value() ? absl::StrCat("max_steps = ", *options.max_steps)
                                       : absl::StrCat("steps = ", *options.steps);
}

// Returns advice on how to train longer than the input.
std::string HowToTrainOn(const BatchDealer& dealer) {
  const std::string repeat = LastStage(dealer, "Repeat"), batch = LastStage(dealer, "Batch");
  return absl::StrCat("; to train on, ",
                      repeat.empty() ? absl::StrCat("add Repeat() to the dataset, in front of ",
                                                    batch.empty() ? LastStage(dealer, "") : batch)
                                     : absl::StrCat("leave out the count of ", repeat),
                      ".");
}

}  // namespace

void UsageWarnings::EndlessInput(const TrainOptions& options, const BatchDealer& dealer) const {
  if (!cooperation_.is_chief() || !dealer.infinite() || options.steps.has_value() || options.max_steps.has_value())
    return;
  const std::string repeat = LastStage(dealer, "Repeat");
  LogWarning(config_.silence, kEndlessTraining,
             absl::StrCat("The input never ends, by ", repeat.empty() ? LastStage(dealer, "") : repeat,
                          ", and neither max_steps nor steps is set: only a hook or a signal ends this training. Set "
                          "max_steps, or give Repeat a count."));
}

void UsageWarnings::ShortInput(const TrainOptions& options, const BatchDealer& dealer, int64_t step) {
  short_input_said_ = false;
  const int64_t batches = dealer.dataset().cardinality();
  // If each worker has an input of its own, the lengths of the other inputs are not known.
  const bool own_inputs = cooperation_.synchronous() && config_.auto_shard != AutoShard::kBatch;
  const bool known = batches >= 0 && !cooperation_.asynchronous() && !own_inputs;
  const bool asked = options.max_steps.has_value() || options.steps.has_value();
  if (!cooperation_.is_chief() || !known || !asked) return;
  const int64_t per_step = dealer.batches_per_round(), steps = batches / per_step + (batches % per_step > 0);
  const int64_t wanted = options.steps.has_value() ? *options.steps : *options.max_steps - step;
  if (wanted <= steps) return;
  short_input_said_ = true;
  LogWarning(config_.silence, kInputEndedEarly,
             absl::StrCat("The input has ", steps, steps == 1 ? " step" : " steps", ", and ends before ",
                          Asked(options), HowToTrainOn(dealer)));
}

void UsageWarnings::EndedInput(const TrainOptions& options, const BatchDealer& dealer, int64_t steps,
                               int64_t step) const {
  const bool asked = options.max_steps.has_value() || options.steps.has_value();
  // With parameter servers each worker's input ends by itself.
  if (!cooperation_.is_chief() || cooperation_.asynchronous() || !asked || steps >= options.steps.value_or(steps + 1) ||
      short_input_said_)
    return;
  LogWarning(config_.silence, kInputEndedEarly,
             absl::StrCat("The input ended at step ", step, ", before ", Asked(options), HowToTrainOn(dealer)));
}

std::unique_ptr<WatchedValues> UsageWarnings::WatchValues(const ModeProgram& program) const {
  std::map<std::string, std::string> watched;
  for (const ModelSummary& summary : program.summaries()) {
    // Values of variables are checked when they are saved.
    if (summary.kind == SummaryKind::kText || !summary.variable.empty()) continue;
    watched.emplace(summary.op, absl::StrCat("The summary \"", summary.tag, "\" at ", summary.origin));
  }
  for (const auto& [name, metric] : program.spec().metrics) {
    for (const std::string& sum : SumsOf(metric)) {
      const Tensor& tensor = !metric.result ? (sum == "total" ? metric.total : metric.count) : metric.sums.at(sum);
      watched.emplace(MetricSumName(name, sum),
                      absl::StrCat("The ", sum, " of the metric \"", name, "\" at ", tensor.origin()));
    }
  }
  if (watched.empty()) return nullptr;
  return std::make_unique<WatchedValues>(std::move(watched), [this](const std::string& message) {
    LogWarning(config_.silence, kWatchedNotFinite, message);
  });
}

void UsageWarnings::Model(const ModeProgram& program) {
  if (!cooperation_.is_chief()) return;
  const auto warn = [this](absl::string_view name, const std::string& text) {
    if (said_of_model_.insert(text).second) LogWarning(config_.silence, name, text);
  };
  for (const ScoreProblem& problem : program.score_problems()) warn(problem.warning, problem.text);
  const int workers = cooperation_.ShareOf(Mode::kTrain).workers;
  const bool stale = cooperation_.asynchronous() && workers > 1 && config_.max_staleness.value_or(1) > 0;
  if (!stale || program.mode() != Mode::kTrain) return;
  for (const GraphNode& node : program.nodes()) {
    if (node.op != "apply_momentum" && node.op != "apply_rmsprop_momentum") continue;
    warn(kStaleMomentum,
         absl::StrCat("The optimizer at ", node.source, " has momentum, and ", workers,
                      " workers update the parameter servers without waiting for each other: their gradients are some "
                      "updates old, which momentum adds up, so that training is slower by step or diverges. Take a "
                      "smaller momentum or learning rate, bound the age with RunConfig.max_staleness, or train with "
                      "MultiWorkerMirroredStrategy, where no gradient is old."));
    return;
  }
}

void UsageWarnings::UnreadParams() {
  if (std::exchange(params_looked_at_, true) || !cooperation_.is_chief()) return;
  const std::string unread = params_.UnreadText();
  if (!unread.empty()) LogWarning(config_.silence, kUnreadParams, unread);
}

}  // namespace tandem
