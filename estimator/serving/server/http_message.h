// Requests and answers of HTTP, and what answers them.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_MESSAGE_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_MESSAGE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/serving/server/prediction.h"

namespace tandem::serving {

struct HttpRequest {
  std::string method;            // "GET"
  std::string target;            // "/v1/models/m?x=1"
  std::string content_encoding;  // empty, or "gzip"
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of every answer
  std::string body;
};

// Returns the answer {"error": "..."} with a status.
HttpResponse HttpError(int status, absl::string_view message);

// Returns the same for an error, with the status of HTTP that its code stands for. 429 and 503 tell when to try again.
HttpResponse HttpErrorOf(const absl::Status& error);

// Takes the answer to a request, once, from any thread. What makes it is called by a thread of the server, so that the
// threads that predict write no JSON.
using HttpRespond = std::function<void(std::function<HttpResponse()> make)>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Called by several threads. `cancelled` is set when the client has gone away.
  virtual void Handle(HttpRequest request, CancelFlag cancelled, HttpRespond respond) = 0;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_MESSAGE_H_
