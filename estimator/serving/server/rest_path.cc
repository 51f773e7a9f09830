#include "estimator/serving/server/rest_path.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/printable.h"

namespace tandem::serving {
namespace {

using Kind = RestPath::Kind;

constexpr std::pair<absl::string_view, Kind> kFixed[] = {{"/healthz", Kind::kLive},
                                                         {"/readyz", Kind::kReady},
                                                         {"/metrics", Kind::kMetrics},
                                                         {"/monitoring/prometheus/metrics", Kind::kMetrics}};

absl::Status NoSuchPath(absl::string_view path) {
  return absl::NotFoundError(absl::StrCat(
      "there is no ", PrintableLine(path),
      "; there is /v1/models/MODEL, /v1/models/MODEL/metadata and /v1/models/MODEL:predict, each also with ",
      "/versions/NUMBER behind MODEL, /healthz, /readyz and /metrics"));
}

}  // namespace

absl::StatusOr<RestPath> ParseRestPath(absl::string_view target) {
  const absl::string_view path = target.substr(0, target.find('?'));
  for (const auto& [name, kind] : kFixed) {
    if (path == name) return RestPath{.kind = kind};
  }
  absl::string_view rest = path;
  if (!absl::ConsumePrefix(&rest, "/v1/models/")) return NoSuchPath(path);
  RestPath result{.kind = Kind::kModelStatus};
  if (absl::ConsumeSuffix(&rest, ":predict")) {
    result.kind = Kind::kPredict;
  } else if (absl::ConsumeSuffix(&rest, "/metadata")) {
    result.kind = Kind::kModelMetadata;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, '/');
  const bool versioned = parts.size() == 3 && parts[1] == "versions";
  if (parts[0].empty() || parts[0].find(':') != absl::string_view::npos || (parts.size() != 1 && !versioned)) {
    return NoSuchPath(path);
  }
  result.model = std::string(parts[0]);
  if (!versioned) return result;
  int64_t version = 0;
  if (!absl::SimpleAtoi(parts[2], &version) || version < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", PrintableLine(parts[2]), "\" is no version of a model; versions are numbers"));
  }
  result.version = version;
  return result;
}

}  // namespace tandem::serving
