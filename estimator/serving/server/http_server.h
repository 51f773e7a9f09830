// HttpServer: HTTP/1.1 over TCP, with limits on what a client may send and on how long it may take.
//
// Every connection has one deadline at a time: for the next request to begin, for a request to arrive, for its answer
// to be sent. No thread waits for a client. What is wrong with a request is answered: 400 if it is no HTTP, 408 if it
// does not arrive in time, 413 and 431 if its body or header is too large, 503 if there are too many connections or the
// server stops. A client that closes its side of the connection before the answer is taken for gone.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_SERVER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "estimator/serving/server/http_message.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"

namespace tandem::serving {

class HttpServer {
 public:
  // Listens at `address`, an IP address. `handler` and `metrics` must live longer. Unavailable, with the system's
  // reason, if that fails.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address, const HttpOptions& options,
                                                           HttpHandler* handler, Metrics* metrics);
  ~HttpServer();  // stops, without waiting for requests
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // Takes no connections any more, refuses new requests, and waits until those that are handled are answered, or until
  // `timeout` is over. Returns how many connections were cut then.
  int64_t Stop(absl::Duration timeout);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_SERVER_H_
