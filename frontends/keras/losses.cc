#include "frontends/keras/losses.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/check.h"
#include "frontends/config_reader.h"
#include "frontends/keras/labels.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace {

namespace loss_formulas = tandem::losses;
using loss_formulas::LossOptions;
using PlainLoss = Tensor (*)(const Tensor&, const Tensor&, const LossOptions&, SourceLocation);

Tensor SparseLoss(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  return loss_formulas::SparseCategoricalCrossEntropy(WholeLabels(labels, loc), predictions, options, loc);
}

Tensor HuberLoss(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  return loss_formulas::Huber(labels, predictions, {.weights = options.weights, .reduction = options.reduction}, loc);
}

Tensor BinaryFocalLoss(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                       SourceLocation loc) {
  return loss_formulas::BinaryFocalCrossEntropy(labels, predictions,
                                                {.weights = options.weights, .reduction = options.reduction}, loc);
}

Tensor CategoricalFocalLoss(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                            SourceLocation loc) {
  return loss_formulas::CategoricalFocalCrossEntropy(labels, predictions,
                                                     {.weights = options.weights, .reduction = options.reduction}, loc);
}

struct NamedLoss {
  PlainLoss loss;
  // The public function of frontends/losses.h, by which a user may refer to the loss; null if its options have another
  // type.
  PlainLoss given_as;
  const char* class_name;
  std::vector<const char*> names;  // names by which the loss is found; the first is Keras' own
};

const std::vector<NamedLoss>& NamedLosses() {
  static const auto* losses = new std::vector<NamedLoss>{
      {loss_formulas::MeanSquaredError,
       loss_formulas::MeanSquaredError,
       "MeanSquaredError",
       {"mean_squared_error", "mse", "MSE"}},
      {loss_formulas::MeanAbsoluteError,
       loss_formulas::MeanAbsoluteError,
       "MeanAbsoluteError",
       {"mean_absolute_error", "mae", "MAE"}},
      {loss_formulas::MeanAbsolutePercentageError,
       loss_formulas::MeanAbsolutePercentageError,
       "MeanAbsolutePercentageError",
       {"mean_absolute_percentage_error", "mape", "MAPE"}},
      {loss_formulas::MeanSquaredLogarithmicError,
       loss_formulas::MeanSquaredLogarithmicError,
       "MeanSquaredLogarithmicError",
       {"mean_squared_logarithmic_error", "msle", "MSLE"}},
      {loss_formulas::BinaryCrossEntropy,
       loss_formulas::BinaryCrossEntropy,
       "BinaryCrossentropy",
       {"binary_crossentropy", "bce", "BCE"}},
      {BinaryFocalLoss, nullptr, "BinaryFocalCrossentropy", {"binary_focal_crossentropy"}},
      {loss_formulas::CategoricalCrossEntropy,
       loss_formulas::CategoricalCrossEntropy,
       "CategoricalCrossentropy",
       {"categorical_crossentropy"}},
      {CategoricalFocalLoss, nullptr, "CategoricalFocalCrossentropy", {"categorical_focal_crossentropy"}},
      {SparseLoss,
       loss_formulas::SparseCategoricalCrossEntropy,
       "SparseCategoricalCrossentropy",
       {"sparse_categorical_crossentropy"}},
      {loss_formulas::Hinge, loss_formulas::Hinge, "Hinge", {"hinge"}},
      {loss_formulas::SquaredHinge, loss_formulas::SquaredHinge, "SquaredHinge", {"squared_hinge"}},
      {loss_formulas::CategoricalHinge, loss_formulas::CategoricalHinge, "CategoricalHinge", {"categorical_hinge"}},
      {loss_formulas::KLDivergence,
       loss_formulas::KLDivergence,
       "KLDivergence",
       {"kl_divergence", "kullback_leibler_divergence", "kld", "KLD"}},
      {loss_formulas::Poisson, loss_formulas::Poisson, "Poisson", {"poisson"}},
      {loss_formulas::LogCosh, loss_formulas::LogCosh, "LogCosh", {"log_cosh", "logcosh"}},
      {loss_formulas::CosineSimilarity, loss_formulas::CosineSimilarity, "CosineSimilarity", {"cosine_similarity"}},
      {HuberLoss, nullptr, "Huber", {"huber", "huber_loss"}}};
  return *losses;
}

const NamedLoss* FindLoss(absl::string_view name) {
  for (const NamedLoss& known : NamedLosses()) {
    if (name == known.class_name || std::find(known.names.begin(), known.names.end(), name) != known.names.end()) {
      return &known;
    }
  }
  return nullptr;
}

absl::Status UnknownLoss(absl::string_view name) {
  std::vector<std::string> names;
  for (const NamedLoss& known : NamedLosses()) names.push_back(known.names[0]);
  for (const char* word : {"mse", "mae", "mape", "msle"}) names.push_back(word);
  return frontends::UnknownNameError("loss", name, names);
}

