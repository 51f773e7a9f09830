#include "estimator/serving/server/http_message.h"

#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "nlohmann/json.hpp"

namespace tandem::serving {
namespace {

int HttpStatus(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;  // as nginx counts clients that went away
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace

HttpResponse HttpError(int status, absl::string_view message) {
  HttpResponse response{.status = status};
  response.body = absl::StrCat("{\"error\": ", JsonString(nlohmann::json(Printable(message))), "}\n");
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse HttpErrorOf(const absl::Status& error) { return HttpError(HttpStatus(error.code()), error.message()); }

}  // namespace tandem::serving
