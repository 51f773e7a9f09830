#include "cluster/credentials.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "cluster/clock.h"
#include "cluster/handshake.h"
#include "cluster/x509.h"

namespace tandem {
namespace {

bool IsSocketFile(absl::string_view target) { return absl::StartsWith(target, "unix:"); }

}  // namespace

absl::StatusOr<Credentials> Credentials::Make(const std::optional<TlsFiles>& files) {
  KeepOpenssl();
  Credentials credentials;
  if (!files.has_value()) return credentials;
  TD_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(*files));
  credentials.tls_ = std::make_shared<const TlsMaterial>(std::move(material));
  return credentials;
}

std::shared_ptr<grpc::Channel> Credentials::Dial(const std::string& target, grpc::ChannelArguments arguments) const {
  if (tls_ == nullptr || IsSocketFile(target)) {
    return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  }
  if (!tls_->files.server_name.empty()) arguments.SetSslTargetNameOverride(tls_->files.server_name);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls_->ca;
  options.pem_private_key = tls_->key;
  options.pem_cert_chain = tls_->certificate;
  return grpc::CreateCustomChannel(target, grpc::SslCredentials(options), arguments);
}

std::shared_ptr<grpc::ServerCredentials> Credentials::Listening(const std::string& target) const {
  if (tls_ == nullptr || IsSocketFile(target)) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls_->ca;
  options.pem_key_cert_pairs = {{.private_key = tls_->key, .cert_chain = tls_->certificate}};
  return grpc::SslServerCredentials(options);
}

DialWatch::DialWatch(const Credentials& credentials, std::string who, std::string address, double seconds)
    : credentials_(credentials), who_(std::move(who)), address_(std::move(address)), patience_(seconds) {}

absl::Status DialWatch::Failed() {
  if (address_.empty() || Clock::now() < next_look_) return absl::OkStatus();
  const std::string why = WhyNoHandshake(address_, credentials_.tls());
  next_look_ = After<Clock>(std::min(patience_.count() / 4, 1.0));
  if (why.empty()) {
    apart_since_.reset();
    return absl::OkStatus();
  }
  const Clock::time_point now = Clock::now();
  if (!apart_since_.has_value()) {
    apart_since_ = now;
    TD_LOG(WARNING) << who_ << " at " << PrintableLine(address_) << ": " << why << ". It is tried again for "
                    << patience_.count() << " s.";
  }
  if (now - *apart_since_ < patience_) return absl::OkStatus();
  return WithExitCode(absl::FailedPreconditionError(
                          absl::StrCat("no connection to ", who_, " at ", PrintableLine(address_), ": ", why)),
                      kExitUsage);
}

}  // namespace tandem
