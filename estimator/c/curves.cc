// The functions of tandem_c.h about curves.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/c/status.h"
#include "estimator/c/tandem_c.h"
#include "estimator/curves/runs.h"

struct tandem_curves {
  struct Curve {
    std::string run, part, tag;
    std::vector<int64_t> steps;
    std::vector<double> values;
  };
  std::vector<Curve> curves;
  std::string damage;
};

namespace tandem::c {
namespace {

std::unique_ptr<tandem_curves> CurvesOf(const PlotRuns& runs) {
  auto result = std::make_unique<tandem_curves>();
  for (const PlotRun& run : runs.runs) {
    for (const auto& [part, curves] : run.parts) {
      for (const auto& [tag, points] : curves) {
        tandem_curves::Curve& curve = result->curves.emplace_back();
        curve.run = run.name;
        curve.part = part;
        curve.tag = tag;
        for (const CurvePoint& point : points) {
          curve.steps.push_back(point.step);
          curve.values.push_back(point.value);
        }
      }
    }
  }
  for (const absl::Status& status : runs.damaged) absl::StrAppend(&result->damage, status.message(), "\n");
  return result;
}

}  // namespace
}  // namespace tandem::c

extern "C" {

tandem_status* tandem_curves_read(const char* path, tandem_curves** curves) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "path", path));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "curves", curves));
    TD_ASSIGN_OR_RETURN(const tandem::PlotRuns runs, tandem::ReadRuns(tandem::Env::Default(), {path}));
    *curves = tandem::c::CurvesOf(runs).release();
    return absl::OkStatus();
  });
}

void tandem_curves_free(tandem_curves* curves) { delete curves; }

size_t tandem_curves_size(const tandem_curves* curves) { return curves == nullptr ? 0 : curves->curves.size(); }

tandem_status* tandem_curves_get(const tandem_curves* curves, size_t index, tandem_curve* curve) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "curve", curve));
    TD_RETURN_IF_ERROR(tandem::c::CheckIndex(function, "curves", index, tandem_curves_size(curves)));
    const tandem_curves::Curve& c = curves->curves[index];
    *curve = {c.run.c_str(), c.part.c_str(), c.tag.c_str(), c.steps.size(), c.steps.data(), c.values.data()};
    return absl::OkStatus();
  });
}

const char* tandem_curves_damage(const tandem_curves* curves) {
  return curves == nullptr ? "" : curves->damage.c_str();
}

}  // extern "C"
