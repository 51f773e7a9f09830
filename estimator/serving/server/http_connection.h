// HttpConnection: one connection of an HttpServer, from its first request to its end.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTION_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTION_H_

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "estimator/serving/server/http_connections.h"
#include "estimator/serving/server/http_message.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/prediction.h"

namespace tandem::serving {

// All functions but Begin and Refuse run on the executor of the socket, which must be a strand. The object lives as
// long as an operation or an answer is outstanding.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using ErrorCode = boost::beast::error_code;

  // What `options`, `handler`, `metrics` and `all` point to must live longer.
  HttpConnection(boost::asio::ip::tcp::socket socket, const HttpOptions* options, HttpHandler* handler,
                 Metrics* metrics, HttpConnections* all);
  ~HttpConnection();

  // Reads requests and answers them, one after another.
  void Begin();
  // Sends an answer without a request, and closes the connection.
  void Refuse(HttpResponse response);
  // Closes the connection when nothing is being answered. From any thread.
  void Stop();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  enum class State {
    kIdle,      // waits for a request
    kReading,   // has the beginning of one
    kHandling,  // waits for the handler's answer
    kWriting,   // sends it
    kClosing,   // has sent all, and drops what the client still sends
    kClosed
  };

  void ReadRequest();
  void ReadHeader();
  void OnHeader(ErrorCode error);
  void ReadBody();
  void OnBody(ErrorCode error);
  void Handle();
  // Answers a request that could not be read.
  void AnswerReadError(ErrorCode error);
  void Write(HttpResponse response);
  void OnWritten(ErrorCode error);
  // Ends the connection so that the client can still read the answer: closing it while there is unread data would make
  // the system send a reset.
  void CloseGently();
  void Discard();
  void Close();
  void StopNow();
  // Sets `cancelled_` when the client closes the connection while its request is handled.
  void WatchForClose();
  void SetDeadline(absl::Duration time);
  void OnDeadline();
  // The number of bytes that have arrived and were not read, 0 at the client's end, -1 if there are none yet.
  int Arrived();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  const HttpOptions* const options_;
  HttpHandler* const handler_;
  Metrics* const metrics_;
  HttpConnections* const all_;

  State state_ = State::kIdle;
  bool keep_alive_ = false;  // after the answer to the current request
  bool timed_out_ = false;   // the current request did not arrive in time
  bool watching_ = false;
  int64_t deadlines_ = 0;  // how many were set; an older one's end means nothing
  int64_t discarded_ = 0;  // bytes
  unsigned version_ = 11;  // of HTTP, of the current request
  boost::beast::flat_buffer buffer_;
  std::array<char, 4096> dropped_;
  std::optional<Parser> parser_;
  std::optional<Response> response_;
  CancelFlag cancelled_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTION_H_
