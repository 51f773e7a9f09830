#include "estimator/serving/server/metrics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/shortest_number.h"

namespace tandem::serving {
namespace {

// Seconds from a tenth of a millisecond to ten.
std::vector<double> TimeBounds() {
  return {0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
}

std::vector<double> RowBounds() { return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; }

void AppendHead(absl::string_view name, absl::string_view type, absl::string_view help, std::string* text) {
  absl::StrAppend(text, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void AppendLine(absl::string_view name, absl::string_view labels, int64_t value, std::string* text) {
  absl::StrAppend(text, name);
  if (!labels.empty()) absl::StrAppend(text, "{", labels, "}");
  absl::StrAppend(text, " ", value, "\n");
}

std::string ModelLabel(const std::string& model) { return absl::StrCat("model=\"", model, "\""); }

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::Observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  ++counts_[static_cast<size_t>(bucket)];
  double sum = sum_.load();
  while (!sum_.compare_exchange_weak(sum, sum + value)) {
  }
}

void Histogram::Append(absl::string_view name, absl::string_view labels, std::string* text) const {
  int64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i].load();
    const std::string bound = i < bounds_.size() ? ShortestNumber(bounds_[i]) : "+Inf";
    AppendLine(absl::StrCat(name, "_bucket"), absl::StrCat(labels, ",le=\"", bound, "\""), count, text);
  }
  absl::StrAppend(text, name, "_sum{", labels, "} ", ShortestNumber(sum_.load()), "\n");
  AppendLine(absl::StrCat(name, "_count"), labels, count, text);
}

ModelMetrics::ModelMetrics() : request_seconds_(TimeBounds()), batch_seconds_(TimeBounds()), batch_rows_(RowBounds()) {}

void ModelMetrics::ObserveRequest(Api api, const absl::Status& status, absl::Duration time) {
  const auto code = std::min(static_cast<int>(status.code()), kCodes - 1);
  ++requests_[static_cast<size_t>(api)][static_cast<size_t>(code)];
  request_seconds_.Observe(absl::ToDoubleSeconds(time));
}

void ModelMetrics::ObserveBatch(int64_t rows, absl::Duration time) {
  batch_rows_.Observe(static_cast<double>(rows));
  batch_seconds_.Observe(absl::ToDoubleSeconds(time));
}

Metrics::Metrics(const std::vector<std::string>& models) {
  for (const std::string& model : models) models_[model] = std::make_unique<ModelMetrics>();
}

void Metrics::CountHttp(int status) {
  if (status >= 0 && status < static_cast<int>(http_.size())) ++http_[static_cast<size_t>(status)];
}

std::string Metrics::Text() const {
  std::string text;
  AppendHead("tandem_requests_total", "counter", "Predictions that were asked for, by the status of the answer.",
             &text);
  for (const auto& [model, metrics] : models_) {
    for (const Api api : {Api::kRest, Api::kGrpc}) {
      const auto& codes = metrics->requests_[static_cast<size_t>(api)];
      for (size_t code = 0; code < codes.size(); ++code) {
        const int64_t count = codes[code].load();
        if (count == 0) continue;
        AppendLine("tandem_requests_total",
                   absl::StrCat(ModelLabel(model), ",api=\"", api == Api::kRest ? "rest" : "grpc", "\",code=\"",
                                absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), "\""),
                   count, &text);
      }
    }
  }
  const auto histogram = [&](absl::string_view name, absl::string_view help, Histogram ModelMetrics::*member) {
    AppendHead(name, "histogram", help, &text);
    for (const auto& [model, metrics] : models_) (metrics.get()->*member).Append(name, ModelLabel(model), &text);
  };
  histogram("tandem_request_seconds", "Time from a whole request to its answer.", &ModelMetrics::request_seconds_);
  histogram("tandem_batch_seconds", "Time to compute a batch.", &ModelMetrics::batch_seconds_);
  histogram("tandem_batch_rows", "Rows of a batch.", &ModelMetrics::batch_rows_);
  AppendHead("tandem_queued_requests", "gauge", "Requests that wait for a batch.", &text);
  for (const auto& [model, m] : models_) AppendLine("tandem_queued_requests", ModelLabel(model), m->queued_, &text);
  AppendHead("tandem_cancelled_requests_total", "counter", "Requests whose clients went away while they waited.",
             &text);
  for (const auto& [model, metrics] : models_) {
    AppendLine("tandem_cancelled_requests_total", ModelLabel(model), metrics->cancelled_, &text);
  }
  AppendHead("tandem_http_responses_total", "counter", "Answers of HTTP, by their status code.", &text);
  for (size_t status = 0; status < http_.size(); ++status) {
    const int64_t count = http_[status].load();
    if (count > 0) AppendLine("tandem_http_responses_total", absl::StrCat("code=\"", status, "\""), count, &text);
  }
  AppendHead("tandem_http_connections", "gauge", "Open connections of HTTP.", &text);
  AppendLine("tandem_http_connections", "", connections_, &text);
  return text;
}

}  // namespace tandem::serving
