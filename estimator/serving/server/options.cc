#include "estimator/serving/server/options.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem::serving {
namespace {

constexpr int kMaxPort = 65535;

// True for names that stand in a URL as they are.
bool IsModelName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

absl::Status CheckRange(absl::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, "; it must be from ", least, " to ", most));
}

absl::Status CheckTime(absl::string_view name, absl::Duration value, absl::Duration least) {
  if (value >= least && value <= absl::Hours(24)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", absl::FormatDuration(value), "; it must be from ",
                                                 absl::FormatDuration(least), " to 24h"));
}

absl::Status CheckModels(const std::vector<ModelOptions>& models) {
  if (models.empty()) {
    return absl::InvalidArgumentError(
        "there is no model to serve; name each as NAME=DIRECTORY, where DIRECTORY has exported models");
  }
  std::set<std::string> names;
  for (const ModelOptions& model : models) {
    if (!IsModelName(model.name)) {
      return absl::InvalidArgumentError(absl::StrCat("\"", PrintableLine(model.name), "\" is no name of a model; ",
                                                     "names have letters, digits, \"_\", \"-\" and \".\""));
    }
    if (model.directory.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("model \"", model.name, "\" has no directory"));
    }
    if (!names.insert(model.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two models are called \"", model.name, "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHttp(const HttpOptions& http) {
  TD_RETURN_IF_ERROR(CheckRange("the port of HTTP", http.port, 0, kMaxPort));
  TD_RETURN_IF_ERROR(CheckRange("the number of threads of HTTP", http.threads, 1, kMaxThreads));
  TD_RETURN_IF_ERROR(CheckRange("the number of connections", http.max_connections, 1, 1 << 20));
  TD_RETURN_IF_ERROR(CheckRange("the limit of a header's bytes", http.max_header_bytes, 256, 1 << 20));
  TD_RETURN_IF_ERROR(CheckRange("the limit of a body's bytes", http.max_body_bytes, 1, int64_t{1} << 31));
  TD_RETURN_IF_ERROR(CheckTime("the time to read a request", http.read_timeout, absl::Milliseconds(1)));
  TD_RETURN_IF_ERROR(CheckTime("the time to write an answer", http.write_timeout, absl::Milliseconds(1)));
  return CheckTime("the time that a connection may be idle", http.idle_timeout, absl::Milliseconds(1));
}

absl::Status CheckBatch(const BatchOptions& batch) {
  TD_RETURN_IF_ERROR(CheckRange("the limit of a batch's rows", batch.max_rows, 0, 1 << 20));
  TD_RETURN_IF_ERROR(CheckRange("the number of batches at once", batch.threads, 1, 64));
  TD_RETURN_IF_ERROR(CheckRange("the limit of waiting requests", batch.max_queued, 1, 1 << 20));
  return CheckTime("the time that a request waits for others", batch.timeout, absl::ZeroDuration());
}

}  // namespace

absl::StatusOr<ModelOptions> ParseModelOptions(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", PrintableLine(text),
                                                   "\" names no model; the form is NAME=DIRECTORY, such as "
                                                   "digits=model_dir/export/latest"));
  }
  return ModelOptions{.name = text.substr(0, equals), .directory = text.substr(equals + 1)};
}

absl::Status CheckServerOptions(const ServerOptions& options) {
  TD_RETURN_IF_ERROR(CheckModels(options.models));
  TD_RETURN_IF_ERROR(CheckHttp(options.http));
  TD_RETURN_IF_ERROR(CheckRange("the port of gRPC", options.grpc.port, -1, kMaxPort));
  TD_RETURN_IF_ERROR(
      CheckRange("the limit of a gRPC message's bytes", options.grpc.max_message_bytes, 1, (int64_t{1} << 31) - 1));
  TD_RETURN_IF_ERROR(CheckBatch(options.batch));
  TD_RETURN_IF_ERROR(CheckThreadCount("the number of a model's threads", options.threads));
  TD_RETURN_IF_ERROR(CheckRange("the number of versions at once", options.versions, 1, 100));
  TD_RETURN_IF_ERROR(CheckTime("the time between looks for new exports", options.poll_interval, absl::Milliseconds(1)));
  return CheckTime("the time to finish requests", options.stop_timeout, absl::ZeroDuration());
}

}  // namespace tandem::serving