// Describes a loss class as Keras' config does: reduction and name, then the class's own arguments.
PartConfig::Value ClassConfig(const char* class_name, std::vector<std::pair<std::string, PartConfig::Value>> own) {
  PartConfig config = {class_name, {{"reduction", "auto"}, {"name", FindLoss(class_name)->names[0]}}};
  for (auto& value : own) config.values.push_back(std::move(value));
  return std::make_shared<const PartConfig>(std::move(config));
}

loss_formulas::FocalOptions FocalOf(const losses::FocalOptions& o, const LossOptions& options) {
  return {.weights = options.weights,
          .reduction = options.reduction,
          .label_smoothing = o.label_smoothing,
          .from_logits = o.from_logits,
          .gamma = o.gamma,
          .alpha = o.alpha,
          .apply_class_balancing = o.apply_class_balancing};
}

}  // namespace

LossArg::LossArg(const char* name) : LossArg(name == nullptr ? std::string() : std::string(name)) {}

LossArg::LossArg(const std::string& name) {
  const NamedLoss* known = FindLoss(name);
  if (known == nullptr) {
    status_ = UnknownLoss(name);
    return;
  }
  config_ = name;
  function_ = known->loss;
}

LossArg::LossArg(PlainLoss loss) : function_(loss) {
  for (const NamedLoss& known : NamedLosses()) {
    if (loss != nullptr && known.given_as == loss) {
      config_ = std::string(known.names[0]);
      function_ = known.loss;
    }
  }
  if (loss == loss_formulas::SparseSoftmaxCrossEntropy)
    *this = losses::SparseCategoricalCrossEntropy({.from_logits = true});
  if (loss == loss_formulas::SoftmaxCrossEntropy) *this = losses::CategoricalCrossEntropy({.from_logits = true});
  if (loss == nullptr) status_ = absl::InvalidArgumentError("the function is null");
}

LossArg::LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const loss_formulas::HuberOptions&, SourceLocation)) {
  if (loss == loss_formulas::Huber) {
    *this = LossArg("huber");
  } else if (loss == nullptr) {
    status_ = absl::InvalidArgumentError("the function is null");
  } else {
    function_ = [loss](const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                       SourceLocation loc) {
      return loss(labels, predictions, {.weights = options.weights, .reduction = options.reduction}, loc);
    };
  }
}

LossArg::LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const loss_formulas::FocalOptions&, SourceLocation)) {
  if (loss == loss_formulas::BinaryFocalCrossEntropy) {
    *this = LossArg("binary_focal_crossentropy");
  } else if (loss == loss_formulas::CategoricalFocalCrossEntropy) {
    *this = LossArg("categorical_focal_crossentropy");
  } else if (loss == nullptr) {
    status_ = absl::InvalidArgumentError("the function is null");
  } else {
    function_ = [loss](const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                       SourceLocation loc) {
      return loss(labels, predictions, {.weights = options.weights, .reduction = options.reduction}, loc);
    };
  }
}

