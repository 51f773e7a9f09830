// Certificates, as OpenSSL has them.
#ifndef TANDEM_CLUSTER_X509_H_
#define TANDEM_CLUSTER_X509_H_

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tandem {

template <auto kFree>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using StorePtr = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

// Keeps OpenSSL's memory until the process has ended. Otherwise it is freed when main returns, while threads of gRPC
// may still be in a handshake. To be called before all else of OpenSSL and gRPC.
void KeepOpenssl();

// The certificates of a PEM file; none where one of them is damaged, or something else follows.
std::vector<X509Ptr> CertificatesOf(absl::string_view pem);
// Null where it is none, or has a passphrase.
KeyPtr PrivateKeyOf(absl::string_view pem);
// Of trusted certificates, which need not be roots, as gRPC has it.
StorePtr StoreOf(absl::string_view pem);

// "worker 1", the common name; or all of the name, "O = example".
std::string SubjectOf(const X509* certificate);
std::string IssuerOf(const X509* certificate);
absl::Time ValidFrom(const X509* certificate);
absl::Time ValidUntil(const X509* certificate);
// "2026-11-25 15:15 UTC".
std::string DateText(absl::Time time);
// The hosts and addresses that it is for; the common name where it lists none.
std::vector<std::string> NamesOf(const X509* certificate);
// Whether it is for `host`, a name or an address.
bool IsFor(X509* certificate, const std::string& host);
// What OpenSSL's last error on this thread was, and none from here on: "key values mismatch".
std::string LastOpensslError();

}  // namespace tandem

#endif  // TANDEM_CLUSTER_X509_H_
