// Measures the steps per second of a training in a cluster, for benchmarks/workers, benchmarks/peers/parameter_servers
// and benchmarks/peers/two_workers, which start its tasks: each is this program with the TF_CONFIG of its task. The
// chief prints "global steps/s: N" for all workers together, from --warm_up to --max_steps. With --worker each task
// waits for commands between steps, as model_bench does (benchmarks/worker.h).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "benchmarks/models/model.h"
#include "benchmarks/worker.h"
#include "estimator/estimator.h"
#include "nlohmann/json.hpp"

ABSL_FLAG(std::string, model, "linear", "s0, s2, s4, linear, mlp, transformer, vgg16 or resnet50");
ABSL_FLAG(int64_t, batch, 0, "examples of a device and step; 0: the model's own");
ABSL_FLAG(int64_t, rows, 0, "random examples, which are read again and again; 0: those of one batch");
ABSL_FLAG(int64_t, image_size, 0, "height and width of the images of vgg16 and resnet50; 0: 224");
ABSL_FLAG(int64_t, warm_up, 200, "steps before the measured ones");
ABSL_FLAG(int64_t, max_steps, 5000, "the last step");
ABSL_FLAG(bool, worker, false, "obey commands on standard input, instead of --warm_up and --max_steps");
ABSL_FLAG(std::string, strategy, "parameter_server", "or multi_worker, or mirrored");
ABSL_FLAG(int, devices, 1, "of each worker");
ABSL_FLAG(std::string, communication, "auto", "of workers together: auto, shared_memory, tcp or ring");
ABSL_FLAG(int, threads, 1, "of each task");
ABSL_FLAG(std::string, model_dir, "", "for compiled programs; empty: a temporary one");

namespace tandem {
namespace {

using benchmarks::BenchModel;
using Clock = std::chrono::steady_clock;

// Returns the model_fn. When it is called, it stores the number of elements of the variables, without the optimizer's
// slots, in `parameters`.
ModelFn ModelFunction(const BenchModel& model, std::shared_ptr<int64_t> parameters) {
  return [model, parameters](const Features& features, const Tensor& labels, Mode, const Params&) {
    benchmarks::InputTensors inputs;
    for (const benchmarks::InputSpec& spec : model.inputs) {
      inputs[spec.name] = &spec == &model.inputs.back() ? labels : features[spec.name];
    }
    benchmarks::FlopCounter flops;
    const Tensor loss = model.loss(inputs, flops);
    *parameters = 0;
    for (const VariableSpec& variable : features.graph()->variables()) *parameters += NumElements(variable.shape);
    return EstimatorSpec::Train(loss, model.optimizer->Minimize(loss));
  };
}

int64_t Batch(const BenchModel& model) {
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  return batch == 0 ? model.default_batch : batch;
}

InputFn Input(const BenchModel& model) {
  return [model](const InputContext&) -> absl::StatusOr<Dataset> {
    const int64_t batch = Batch(model), rows = absl::GetFlag(FLAGS_rows);
    std::mt19937 random(1);
    Dataset::Slices values;
    for (const benchmarks::InputSpec& spec : model.inputs) {
      values.emplace_back(spec.name, benchmarks::RandomRows(spec, rows == 0 ? batch : rows, random));
    }
    return Dataset::FromTensorSlices(std::move(values)).Repeat().Batch(batch);
  };
}

class Rate : public SessionRunHook {
 public:
  std::string name() const override { return "Rate"; }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    last_ = context.global_step();
    end_ = Clock::now();
    if (first_ < 0 && last_ >= absl::GetFlag(FLAGS_warm_up)) {
      first_ = last_;
      begin_ = end_;
    }
    return absl::OkStatus();
  }
  void Print() const {
    const double seconds = std::chrono::duration<double>(end_ - begin_).count();
    std::printf("global steps/s: %.6g\n", static_cast<double>(last_ - first_) / seconds);
  }

