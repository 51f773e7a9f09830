// Percentiles computed from a histogram.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/metric_parts.h"
#include "frontends/metrics.h"
#include "graph/ops.h"

namespace tandem::metrics {
namespace {

constexpr int64_t kMaxBins = 100000;

// Returns a description of the first invalid option, or "" if all are valid.
std::string Problem(const PercentileOptions& o) {
  if (o.percentiles.empty()) return "`percentiles` is empty; give numbers in [0, 100]";
  for (double p : o.percentiles) {
    if (!(p >= 0 && p <= 100)) return absl::StrCat("`percentiles` must be in [0, 100], got ", p);
  }
  if (!std::isfinite(o.low) || !std::isfinite(o.high) || !(o.low < o.high)) {
    return absl::StrCat("`low` must be below `high`, got ", o.low, " and ", o.high);
  }
  if (o.bins < 1 || o.bins > kMaxBins) return absl::StrCat("`bins` must be in [1, ", kMaxBins, "], got ", o.bins);
  return "";
}

// Returns the value below which `share` of the histogram's weight lies. It assumes that the weight within a bin is
// spread evenly.
double ValueAt(const std::vector<double>& weights, double share, double low, double width) {
  double total = 0;
  for (double w : weights) total += w;
  if (!(total > 0)) return NAN;
  double below = 0, value = low;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const double part = std::clamp((share * total - below) / weights[i], 0.0, 1.0);
    value = low + (static_cast<double>(i) + part) * width;
    below += weights[i];
    if (below >= share * total) break;
  }
  return value;
}

}  // namespace

Metric Percentiles(const Tensor& values, const PercentileOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "Percentiles";
  Tensor failed;
  GraphBuilder* graph = frontends::CommonGraph(kOp, {{"values", values}}, loc, &failed);
  if (graph == nullptr) return frontends::Failed(failed);
  if (std::string problem = Problem(options); !problem.empty()) {
    return frontends::Failed(graph->FailAt(kOp, problem, loc));
  }
  if (values.rank() == 0 || values.shape()[0] != kBatch) {
    return frontends::Failed(graph->FailAt(
        kOp, absl::StrCat("`values` must be numbers per example, [b] or [b, ...], got ", frontends::TypeString(values)),
        loc));
  }
  NameScope scope(graph, graph->UniqueName("percentiles"));
  Tensor weights = frontends::DoubleWeights(kOp, options.weights, values, loc);
  if (!weights.ok()) return frontends::Failed(weights);
  const double bins = static_cast<double>(options.bins), width = (options.high - options.low) / bins;
  Tensor exact = Cast(values, DType::kFloat64, loc);
  Tensor is_number = Equal(exact, exact, loc);
  // A NaN belongs to no bin. Its weight is set to NaN, which makes the result NaN.
  weights = Select(is_number, weights, frontends::ScalarConstant(graph, NAN, DType::kFloat64, loc), loc);
  exact = Select(is_number, exact, frontends::ScalarConstant(graph, 0, DType::kFloat64, loc), loc);
  Tensor place = Floor(Div(Sub(exact, options.low, loc), width, loc), loc);
  Tensor index = Cast(Minimum(Maximum(place, 0.0, loc), bins - 1, loc), DType::kInt64, loc);
  const Shape shape = values.shape();
  const int64_t n = NumElements(absl::MakeConstSpan(shape).subspan(1));
  Tensor hot = OneHot(Reshape(index, {kBatch, n}, loc), options.bins, DType::kFloat64, loc);
  Tensor histogram = ReduceSum(Mul(hot, Reshape(weights, {kBatch, n, 1}, loc), loc), {0, 1}, false, loc);
  return {.sums = {{"histogram", histogram}},
          .result = [percentiles = options.percentiles, low = options.low,
                     width](const MetricSums& sums) -> absl::StatusOr<MetricValue> {
            std::vector<double> found;
            for (double p : percentiles) found.push_back(ValueAt(sums.at("histogram"), p / 100, low, width));
            if (found.size() == 1) return found[0];
            return HostTensor::FromVector<double>({static_cast<int64_t>(found.size())}, found);
          }};
}

}  // namespace tandem::metrics
