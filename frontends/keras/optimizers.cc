#include "frontends/keras/optimizers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "frontends/config_reader.h"
#include "frontends/keras/optimizer_rules.h"
#include "frontends/optimizers.h"

namespace tandem::keras {
namespace optimizers {
namespace {

using frontends::ConfigReader;
using Values = std::vector<std::pair<std::string, PartConfig::Value>>;

// Options that all optimizers have.
struct Common {
  Rate learning_rate;
  double weight_decay, clipnorm, clipvalue, global_clipnorm;
  bool use_ema;
  double ema_momentum;

  ClipOptions clip() const { return {.global_norm = global_clipnorm, .value = clipvalue, .norm = clipnorm}; }
};

template <typename Options>
Common CommonOf(const Options& o) {
  return {o.learning_rate, o.weight_decay, o.clipnorm, o.clipvalue, o.global_clipnorm, o.use_ema, o.ema_momentum};
}

PartConfig::Value NumberOrNull(double number) {
  return number == 0 ? PartConfig::Value(std::monostate()) : PartConfig::Value(number);
}

PartConfig::Value RateValue(const Rate& rate) {
  if (rate.number().has_value()) return static_cast<double>(static_cast<float>(*rate.number()));
  if (rate.schedule() != nullptr) return rate.schedule();
  return std::monostate();
}

// Returns Keras' config of an optimizer: the options that all optimizers have, then the values in `own`.
PartConfig ConfigOf(const char* class_name, const Common& common, Values own) {
  // RMSprop has another default of ema_overwrite_frequency, which has no effect while use_ema is false.
  const bool every_hundred = absl::string_view(class_name) == "RMSprop";
  PartConfig config = {class_name,
                       {{"name", class_name},
                        {"weight_decay", NumberOrNull(common.weight_decay)},
                        {"clipnorm", NumberOrNull(common.clipnorm)},
                        {"global_clipnorm", NumberOrNull(common.global_clipnorm)},
                        {"clipvalue", NumberOrNull(common.clipvalue)},
                        {"use_ema", common.use_ema},
                        {"ema_momentum", common.ema_momentum},
                        {"ema_overwrite_frequency",
                         every_hundred ? PartConfig::Value(int64_t{100}) : PartConfig::Value(std::monostate())},
                        {"jit_compile", false},
                        {"is_legacy_optimizer", false},
                        {"learning_rate", RateValue(common.learning_rate)}}};
  for (auto& value : own) config.values.push_back(std::move(value));
  return config;
}

// Makes the optimizer and applies the common options: weight decay, clipping and moving averages.
Optimizer Build(PartConfig config, const Common& common, std::shared_ptr<const UpdateRule> rule,
                std::vector<Optimizer::Group> groups, SourceLocation loc, bool decays_before = false) {
  if (common.weight_decay != 0) rule = DecayedRule(std::move(rule), common.weight_decay, decays_before);
  tandem::Optimizer optimizer(std::move(rule), common.learning_rate.rate(), common.clip());
  if (common.use_ema) optimizer = optimizer.WithMovingAverage({.decay = common.ema_momentum}, loc);
  return {std::move(config), std::move(optimizer), std::move(groups)};
}

Optimizer RMSpropOf(const RMSpropOptions& o, bool epsilon_in_root, SourceLocation loc) {
  PartConfig config =
      ConfigOf("RMSprop", CommonOf(o),
               {{"rho", o.rho}, {"momentum", o.momentum}, {"epsilon", o.epsilon}, {"centered", o.centered}});
  std::vector<Optimizer::Group> groups = {{{"velocity", 0}}};
  if (o.momentum != 0) groups.push_back({{"momentum", 1}});
  if (o.centered) groups.push_back({{"average_gradient", o.momentum != 0 ? 2 : 1}});
  std::shared_ptr<const UpdateRule> rule =
      o.centered ? CenteredRMSpropRule(
                       {.rho = o.rho, .momentum = o.momentum, .epsilon = o.epsilon, .epsilon_in_root = epsilon_in_root})
                 : tandem::optimizers::RMSprop(
                       {.rho = o.rho, .momentum = o.momentum, .epsilon = o.epsilon, .epsilon_in_root = epsilon_in_root})
                       .rule();
  return Build(std::move(config), CommonOf(o), std::move(rule), std::move(groups), loc);
}

}  // namespace

Optimizer SGD(const SGDOptions& o, SourceLocation loc) {
  const bool plain = o.momentum == 0;
  return Build(ConfigOf("SGD", CommonOf(o), {{"momentum", o.momentum}, {"nesterov", o.nesterov}}), CommonOf(o),
               plain ? tandem::optimizers::SGD({}).rule() : MomentumRule(o.momentum, o.nesterov),
               {{{"m", plain ? -1 : 0}}}, loc);
}

Optimizer RMSprop(const RMSpropOptions& options, SourceLocation loc) { return RMSpropOf(options, true, loc); }

Optimizer Adam(const AdamOptions& o, SourceLocation loc) {
  std::vector<Optimizer::Group> groups = {{{"m", 0}, {"v", 1}}};
  if (o.amsgrad) groups.push_back({{"vhat", 2}});
  return Build(ConfigOf("Adam", CommonOf(o),
                        {{"beta_1", o.beta_1}, {"beta_2", o.beta_2}, {"epsilon", o.epsilon}, {"amsgrad", o.amsgrad}}),
               CommonOf(o),
               o.amsgrad
                   ? AmsgradRule("Adam", o.beta_1, o.beta_2, o.epsilon)
                   : tandem::optimizers::Adam({.beta1 = o.beta_1, .beta2 = o.beta_2, .epsilon = o.epsilon}).rule(),
               std::move(groups), loc);
}

Optimizer AdamW(const AdamWOptions& o, SourceLocation loc) {
  std::vector<Optimizer::Group> groups = {{{"m", 0}, {"v", 1}}};
  if (o.amsgrad) groups.push_back({{"vhat", 2}});
  return Build(ConfigOf("AdamW", CommonOf(o),
                        {{"beta_1", o.beta_1}, {"beta_2", o.beta_2}, {"epsilon", o.epsilon}, {"amsgrad", o.amsgrad}}),
               CommonOf(o),
               o.amsgrad ? AmsgradRule("AdamW", o.beta_1, o.beta_2, o.epsilon)
                         : tandem::optimizers::AdamW(
                               {.weight_decay = 0, .beta1 = o.beta_1, .beta2 = o.beta_2, .epsilon = o.epsilon})
                               .rule(),
               std::move(groups), loc);
}

Optimizer Adamax(const AdamaxOptions& o, SourceLocation loc) {
  return Build(ConfigOf("Adamax", CommonOf(o), {{"beta_1", o.beta_1}, {"beta_2", o.beta_2}, {"epsilon", o.epsilon}}),
               CommonOf(o),
               tandem::optimizers::Adamax({.beta1 = o.beta_1, .beta2 = o.beta_2, .epsilon = o.epsilon}).rule(),
               {{{"m", 0}, {"u", 1}}}, loc);
}

Optimizer Nadam(const NadamOptions& o, SourceLocation loc) {
  return Build(ConfigOf("Nadam", CommonOf(o), {{"beta_1", o.beta_1}, {"beta_2", o.beta_2}, {"epsilon", o.epsilon}}),
               CommonOf(o),
               tandem::optimizers::Nadam({.beta1 = o.beta_1, .beta2 = o.beta_2, .epsilon = o.epsilon}).rule(),
               {{{"m", 0}, {"v", 1}}}, loc);
}

Optimizer Adagrad(const AdagradOptions& o, SourceLocation loc) {
  return Build(
      ConfigOf("Adagrad", CommonOf(o),
               {{"initial_accumulator_value", o.initial_accumulator_value}, {"epsilon", o.epsilon}}),
      CommonOf(o),
      tandem::optimizers::Adagrad({.initial_accumulator_value = o.initial_accumulator_value, .epsilon = o.epsilon})
          .rule(),
      {{{"accumulator", 0}}}, loc);
}

Optimizer Adadelta(const AdadeltaOptions& o, SourceLocation loc) {
  return Build(ConfigOf("Adadelta", CommonOf(o), {{"rho", o.rho}, {"epsilon", o.epsilon}}), CommonOf(o),
               tandem::optimizers::Adadelta({.rho = o.rho, .epsilon = o.epsilon}).rule(),
               {{{"accumulated_grad", 0}, {"accumulated_delta_var", 1}}}, loc);
}

Optimizer Ftrl(const FtrlOptions& o, SourceLocation loc) {
  return Build(ConfigOf("Ftrl", CommonOf(o),
                        {{"learning_rate_power", o.learning_rate_power},
                         {"initial_accumulator_value", o.initial_accumulator_value},
                         {"l1_regularization_strength", o.l1_regularization_strength},
                         {"l2_regularization_strength", o.l2_regularization_strength},
                         {"l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength},
                         {"beta", o.beta}}),
               CommonOf(o),
               tandem::optimizers::Ftrl({.learning_rate_power = o.learning_rate_power,
                                         .initial_accumulator_value = o.initial_accumulator_value,
                                         .l1 = o.l1_regularization_strength,
                                         .l2 = o.l2_regularization_strength,
                                         .l2_shrinkage = o.l2_shrinkage_regularization_strength,
                                         .beta = o.beta})
                   .rule(),
               {{{"accumulator", 0}, {"linear", 1}}}, loc, /*decays_before=*/true);
}

Optimizer Lion(const LionOptions& o, SourceLocation loc) {
  return Build(ConfigOf("Lion", CommonOf(o), {{"beta_1", o.beta_1}, {"beta_2", o.beta_2}}), CommonOf(o),
               tandem::optimizers::Lion({.weight_decay = 0, .beta1 = o.beta_1, .beta2 = o.beta_2}).rule(), {{{"m", 0}}},
               loc);
}

namespace {

// Reads the learning rate of a config. Keras before 2.11 also had the argument decay: lr / (1 + decay t) with t from 0.
absl::StatusOr<Rate> ReadRate(ConfigReader& reader, double otherwise, SourceLocation loc) {
  const char* key = reader.Has("learning_rate") ? "learning_rate" : "lr";
  if (const PartConfig* schedule = reader.Part(key)) {
    reader.Ignore({"lr", "decay"});
    return schedules::FromConfig(*schedule, loc);
  }
  const double rate = reader.Number(key, otherwise), decay = reader.Number("decay", 0);
  reader.Ignore({"learning_rate", "lr"});
  if (decay == 0) return Rate(rate);
  return schedules::InverseTimeDecay({.initial_learning_rate = rate, .decay_steps = 1, .decay_rate = decay}, loc);
}

template <typename Options>
absl::Status ReadCommon(ConfigReader& reader, SourceLocation loc, Options& o) {
  TD_ASSIGN_OR_RETURN(o.learning_rate, ReadRate(reader, o.learning_rate.number().value_or(0), loc));
  o.weight_decay = reader.Number("weight_decay", o.weight_decay);
  o.clipnorm = reader.Number("clipnorm", 0);
  o.clipvalue = reader.Number("clipvalue", 0);
  o.global_clipnorm = reader.Number("global_clipnorm", 0);
  o.use_ema = reader.Flag("use_ema", false);
  o.ema_momentum = reader.Number("ema_momentum", o.ema_momentum);
  reader.Ignore({"name", "ema_overwrite_frequency", "jit_compile", "is_legacy_optimizer", "loss_scale_factor",
                 "gradient_accumulation_steps"});
  return absl::OkStatus();
}

template <typename Options>
void ReadMoments(ConfigReader& reader, Options& o) {
  o.beta_1 = reader.Number("beta_1", o.beta_1);
  o.beta_2 = reader.Number("beta_2", o.beta_2);
  if constexpr (requires { o.epsilon; }) o.epsilon = reader.Number("epsilon", o.epsilon);
  if constexpr (requires { o.amsgrad; }) o.amsgrad = reader.Flag("amsgrad", o.amsgrad);
  reader.Ignore({"schedule_decay"});  // an argument of Nadam before Keras 2.11
}

// Overloads that read the options of one optimizer class which other classes do not have.
void ReadOwn(ConfigReader& r, SGDOptions& o) {
  o.momentum = r.Number("momentum", o.momentum);
  o.nesterov = r.Flag("nesterov", o.nesterov);
}
void ReadOwn(ConfigReader& r, RMSpropOptions& o) {
  o.rho = r.Number("rho", o.rho);
  o.momentum = r.Number("momentum", o.momentum);
  o.epsilon = r.Number("epsilon", o.epsilon);
  o.centered = r.Flag("centered", o.centered);
}
void ReadOwn(ConfigReader& r, AdamOptions& o) { ReadMoments(r, o); }
void ReadOwn(ConfigReader& r, AdamWOptions& o) { ReadMoments(r, o); }
void ReadOwn(ConfigReader& r, AdamaxOptions& o) { ReadMoments(r, o); }
void ReadOwn(ConfigReader& r, LionOptions& o) { ReadMoments(r, o); }
void ReadOwn(ConfigReader& r, AdagradOptions& o) {
  o.initial_accumulator_value = r.Number("initial_accumulator_value", o.initial_accumulator_value);
  o.epsilon = r.Number("epsilon", o.epsilon);
}
void ReadOwn(ConfigReader& r, AdadeltaOptions& o) {
  o.rho = r.Number("rho", o.rho);
  o.epsilon = r.Number("epsilon", o.epsilon);
}
void ReadOwn(ConfigReader& r, FtrlOptions& o) {
  o.learning_rate_power = r.Number("learning_rate_power", o.learning_rate_power);
  o.initial_accumulator_value = r.Number("initial_accumulator_value", o.initial_accumulator_value);
  o.l1_regularization_strength = r.Number("l1_regularization_strength", 0);
  o.l2_regularization_strength = r.Number("l2_regularization_strength", 0);
  o.l2_shrinkage_regularization_strength = r.Number("l2_shrinkage_regularization_strength", 0);
  o.beta = r.Number("beta", 0);
}

template <typename Options>
absl::StatusOr<Optimizer> Read(ConfigReader& reader, SourceLocation loc,
                               Optimizer (*make)(const Options&, SourceLocation)) {
  Options options;
  TD_RETURN_IF_ERROR(ReadCommon(reader, loc, options));
  ReadOwn(reader, options);
  TD_RETURN_IF_ERROR(reader.Finish());
  return make(options, loc);
}

Optimizer LegacyRMSprop(const RMSpropOptions& options, SourceLocation loc) {
  return RMSpropOf(options, /*epsilon_in_root=*/options.momentum != 0, loc);
}

const std::vector<std::string>& OptimizerNames() {
  static const auto* names = new std::vector<std::string>{"sgd",   "rmsprop", "adam",     "adamw", "adamax",
                                                          "nadam", "adagrad", "adadelta", "ftrl",  "lion"};
  return *names;
}

}  // namespace
}  // namespace optimizers

absl::StatusOr<Optimizer> OptimizerByName(absl::string_view name, SourceLocation loc) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const std::string& known : optimizers::OptimizerNames()) {
    // The defaults are those that a file of Keras 2.11 or later has, whose classes begin with "Custom>".
    if (lower == known) return OptimizerFromConfig({absl::StrCat("Custom>", lower), {}}, loc);
  }
  return frontends::UnknownNameError("optimizer", name, optimizers::OptimizerNames());
}

