#include "estimator/exporter.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/evaluation/metric_value.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"

namespace tandem {

// Common base of the exporters in this file: they export, and keep some of the exports.
class ServingExporter : public Exporter {
 public:
  ServingExporter(const char* kind, std::string name, ServingInput serving_input, int exports_to_keep)
      : kind_(kind), name_(std::move(name)), input_(std::move(serving_input)), exports_to_keep_(exports_to_keep) {}

  std::string name() const override { return name_; }

  absl::Status Prepare(Estimator& estimator) override {
    const std::string me = absl::StrCat(kind_, " \"", name_, "\"");
    TD_RETURN_IF_ERROR(input_.Validate(me));
    if (exports_to_keep_ < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(me, ": exports_to_keep must not be negative, got ", exports_to_keep_, "; 0 keeps all"));
    }
    // The input_fn is called once, however often the model is exported.
    absl::StatusOr<Estimator::Impl::ServingShape> shape = estimator.impl_->ShapeOf(input_);
    TD_RETURN_IF_ERROR(Annotate(shape.status(), absl::StrCat(me, ": ")));
    shape_ = *std::move(shape);
    return Annotate(estimator.impl_->ProgramForExport(*shape_).status(), absl::StrCat(me, ": "));
  }

  absl::StatusOr<std::string> Export(Estimator& estimator, const ExportRequest& request) override {
    TD_ASSIGN_OR_RETURN(const bool wanted, Wanted(estimator.config().file_env(), request));
    if (!wanted) return std::string();
    ExportOptions options{.checkpoint_path = request.checkpoint_path,
                          .use_moving_average = request.use_moving_average,
                          .metrics = request.evaluation.metrics,
                          .reuse_equal = true};
    options.metrics.erase("global_step");
    if (!shape_.has_value()) TD_RETURN_IF_ERROR(Prepare(estimator));
    TD_ASSIGN_OR_RETURN(std::string path, estimator.impl_->ExportModel(request.export_dir_base, *shape_, options));
    if (absl::Status status =
            DeleteOldExports(estimator.config().file_env(), request.export_dir_base, exports_to_keep_, path);
        !status.ok()) {
      TD_LOG(WARNING) << "Could not delete old exports: " << status.message();
    }
    return path;
  }

 protected:
  // Returns whether to export after this evaluation.
  virtual absl::StatusOr<bool> Wanted(Env* env, const ExportRequest& request) const = 0;

  const char* const kind_;

 private:
  const std::string name_;
  const ServingInput input_;
  const int exports_to_keep_;
  std::optional<Estimator::Impl::ServingShape> shape_;  // the input that Prepare has found out
};

namespace {

class Final : public ServingExporter {
 public:
  Final(std::string name, ServingInput input)
      : ServingExporter("FinalExporter", std::move(name), std::move(input), 0) {}
  bool required() const override { return true; }

 private:
  absl::StatusOr<bool> Wanted(Env*, const ExportRequest& request) const override { return request.is_final; }
};

class Latest : public ServingExporter {
 public:
  Latest(std::string name, ServingInput input, LatestExporterOptions options)
      : ServingExporter("LatestExporter", std::move(name), std::move(input), options.exports_to_keep) {}

 private:
  // Also exports at the end of training, since an earlier run may have been killed between the last evaluation and its
  // export.
  absl::StatusOr<bool> Wanted(Env*, const ExportRequest&) const override { return true; }
};

class Best : public ServingExporter {
 public:
  Best(std::string name, ServingInput input, BestExporterOptions options)
      : ServingExporter("BestExporter", std::move(name), std::move(input), options.exports_to_keep),
        options_(std::move(options)) {}

  absl::Status Prepare(Estimator& estimator) override {
    if (std::string problem = DirectionProblem(options_.metric, options_.direction); !problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(kind_, " \"", name(), "\": ", problem));
    }
    return ServingExporter::Prepare(estimator);
  }

  absl::Status CheckMetrics(const std::vector<std::string>& names) override {
    return Annotate(CheckMetricName(options_.metric, names), absl::StrCat(kind_, " \"", name(), "\": "));
  }

 private:
  absl::StatusOr<bool> Wanted(Env* env, const ExportRequest& request) const override {
    const absl::StatusOr<double> value =
        MetricOf(request.evaluation, options_.metric, absl::StrCat(kind_, " \"", name(), "\""));
    if (!value.ok()) {
      if (!request.is_on_record) return value.status();
      // An earlier run recorded this evaluation, when the model may not have had the metric yet.
      TD_LOG(WARNING) << "Nothing is exported for the evaluation on record: " << value.status().message();
      return false;
    }
    if (std::isnan(*value)) return false;
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> exports, ListExports(env, request.export_dir_base));
    const MetricDirection direction = OrMin(options_.direction);
    std::optional<double> best;
    for (const std::string& path : exports) {
      const absl::StatusOr<ModelSignature> signature = ReadSignature(env, path);
      if (!signature.ok()) {
        TD_LOG(WARNING) << kind_ << " \"" << name() << "\" does not count an export: " << signature.status().message();
        continue;
      }
      auto recorded = signature->metrics.find(options_.metric);
      if (recorded == signature->metrics.end() || std::isnan(recorded->second)) continue;
      if (!best.has_value() || IsBetter(recorded->second, *best, direction)) best = recorded->second;
    }
    return !best.has_value() || IsBetter(*value, *best, direction);
  }

  const BestExporterOptions options_;
};

}  // namespace

std::shared_ptr<Exporter> FinalExporter(std::string name, ServingInput serving_input) {
  return std::make_shared<Final>(std::move(name), std::move(serving_input));
}

std::shared_ptr<Exporter> LatestExporter(std::string name, ServingInput serving_input, LatestExporterOptions options) {
  return std::make_shared<Latest>(std::move(name), std::move(serving_input), options);
}

std::shared_ptr<Exporter> BestExporter(std::string name, ServingInput serving_input, BestExporterOptions options) {
  return std::make_shared<Best>(std::move(name), std::move(serving_input), std::move(options));
}

}  // namespace tandem
