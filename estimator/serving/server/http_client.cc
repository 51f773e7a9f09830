#include "estimator/serving/server/http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tandem::serving {
namespace {

constexpr timeval kPatience = {.tv_sec = 30, .tv_usec = 0};
constexpr char kEndOfHead[] = "\r\n\r\n";

// Returns the value of a header field, whose name is in lower or mixed case as the server writes it; -1 without it.
int64_t LengthOf(absl::string_view head) {
  const size_t at = head.find("Content-Length: ");
  int64_t length = -1;
  if (at == absl::string_view::npos) return -1;
  absl::string_view rest = head.substr(at + 16);
  return absl::SimpleAtoi(rest.substr(0, rest.find("\r\n")), &length) ? length : -1;
}

}  // namespace

HttpClient::HttpClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  const int at_once = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  close(socket_);
  socket_ = -1;
}

HttpClient::~HttpClient() {
  if (socket_ >= 0) close(socket_);
}

void HttpClient::Reset() {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(socket_);
  socket_ = -1;
}

bool HttpClient::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool HttpClient::Receive() {
  char bytes[16384];
  const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
  if (count > 0) received_.append(bytes, static_cast<size_t>(count));
  return count > 0;
}

HttpAnswer HttpClient::Read() {
  size_t end = 0;
  while ((end = received_.find(kEndOfHead)) == std::string::npos) {
    if (!Receive()) return {};
  }
  HttpAnswer answer{.head = received_.substr(0, end + sizeof kEndOfHead - 1)};
  received_.erase(0, answer.head.size());
  const int64_t length = LengthOf(answer.head);
  if (!absl::StartsWith(answer.head, "HTTP/1.") || !absl::SimpleAtoi(answer.head.substr(9, 3), &answer.status))
    return {};
  if (length < 0) return answer;
  while (received_.size() < static_cast<size_t>(length)) {
    if (!Receive()) return {};
  }
  answer.body = received_.substr(0, static_cast<size_t>(length));
  received_.erase(0, static_cast<size_t>(length));
  return answer;
}

HttpAnswer HttpClient::Get(absl::string_view target) {
  Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: test\r\n\r\n"));
  return Read();
}

HttpAnswer HttpClient::Post(absl::string_view target, absl::string_view body) {
  Send(PostText(target, body));
  return Read();
}

bool HttpClient::HasMore() {
  char byte;
  return !received_.empty() || recv(socket_, &byte, 1, MSG_DONTWAIT) > 0;
}

bool HttpClient::Ends() {
  char byte;
  const ssize_t count = received_.empty() ? recv(socket_, &byte, 1, 0) : 1;
  return count == 0 || (count < 0 && errno == ECONNRESET);
}

std::string PostText(absl::string_view target, absl::string_view body) {
  return absl::StrCat("POST ", target, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

}  // namespace tandem::serving