absl::StatusOr<Optimizer> OptimizerFromConfig(const PartConfig& config, SourceLocation loc) {
  using namespace optimizers;  // NOLINT: all of them
  frontends::ConfigReader reader("optimizer", config);
  absl::string_view class_name = config.class_name;
  const bool custom = absl::ConsumePrefix(&class_name, "Custom>");
  const bool legacy = !custom && !reader.Has("use_ema") && !reader.Has("jit_compile");
  const std::string name = absl::AsciiStrToLower(class_name);
  if (name == "sgd") return Read(reader, loc, optimizers::SGD);
  if (name == "rmsprop") return Read(reader, loc, legacy ? LegacyRMSprop : optimizers::RMSprop);
  if (name == "adam") return Read(reader, loc, optimizers::Adam);
  if (name == "adamw") return Read(reader, loc, optimizers::AdamW);
  if (name == "adamax") return Read(reader, loc, optimizers::Adamax);
  if (name == "nadam") return Read(reader, loc, optimizers::Nadam);
  if (name == "adagrad") return Read(reader, loc, optimizers::Adagrad);
  if (name == "adadelta") return Read(reader, loc, optimizers::Adadelta);
  if (name == "ftrl") return Read(reader, loc, optimizers::Ftrl);
  if (name == "lion") return Read(reader, loc, optimizers::Lion);
  return frontends::UnknownNameError("optimizer", config.class_name, OptimizerNames());
}

}  // namespace tandem::keras
