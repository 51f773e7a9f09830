#include "cluster/handshake.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/posix_error.h"
#include "base/printable.h"
#include "cluster/address.h"
#include "cluster/clock.h"
#include "cluster/x509.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

// A socket with a deadline that does not raise SIGPIPE.
class Wire {
 public:
  Wire(const std::string& address, Clock::time_point end) : end_(end) {
    const auto [host, port] = SplitAddress(address);
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    for (const addrinfo* a = found; a != nullptr && fd_ < 0; a = a->ai_next) {
      fd_ = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      int error = fd_ < 0 || (connect(fd_, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS);
      socklen_t size = sizeof(error);
      if (error == 0 && Wait(POLLOUT) && getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) break;
      if (fd_ >= 0) close(fd_);
      fd_ = -1;
    }
  }
  ~Wire() {
    if (fd_ >= 0) close(fd_);
  }
  bool connected() const { return fd_ >= 0; }

  bool Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      if (!Wait(POLLOUT)) return false;
      const ssize_t n = RetryInterrupted([&] { return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
      if (n <= 0) return false;
      bytes.remove_prefix(n);
    }
    return true;
  }
  // Returns what was received; empty at end of stream or after the deadline.
  std::string Receive() {
    char bytes[4096];
    if (!Wait(POLLIN)) return "";
    const ssize_t n = RetryInterrupted([&] { return recv(fd_, bytes, sizeof(bytes), 0); });
    return std::string(bytes, std::max<ssize_t>(n, 0));
  }
  bool late() const { return Clock::now() >= end_; }

 private:
  bool Wait(short events) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
    pollfd entry = {.fd = fd_, .events = events, .revents = 0};
    return RetryInterrupted([&] { return poll(&entry, 1, std::max<int>(static_cast<int>(left), 0)); }) > 0;
  }

  const Clock::time_point end_;
  int fd_ = -1;
};

// Accepts any certificate during the handshake; it is checked afterwards.
int TakeAny(X509_STORE_CTX*, void*) { return 1; }

class Handshake {
 public:
  Handshake(Wire* wire, const std::string& host, const TlsMaterial* own)
      : wire_(wire), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context_.get(), TakeAny, nullptr);
    if (own != nullptr) {
      const std::vector<X509Ptr> chain = CertificatesOf(own->certificate);
      for (size_t i = 0; i < chain.size(); ++i) {
        if (i == 0) SSL_CTX_use_certificate(context_.get(), chain[0].get());
        if (i > 0) SSL_CTX_add1_chain_cert(context_.get(), chain[i].get());
      }
      SSL_CTX_use_PrivateKey(context_.get(), PrivateKeyOf(own->key).get());
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    SSL_set_alpn_protos(ssl_.get(), kHttp2, sizeof(kHttp2));
    const std::string& name = own != nullptr && !own->files.server_name.empty() ? own->files.server_name : host;
    if (!IsIpAddress(name)) SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
  }

  bool Shake() {
    return Do([this] { return SSL_connect(ssl_.get()); });
  }
  // Reads a byte after the handshake; returns false if none arrives.
  bool Read() {
    char byte;
    return Do([&] { return SSL_read(ssl_.get(), &byte, 1); });
  }
  X509* certificate() const { return SSL_get0_peer_certificate(ssl_.get()); }
  STACK_OF(X509) * chain() const { return SSL_get_peer_cert_chain(ssl_.get()); }
  // Returns OpenSSL's error; 0 if the peer ended the connection or did not answer.
  unsigned long error() const { return error_; }

 private:
  template <typename Call>
  bool Do(const Call& call) {
    while (true) {
      ERR_clear_error();
      const int result = call();
      const int kind = SSL_get_error(ssl_.get(), result);
      error_ = kind == SSL_ERROR_SSL ? ERR_peek_last_error() : 0;
      char* bytes = nullptr;
      BIO* const out = SSL_get_wbio(ssl_.get());
      const long size = BIO_get_mem_data(out, &bytes);
      const bool sent = wire_->Send(absl::string_view(bytes, size));
      (void)BIO_reset(out);
      if (result > 0) return true;
      if (kind != SSL_ERROR_WANT_READ || !sent) return false;
      const std::string received = wire_->Receive();
      if (received.empty()) return false;
      BIO_write(SSL_get_rbio(ssl_.get()), received.data(), static_cast<int>(received.size()));
    }
  }

  Wire* const wire_;
  const SslContextPtr context_;
  SslPtr ssl_;
  unsigned long error_ = 0;
};

