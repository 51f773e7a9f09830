#include "estimator/summary/model_summaries.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "estimator/summary/histogram.h"
#include "estimator/summary/summary_value.h"

namespace tandem {
namespace {

bool IsNumber(const ModelSummary& summary) {
  return summary.kind == SummaryKind::kScalar || summary.kind == SummaryKind::kLearningRate;
}

// True for "learning_rate", and for "learning_rate_1" and so on of further optimizers.
bool IsLearningRate(absl::string_view tag) {
  if (!absl::ConsumePrefix(&tag, "learning_rate")) return false;
  return tag.empty() || (absl::ConsumePrefix(&tag, "_") && !tag.empty() && absl::c_all_of(tag, absl::ascii_isdigit));
}

struct Shown {
  ModelSummary summary;
  HostTensor value;
};

absl::StatusOr<std::vector<std::string>> Encode(const std::vector<Shown>& all) {
  std::vector<std::string> values;
  for (const auto& [summary, value] : all) {
    switch (summary.kind) {
      case SummaryKind::kHistogram: {
        const Histogram histogram = HistogramOf(value);
        if (histogram.count > 0) values.push_back(HistogramValue(summary.tag, histogram));
        break;
      }
      case SummaryKind::kImage: {
        TD_ASSIGN_OR_RETURN(std::vector<std::string> images, ImageValues(summary.tag, value, summary.max_outputs));
        for (std::string& image : images) values.push_back(std::move(image));
        break;
      }
      case SummaryKind::kText:
        values.push_back(TextValue(summary.tag, TextOf(value)));
        break;
      case SummaryKind::kScalar:
      case SummaryKind::kLearningRate:
        break;
    }
  }
  return values;
}

// Returns the rows of a fetched value that are shown: of images the first max_outputs, otherwise all.
HostTensor Kept(const ModelSummary& summary, const HostTensor& value) {
  return summary.kind == SummaryKind::kImage ? FirstRows(value, summary.max_outputs) : value;
}

// Adds events with the values `shown`. Encoding them is left to the writer's thread.
void WriteLater(int64_t step, std::vector<Shown> shown, EventWriter& writer) {
  if (shown.empty()) return;
  size_t bytes = 0;
  for (const Shown& one : shown) bytes += static_cast<size_t>(one.value.byte_size());
  writer.AddValues(step, bytes, [shown = std::move(shown)] { return Encode(shown); });
}

}  // namespace

absl::Status CheckSummaryTags(const std::vector<ModelSummary>& summaries, const std::set<std::string>& taken) {
  static const auto* const kOwn =
      new std::set<std::string>{"loss", "global_step/sec", "examples/sec", "input_wait", "hyperparameters"};
  for (const ModelSummary& summary : summaries) {
    if (summary.kind == SummaryKind::kLearningRate) continue;
    if (!IsLearningRate(summary.tag) && kOwn->count(summary.tag) == 0 && taken.count(summary.tag) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("summary \"", summary.tag, "\" at ", summary.origin,
                                                   taken.count(summary.tag) > 0
                                                       ? ": there is a metric of this name, which is shown without"
                                                       : ": training and evaluation write this name themselves",
                                                   "; leave the summary out, or choose another name"));
  }
  return absl::OkStatus();
}

absl::Status ModelSummaryHook::Begin(HookContext& context) {
  if (every_n_steps_ <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("every_n_steps must be positive, got ", every_n_steps_));
  }
  for (const ModelSummary& summary : summaries_) {
    if (summary.variable.empty()) context.Fetch(summary.op);
  }
  return absl::OkStatus();
}

absl::Status ModelSummaryHook::AfterCreateSession(RunContext& context) {
  next_step_ = context.global_step() + 1;
  return absl::OkStatus();
}

std::vector<std::string> ModelSummaryHook::BeforeRun(RunContext& context) {
  std::vector<std::string> fetches;
  asked_ = context.global_step() + 1 >= next_step_;
  if (!asked_) return fetches;
  for (const ModelSummary& summary : summaries_) {
    const bool written = summary.kind == SummaryKind::kText && texts_written_;
    if (summary.variable.empty() && !written) fetches.push_back(summary.op);
  }
  return fetches;
}

absl::Status ModelSummaryHook::AfterRun(RunContext& context, const RunValues& values) {
  const int64_t step = context.global_step();
  if (!values.finite || !asked_) return absl::OkStatus();
  std::vector<ScalarSummary> scalars;
  std::vector<Shown> shown;
  for (const ModelSummary& summary : summaries_) {
    RunValues of_step;
    if (!summary.variable.empty()) {
      TD_ASSIGN_OR_RETURN(of_step.tensors[summary.op], read_variable_(summary.variable));
    } else if (values.Has(summary.op)) {
      of_step.tensors[summary.op] = values.tensors.at(summary.op);
    } else {
      continue;
    }
    if (IsNumber(summary)) {
      scalars.push_back({summary.tag, of_step.Number(summary.op)});
    } else {
      shown.push_back({summary, Kept(summary, of_step.tensors[summary.op])});
    }
  }
  if (!scalars.empty()) writer_->AddScalars(step, scalars);
  WriteLater(step, std::move(shown), *writer_);
  texts_written_ = true;
  next_step_ = step + every_n_steps_;
  return absl::OkStatus();
}

absl::Status ModelSummaryHook::End(RunContext&) {
  writer_->Flush();
  return absl::OkStatus();
}

EvalSummaryHook::EvalSummaryHook(std::vector<ModelSummary> summaries) : summaries_(std::move(summaries)) {
  std::erase_if(summaries_, [](const ModelSummary& s) { return s.kind == SummaryKind::kLearningRate; });
}

absl::Status EvalSummaryHook::Begin(HookContext& context) {
  for (const ModelSummary& summary : summaries_) context.Fetch(summary.op);
  return absl::OkStatus();
}

std::vector<std::string> EvalSummaryHook::BeforeRun(RunContext&) {
  std::vector<std::string> fetches;
  for (const ModelSummary& summary : summaries_) {
    if (IsNumber(summary) || !began_) fetches.push_back(summary.op);
  }
  return fetches;
}

absl::Status EvalSummaryHook::AfterRun(RunContext&, const RunValues& values) {
  for (const ModelSummary& summary : summaries_) {
    const auto value = values.tensors.find(summary.op);
    if (value == values.tensors.end()) continue;
    if (IsNumber(summary)) {
      scalar_sums_[summary.tag] += values.Number(summary.op) * static_cast<double>(values.examples);
    } else {
      first_.emplace(summary.tag, Kept(summary, value->second));
    }
  }
  examples_ += static_cast<double>(values.examples);
  began_ = true;
  return absl::OkStatus();
}

void EvalSummaryHook::Write(int64_t step, EventWriter& writer) const {
  std::vector<ScalarSummary> scalars;
  std::vector<Shown> shown;
  for (const ModelSummary& summary : summaries_) {
    if (const auto sum = scalar_sums_.find(summary.tag); sum != scalar_sums_.end()) {
      scalars.push_back({summary.tag, sum->second / examples_});
    } else if (const auto value = first_.find(summary.tag); value != first_.end()) {
      shown.push_back({summary, value->second});
    }
  }
  if (!scalars.empty()) writer.AddScalars(step, scalars);
  WriteLater(step, std::move(shown), writer);
}

}  // namespace tandem
