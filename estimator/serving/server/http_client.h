// HttpClient: a plain socket that speaks HTTP, and what is wrong with HTTP, to a server on this machine. For tests and
// benchmarks.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CLIENT_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CLIENT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem::serving {

struct HttpAnswer {
  int status = 0;  // 0 if the connection ended before a whole answer
  std::string head, body;
};

class HttpClient {
 public:
  // Connects to 127.0.0.1. If that fails, nothing can be sent.
  explicit HttpClient(int port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False if the server has closed the connection.
  bool Send(absl::string_view bytes);
  // Waits for an answer; for at most 30 seconds.
  HttpAnswer Read();
  // Sends a request and reads the answer.
  HttpAnswer Get(absl::string_view target);
  HttpAnswer Post(absl::string_view target, absl::string_view body);
  // True if the server has sent bytes that no answer was read from. Does not wait.
  bool HasMore();
  // True if the server ends the connection within 30 seconds and sends nothing more.
  bool Ends();
  // Closes the connection with a reset.
  void Reset();

 private:
  // Receives more into received_; false at the end.
  bool Receive();

  int socket_ = -1;
  std::string received_;  // and not part of an answer yet
};

// Returns the text of a request.
std::string PostText(absl::string_view target, absl::string_view body);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CLIENT_H_
