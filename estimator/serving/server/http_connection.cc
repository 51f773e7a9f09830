#include "estimator/serving/server/http_connection.h"

#include <errno.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"

namespace tandem::serving {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr size_t kFirstRead = 16 << 10;  // bytes
// Of what a client still sends when its connection ends.
constexpr absl::Duration kDiscardTime = absl::Seconds(2);
constexpr int64_t kMaxDiscarded = 64 << 20;  // bytes

constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr char kStopping[] = "the server is stopping";

std::string Text(boost::beast::string_view text) { return std::string(text.data(), text.size()); }

}  // namespace

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, const HttpOptions* options, HttpHandler* handler,
                               Metrics* metrics, HttpConnections* all)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      options_(options),
      handler_(handler),
      metrics_(metrics),
      all_(all) {
  metrics_->AddConnections(1);
}

HttpConnection::~HttpConnection() {
  metrics_->AddConnections(-1);
  all_->Remove(this);
}

void HttpConnection::Begin() {
  all_->Add(this, weak_from_this(), /*refused=*/false);
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
    ErrorCode ignored;
    self->socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    self->ReadRequest();
  });
}

void HttpConnection::Refuse(HttpResponse response) {
  all_->Add(this, weak_from_this(), /*refused=*/true);
  asio::dispatch(socket_.get_executor(), [self = shared_from_this(), response = std::move(response)]() mutable {
    self->Write(std::move(response));
  });
}

void HttpConnection::Stop() {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->StopNow(); });
}

void HttpConnection::StopNow() {
  // A request that has arrived gets an answer, though it is that the server stops.
  if (state_ == State::kIdle && Arrived() <= 0) Close();
}

void HttpConnection::ReadRequest() {
  state_ = State::kIdle;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(options_->max_header_bytes));
  parser_->body_limit(static_cast<uint64_t>(options_->max_body_bytes));
  if (buffer_.size() > 0) return ReadHeader();
  SetDeadline(options_->idle_timeout);
  socket_.async_read_some(buffer_.prepare(kFirstRead), [self = shared_from_this()](ErrorCode error, size_t bytes) {
    if (error || self->state_ == State::kClosed) return self->Close();
    self->buffer_.commit(bytes);
    self->ReadHeader();
  });
}

void HttpConnection::ReadHeader() {
  state_ = State::kReading;
  timed_out_ = false;
  SetDeadline(options_->read_timeout);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](ErrorCode error, size_t) { self->OnHeader(error); });
}

void HttpConnection::OnHeader(ErrorCode error) {
  if (error || timed_out_) return AnswerReadError(error);
  version_ = parser_->get().version();
  if (parser_->is_done()) return Handle();
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) return ReadBody();
  asio::async_write(socket_, asio::buffer(kContinue, sizeof kContinue - 1),
                    [self = shared_from_this()](ErrorCode write_error, size_t) {
                      return write_error ? self->Close() : self->ReadBody();
                    });
}

void HttpConnection::ReadBody() {
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](ErrorCode error, size_t) { self->OnBody(error); });
}

void HttpConnection::OnBody(ErrorCode error) {
  if (error || timed_out_) return AnswerReadError(error);
  Handle();
}

void HttpConnection::AnswerReadError(ErrorCode error) {
  if (state_ == State::kClosed) return;
  keep_alive_ = false;
  if (timed_out_) {
    return Write(HttpError(
        408, absl::StrCat("the request did not arrive within ", absl::FormatDuration(options_->read_timeout))));
  }
  if (error == http::error::body_limit) {
    return Write(HttpError(413, absl::StrCat("the body has more than ", options_->max_body_bytes,
                                             " bytes, which is the limit; send fewer rows at once")));
  }
  if (error == http::error::header_limit) {
    return Write(HttpError(
        431, absl::StrCat("the header has more than ", options_->max_header_bytes, " bytes, which is the limit")));
  }
  // What is left are errors of the parser, and of the connection, whose client gets no answer.
  if (error.category() != http::make_error_code(http::error::bad_method).category() ||
      error == http::error::end_of_stream || error == http::error::partial_message) {
    return Close();
  }
  Write(HttpError(400, absl::StrCat("this is no request of HTTP/1.1: ", error.message())));
}

