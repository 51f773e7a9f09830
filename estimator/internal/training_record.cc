// Records a training, so that its steps can be replayed and compared with those of other runs.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/shortest_number.h"
#include "base/status_macros.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/internal/training.h"
#include "estimator/record/machine_facts.h"
#include "estimator/record/recording_runner.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

std::string ParamText(const Params::Value& value) {
  const auto element = [](std::string* out, const auto& v) {
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>) {
      absl::StrAppend(out, ShortestNumber(v));
    } else {
      absl::StrAppend(out, v);
    }
  };
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        std::string text;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                      std::is_same_v<T, std::string>) {
          element(&text, v);
        } else {
          text = absl::StrCat("[", absl::StrJoin(v, ", ", element), "]");
        }
        return text;
      },
      value);
}

}  // namespace

RunStart Estimator::Impl::DescribeStart(const Prepared& prepared, bool compiled) const {
  const ModeProgram& program = *prepared.program;
  RunStart start{.seed = state_.seed,
                 .replicas = prepared.replicas,
                 .workers = prepared.workers,
                 .batch = prepared.dealer->batch_size(),
                 .program = ProgramFingerprint(program.model_parts()),
                 .data = prepared.dealer->data_fingerprint(),
                 .configuration = config_.Fields()};
  for (const auto& [name, value] : program.scalar_defaults()) {
    start.numbers.emplace_back(name, ShortestNumber(value));
  }
  for (const auto& [name, value] : params_.shown_values()) {
    start.numbers.emplace_back(absl::StrCat("params ", name), ParamText(value));
  }
  if (!compiled) return start;
  const format::Index& index = program.executable().index();
  start.fetches = program.fetched();
  start.lanes = index.lanes;
  start.microbatch_rows = index.microbatch_rows;
  start.compiler = program.option_parts();
  start.machine = MachineFacts();
  start.machine.emplace_back("target", index.target_name);
  start.machine.emplace_back("build", index.producer);
  return start;
}

void Training::DescribeRun() {
  if (describe_run_ == nullptr) return;
  // Running out of memory here is only a warning, since this also runs at the end of a training that has run out of
  // memory.
  const absl::Status described = CatchResourceErrors("describing the run", [this] {
    std::exchange(describe_run_, nullptr)();
    return absl::OkStatus();
  });
  if (!described.ok()) TD_LOG(WARNING) << "The run is not described; training goes on without: " << described.message();
}

void Training::WriteDescription(int64_t step, const std::string& input) const {
  const RunConfig& config = estimator_.config_;
  RunStart start = estimator_.DescribeStart(prepared_);
  start.step = step;
  start.input = input;
  absl::StatusOr<std::optional<RunDescription>> read = ReadRunDescription(config.file_env(), config.model_dir);
  if (!read.ok()) TD_LOG(WARNING) << "The description of the run begins anew: " << read.status().message();
  RunDescription description = read.ok() ? (*read).value_or(RunDescription()) : RunDescription();
  description.Add(std::move(start), prepared_.program->model_parts());
  if (absl::Status written = WriteRunDescription(config.file_env(), config.model_dir, description); !written.ok()) {
    TD_LOG(WARNING) << "The run is not described; training goes on without: " << written.message();
  }
}

std::unique_ptr<StepRunner> Training::RecordSteps(StepRunner* runner) {
  const RunConfig& config = estimator_.config_;
  const Cooperation& cooperation = estimator_.cooperation();
  if (!config.record_bits || !config.checkpoints_enabled() || !cooperation.is_chief() || cooperation.asynchronous()) {
    return nullptr;
  }
  std::unique_ptr<StepsWriter>& writer = estimator_.state_.steps_writer;
  if (writer == nullptr) writer = std::make_unique<StepsWriter>(config.file_env(), config.model_dir);
  // The description of the run is written during the second step, so that it does not delay the first one. It includes
  // the position that the input had before the first step.
  std::string begin;
  if (const absl::StatusOr<std::string> position = prepared_.dealer->SaveState(); position.ok()) {
    begin = absl::StrCat(absl::Hex(Fingerprint64(*position), absl::kZeroPad16));
  }
  return std::make_unique<RecordingRunner>(
      runner, StepSampler(*estimator_.resident_.model().store(), prepared_.program->variables()),
      [this, begin, described = false](int64_t step, const StepBits& bits) mutable {
        if (!std::exchange(described, true)) {
          describe_run_ = [this, begin, step] { WriteDescription(step, begin); };
        } else {
          DescribeRun();
        }
        estimator_.state_.steps_writer->Add(step, bits);
        return absl::OkStatus();
      });
}

}  // namespace tandem
