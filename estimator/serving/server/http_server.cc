#include "estimator/serving/server/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "estimator/serving/server/http_connection.h"
#include "estimator/serving/server/http_connections.h"

namespace tandem::serving {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Connections beyond the limit that are told so; those beyond these are closed without a word.
constexpr int64_t kMaxRefused = 64;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, HttpHandler* handler, Metrics* metrics)
      : options_(options),
        handler_(handler),
        metrics_(metrics),
        acceptor_(asio::make_strand(context_)),
        pause_(acceptor_.get_executor()) {}

  ~Impl() { End(); }

  absl::Status Listen(const std::string& address) {
    boost::system::error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", PrintableLine(address), "\" is no IP address, such as 127.0.0.1, or 0.0.0.0 for all"));
    }
    const tcp::endpoint endpoint(ip, static_cast<uint16_t>(options_.port));
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("cannot listen at ", address, ":", options_.port, ": ", error.message()));
  }

  absl::Status Run() {
    asio::post(acceptor_.get_executor(), [this] { Accept(); });
    TD_ASSIGN_OR_RETURN(threads_, StartThreads("HTTP", options_.threads, [this](int) { RunContext(); }));
    return absl::OkStatus();
  }

  int port() const { return port_; }

  int64_t Stop(absl::Duration timeout) {
    connections_.SetStopping();
    asio::post(acceptor_.get_executor(), [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const std::shared_ptr<HttpConnection>& connection : connections_.All()) connection->Stop();
    });
    const int64_t cut = connections_.WaitUntilEmpty(timeout);
    End();
    return cut;
  }

 private:
  void RunContext() {
    for (;;) {
      const absl::Status status = CatchResourceErrors("HTTP", [&] {
        context_.run();
        return absl::OkStatus();
      });
      if (status.ok()) return;
      // The operation that failed has given up its connection; the others go on.
      TD_LOG(ERROR) << status.message();
    }
  }

  void Accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](boost::system::error_code error, tcp::socket socket) {
      if (connections_.stopping()) return;
      if (error) return AcceptLater(error);
      Serve(std::move(socket));
      Accept();
    });
  }

  // Where there is no descriptor left, say, the next attempt would fail at once.
  void AcceptLater(boost::system::error_code error) {
    TD_LOG(WARNING) << "HTTP: a connection was not accepted: " << error.message();
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](boost::system::error_code) {
      if (!connections_.stopping()) Accept();
    });
  }

  void Serve(tcp::socket socket) {
    const bool full = connections_.served() >= options_.max_connections;
    if (full && connections_.refused() >= kMaxRefused) return;  // closes it
    auto connection = std::make_shared<HttpConnection>(std::move(socket), &options_, handler_, metrics_, &connections_);
    if (!full) return connection->Begin();
    connection->Refuse(
        HttpError(503, absl::StrCat("the server has ", options_.max_connections, " connections, which is the limit")));
  }

  void End() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const HttpOptions options_;
  HttpHandler* const handler_;
  Metrics* const metrics_;
  HttpConnections connections_;  // outlives context_, whose operations hold connections
  asio::io_context context_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  int port_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address, const HttpOptions& options,
                                                              HttpHandler* handler, Metrics* metrics) {
  auto impl = std::make_unique<Impl>(options, handler, metrics);
  TD_RETURN_IF_ERROR(impl->Listen(address));
  TD_RETURN_IF_ERROR(impl->Run());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }

int64_t HttpServer::Stop(absl::Duration timeout) { return impl_->Stop(timeout); }

}  // namespace tandem::serving