LossFn LossArg::Own(std::function<Tensor(const Tensor&, const Tensor&)> loss) {
  return [loss](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
    constexpr char kOp[] = "Loss";
    Tensor failed;
    GraphBuilder* graph = frontends::CommonGraph(kOp, {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
    if (graph == nullptr) return failed;
    if (loss == nullptr) return graph->FailAt(kOp, "the function is null", loc);
    Tensor values = loss(labels, predictions);
    if (!values.ok()) return graph->FailAt(kOp, "the function returned an empty Tensor", loc);
    if (values.rank() > 0) return loss_formulas::ComputeWeightedLoss(values, options, loc);
    if (options.weights.empty()) return values;
    return graph->FailAt(kOp,
                         "the function returns a scalar, which takes no sample weights; return the losses of the "
                         "examples, [b]",
                         loc);
  };
}

Tensor LossArg::operator()(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                           SourceLocation loc) const {
  if (function_ != nullptr && status_.ok()) return function_(labels, predictions, options, loc);
  const absl::string_view problem = status_.ok() ? "there is none" : status_.message();
  GraphBuilder* graph = predictions.graph();
  return graph != nullptr ? graph->FailAt("Loss", problem, loc) : frontends::WithoutGraph("Loss", problem, loc);
}

absl::StatusOr<LossArg> LossByName(absl::string_view name) {
  LossArg loss{std::string(name)};
  TD_RETURN_IF_ERROR(loss.status());
  return loss;
}

std::string LossFunctionName(absl::string_view class_name) {
  for (const NamedLoss& known : NamedLosses()) {
    if (class_name == known.class_name) return known.names[0];
  }
  return std::string(class_name);
}

absl::StatusOr<LossArg> LossFromConfig(const PartConfig& config) {
  const NamedLoss* known = FindLoss(config.class_name);
  if (known == nullptr) return UnknownLoss(config.class_name);
  const std::string name = known->class_name;
  frontends::ConfigReader reader("loss", config);
  reader.Ignore({"name", "fn", "dtype", "ignore_class"});
  if (reader.Has("ignore_class")) reader.Fail("ignore_class", "null; give the rows of that class a weight of 0");
  const std::string reduction = reader.Text("reduction", "auto");
  if (reduction != "auto" && reduction != "sum_over_batch_size" && reduction != "sum") {
    reader.Fail("reduction", "auto, sum_over_batch_size or sum");
  }
  if (reader.Number("axis", -1) != -1) reader.Fail("axis", "-1");
  LossArg loss;
  if (name == "BinaryCrossentropy" || name == "CategoricalCrossentropy") {
    const losses::CrossEntropyOptions options = {.from_logits = reader.Flag("from_logits", false),
                                                 .label_smoothing = reader.Number("label_smoothing", 0)};
    loss = name[0] == 'B' ? losses::BinaryCrossEntropy(options) : losses::CategoricalCrossEntropy(options);
  } else if (name == "SparseCategoricalCrossentropy") {
    loss = losses::SparseCategoricalCrossEntropy({.from_logits = reader.Flag("from_logits", false)});
  } else if (name == "BinaryFocalCrossentropy" || name == "CategoricalFocalCrossentropy") {
    losses::FocalOptions options;
    options.gamma = reader.Number("gamma", options.gamma);
    options.alpha = reader.Number("alpha", options.alpha);
    options.apply_class_balancing = reader.Flag("apply_class_balancing", false);
    options.from_logits = reader.Flag("from_logits", false);
    options.label_smoothing = reader.Number("label_smoothing", 0);
    loss = name[0] == 'B' ? losses::BinaryFocalCrossEntropy(options) : losses::CategoricalFocalCrossEntropy(options);
  } else if (name == "Huber") {
    loss = losses::Huber(reader.Number("delta", 1));
  } else {
    loss = LossArg(ClassConfig(known->class_name, {}), known->loss);
  }
  TD_RETURN_IF_ERROR(reader.Finish());
  if (reduction != "sum") return loss;
  PartConfig summed = *std::get<std::shared_ptr<const PartConfig>>(loss.config());
  summed.values[0].second = "sum";
  return LossArg(
      std::make_shared<const PartConfig>(std::move(summed)),
      [loss](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
        LossOptions sum = options;
        if (sum.reduction == loss_formulas::Reduction::kSumOverBatchSize)
          sum.reduction = loss_formulas::Reduction::kSum;
        return loss(labels, predictions, sum, loc);
      });
}

namespace losses {
namespace {

// Wraps a cross-entropy so that every call uses from_logits and label_smoothing of `o`.
LossFn WithOptions(PlainLoss loss, const CrossEntropyOptions& o) {
  return [loss, o](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
    LossOptions all = options;
    all.from_logits = o.from_logits;
    all.label_smoothing = o.label_smoothing;
    return loss(labels, predictions, all, loc);
  };
}

}  // namespace

LossArg BinaryCrossEntropy(const CrossEntropyOptions& o) {
  return {ClassConfig("BinaryCrossentropy",
                      {{"from_logits", o.from_logits}, {"label_smoothing", o.label_smoothing}, {"axis", int64_t{-1}}}),
          WithOptions(loss_formulas::BinaryCrossEntropy, o)};
}

LossArg CategoricalCrossEntropy(const CrossEntropyOptions& o) {
  return {ClassConfig("CategoricalCrossentropy",
                      {{"from_logits", o.from_logits}, {"label_smoothing", o.label_smoothing}, {"axis", int64_t{-1}}}),
          WithOptions(loss_formulas::CategoricalCrossEntropy, o)};
}

LossArg SparseCategoricalCrossEntropy(const SparseCrossEntropyOptions& o) {
  return {ClassConfig("SparseCategoricalCrossentropy",
                      {{"from_logits", o.from_logits}, {"ignore_class", std::monostate()}}),
          WithOptions(SparseLoss, {.from_logits = o.from_logits})};
}

LossArg Huber(double delta) {
  return {ClassConfig("Huber", {{"delta", delta}}),
          [delta](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
            return loss_formulas::Huber(
                labels, predictions, {.weights = options.weights, .reduction = options.reduction, .delta = delta}, loc);
          }};
}

LossArg BinaryFocalCrossEntropy(const FocalOptions& o) {
  return {ClassConfig("BinaryFocalCrossentropy", {{"apply_class_balancing", o.apply_class_balancing},
                                                  {"gamma", o.gamma},
                                                  {"alpha", o.alpha},
                                                  {"from_logits", o.from_logits},
                                                  {"label_smoothing", o.label_smoothing},
                                                  {"axis", int64_t{-1}}}),
          [o](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
            return loss_formulas::BinaryFocalCrossEntropy(labels, predictions, FocalOf(o, options), loc);
          }};
}

LossArg CategoricalFocalCrossEntropy(const FocalOptions& o) {
  return {ClassConfig("CategoricalFocalCrossentropy", {{"alpha", o.alpha},
                                                       {"gamma", o.gamma},
                                                       {"from_logits", o.from_logits},
                                                       {"label_smoothing", o.label_smoothing},
                                                       {"axis", int64_t{-1}}}),
          [o](const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
            return loss_formulas::CategoricalFocalCrossEntropy(labels, predictions, FocalOf(o, options), loc);
          }};
}

}  // namespace losses
}  // namespace tandem::keras