// Returns why the peer's certificate is not trusted; "" if it is.
std::string WhyNotTrusted(const Handshake& handshake, const TlsMaterial& own) {
  const StorePtr store = StoreOf(own.ca);
  const std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), handshake.certificate(), handshake.chain());
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER);
  if (X509_verify_cert(context.get()) == 1) return "";
  const int error = X509_STORE_CTX_get_error(context.get());
  if (error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID) {
    return absl::StrCat("its certificate is valid from ", DateText(ValidFrom(handshake.certificate())), " to ",
                        DateText(ValidUntil(handshake.certificate())), "; renew it, or look at this machine's clock");
  }
  return absl::StrCat("its certificate, by \"", PrintableLine(IssuerOf(handshake.certificate())),
                      "\", was not issued by a CA of ", PrintableLine(own.files.ca), " (",
                      X509_verify_cert_error_string(error),
                      "); give all processes certificates of one CA, and that "
                      "CA's as TANDEM_TLS_CA");
}

std::string WhyNotNamed(X509* certificate, const std::string& host, const TlsMaterial& own) {
  const bool given = !own.files.server_name.empty();
  const std::string& name = given ? own.files.server_name : host;
  if (IsFor(certificate, name)) return "";
  return absl::StrCat("its certificate is for ", PrintableLine(absl::StrJoin(NamesOf(certificate), ", ")),
                      " and not for ", given ? "the server name " : "", PrintableLine(name),
                      "; issue one that names it, or set TANDEM_TLS_SERVER_NAME on all processes to a name that all "
                      "certificates have");
}

constexpr absl::string_view kSetAll =
    "set TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY and TANDEM_TLS_CA on all processes or on none";

std::string WhyRefused(const Handshake& handshake, const TlsMaterial& own) {
  const char* reason = handshake.error() == 0 ? nullptr : ERR_reason_error_string(handshake.error());
  return absl::StrCat("it refuses the certificate of this process, ", PrintableLine(own.files.certificate), " (",
                      reason == nullptr ? "it ends the connection" : reason,
                      "); give all processes certificates of one CA, and that CA's as TANDEM_TLS_CA");
}

}  // namespace

std::string WhyNoHandshake(const std::string& address, const TlsMaterial* own, double seconds) {
  Wire wire(address, After<Clock>(seconds));
  if (!wire.connected()) return "";
  std::string host = SplitAddress(address).host;
  host = host.substr(0, host.find('%'));
  Handshake handshake(&wire, host, own);
  const auto forget = absl::MakeCleanup([] { ERR_clear_error(); });
  const bool shaken = handshake.Shake();
  if (handshake.certificate() == nullptr) {
    const bool no_tls = ERR_GET_REASON(handshake.error()) == SSL_R_WRONG_VERSION_NUMBER;
    return own != nullptr && no_tls ? absl::StrCat("it does not speak TLS, and this process does; ", kSetAll) : "";
  }
  if (own == nullptr) return absl::StrCat("it speaks TLS, and this process does not; ", kSetAll);
  if (std::string why = WhyNotTrusted(handshake, *own); !why.empty()) return why;
  if (std::string why = WhyNotNamed(handshake.certificate(), host, *own); !why.empty()) return why;
  // With TLS 1.3 a server refuses a certificate only after the handshake. If it accepts, the next bytes come from the
  // server, because in gRPC it sends first.
  const bool heard = shaken && handshake.Read();
  if (heard || wire.late()) return "";
  return WhyRefused(handshake, *own);
}

}  // namespace tandem