 private:
  int64_t first_ = -1, last_ = 0;
  Clock::time_point begin_, end_;
};

// A hook that, after each turn of some steps, reads the command that says how many steps the next turn has. The first
// turn, of two steps, is the warm-up, which needs no command.
class Turns : public SessionRunHook {
 public:
  Turns(const BenchModel& model, std::shared_ptr<const int64_t> parameters) : model_(model), parameters_(parameters) {}

  std::string name() const override { return "Turns"; }
  absl::Status Begin(HookContext& context) override {
    context.Fetch("loss");
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return {"loss"}; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    ++done_;
    const double loss = values.Number("loss");
    if (!first_loss_.has_value()) {
      first_loss_ = loss;
      benchmarks::Answer({{"event", "first_step"}});
      begin_ = Clock::now();
    }
    if (done_ < steps_) return absl::OkStatus();
    const double seconds = SecondsSince(begin_);
    if (!ready_) {
      benchmarks::Answer({{"event", "ready"},
                          {"model", model_.name},
                          {"batch", Batch(model_)},
                          {"parameters", *parameters_},
                          {"first_loss", *first_loss_},
                          {"seconds_per_step", seconds},
                          {"peak_rss_bytes", benchmarks::PeakRssBytes()}});
      ready_ = true;
    } else {
      benchmarks::AnswerRan(steps_, {{"seconds_per_step", seconds / static_cast<double>(steps_)}, {"loss", loss}});
    }
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> steps, benchmarks::NextRun());
    if (!steps.has_value()) context.RequestStop();
    steps_ = steps.value_or(1);
    done_ = 0;
    begin_ = Clock::now();
    return absl::OkStatus();
  }

 private:
  const BenchModel model_;
  const std::shared_ptr<const int64_t> parameters_;
  std::optional<double> first_loss_;
  bool ready_ = false;
  int64_t steps_ = 2, done_ = 0;  // steps of this turn, and how many of them are done
  Clock::time_point begin_;
};

absl::StatusOr<DistributionStrategy> Strategy() {
  std::vector<std::string> devices;
  for (int i = 0; i < absl::GetFlag(FLAGS_devices); ++i) devices.push_back(absl::StrCat("cpu:", i));
  const std::string name = absl::GetFlag(FLAGS_strategy);
  if (name == "parameter_server") return ParameterServerStrategy(devices);
  if (name == "multi_worker") return MultiWorkerMirroredStrategy(devices);
  if (name == "mirrored") return MirroredStrategy(devices);
  return absl::InvalidArgumentError(
      absl::StrCat("--strategy=", name, " is unknown; use parameter_server, multi_worker or mirrored"));
}

absl::Status Run() {
  if (absl::GetFlag(FLAGS_batch) < 0 || absl::GetFlag(FLAGS_rows) < 0) {
    return absl::InvalidArgumentError("--batch and --rows must not be negative");
  }
  TD_ASSIGN_OR_RETURN(const BenchModel model, benchmarks::MakeModel(absl::GetFlag(FLAGS_model),
                                                                    {.image_size = absl::GetFlag(FLAGS_image_size)}));
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir)};
  config.save_checkpoints_secs = 0;
  config.save_summary_steps = 0;
  config.log_step_count_steps = 0;
  TD_ASSIGN_OR_RETURN(config.train_distribute, Strategy());
  TD_ASSIGN_OR_RETURN(config.communication, CommunicationFromName(absl::GetFlag(FLAGS_communication)));
  config.threads = absl::GetFlag(FLAGS_threads);
  const auto parameters = std::make_shared<int64_t>(0);
  Estimator estimator(ModelFunction(model, parameters), config, {}, {.labels = {model.inputs.back().name}});
  if (absl::GetFlag(FLAGS_worker)) {
    return estimator.Train(Input(model), {.hooks = {std::make_shared<Turns>(model, parameters)}});
  }
  const auto rate = std::make_shared<Rate>();
  TD_RETURN_IF_ERROR(estimator.Train(Input(model), {.max_steps = absl::GetFlag(FLAGS_max_steps), .hooks = {rate}}));
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> cluster, config.ResolvedCluster());
  if (!cluster.has_value() || cluster->is_chief()) rate->Print();
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "measures a training in a cluster.", tandem::Run);
}