void HttpConnection::Handle() {
  state_ = State::kHandling;
  timer_.cancel();
  http::request<http::string_body> message = parser_->release();
  keep_alive_ = message.keep_alive();
  if (all_->stopping()) return Write(HttpError(503, kStopping));
  HttpRequest request{.method = Text(message.method_string()),
                      .target = Text(message.target()),
                      .content_encoding = Text(message[http::field::content_encoding]),
                      .body = std::move(message.body())};
  cancelled_ = std::make_shared<std::atomic<bool>>(false);
  handler_->Handle(std::move(request), cancelled_, [self = shared_from_this()](std::function<HttpResponse()> make) {
    asio::dispatch(self->socket_.get_executor(), [self, make = std::move(make)] {
      if (self->state_ != State::kClosed) self->Write(make());
    });
  });
  if (state_ == State::kHandling) WatchForClose();
}

void HttpConnection::WatchForClose() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](ErrorCode error) {
    self->watching_ = false;
    if (error || self->state_ != State::kHandling) return;
    const int arrived = self->Arrived();
    if (arrived < 0) return self->WatchForClose();
    // Bytes are the beginning of the next request, behind which the client's end is not seen.
    if (arrived == 0) self->cancelled_->store(true);
  });
}

int HttpConnection::Arrived() {
  char byte;
  const ssize_t bytes = recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (bytes >= 0) return static_cast<int>(bytes);
  return errno == EAGAIN || errno == EINTR ? -1 : 0;
}

void HttpConnection::Write(HttpResponse response) {
  state_ = State::kWriting;
  keep_alive_ = keep_alive_ && !all_->stopping();
  metrics_->CountHttp(response.status);
  response_.emplace(static_cast<http::status>(response.status), version_);
  response_->set(http::field::server, "tandem-serve");
  response_->set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) response_->set(name, value);
  response_->body() = std::move(response.body);
  response_->keep_alive(keep_alive_);
  response_->prepare_payload();
  SetDeadline(options_->write_timeout);
  http::async_write(socket_, *response_,
                    [self = shared_from_this()](ErrorCode error, size_t) { self->OnWritten(error); });
}

void HttpConnection::OnWritten(ErrorCode error) {
  if (error || state_ == State::kClosed) return Close();
  if (response_->result_int() == 499) return Close();
  if (!keep_alive_ || all_->stopping()) return CloseGently();
  ReadRequest();
}

void HttpConnection::CloseGently() {
  state_ = State::kClosing;
  ErrorCode ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  SetDeadline(kDiscardTime);
  Discard();
}

void HttpConnection::Discard() {
  socket_.async_read_some(asio::buffer(dropped_), [self = shared_from_this()](ErrorCode error, size_t bytes) {
    self->discarded_ += static_cast<int64_t>(bytes);
    if (error || self->discarded_ > kMaxDiscarded) return self->Close();
    self->Discard();
  });
}

void HttpConnection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  timer_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
}

void HttpConnection::SetDeadline(absl::Duration time) {
  timer_.expires_after(absl::ToChronoNanoseconds(time));
  timer_.async_wait([self = shared_from_this(), number = ++deadlines_](ErrorCode error) {
    if (!error && number == self->deadlines_) self->OnDeadline();
  });
}

void HttpConnection::OnDeadline() {
  if (state_ == State::kHandling) return;  // it became that when the deadline was over already
  if (state_ != State::kReading) return Close();
  timed_out_ = true;
  ErrorCode ignored;
  socket_.cancel(ignored);
}

}  // namespace tandem::serving
