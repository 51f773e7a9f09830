// Helpers for OpenSSL's certificates.
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

// Keeps OpenSSL's memory allocated until the process has ended. Otherwise it would be freed when main returns, while
// threads of gRPC may still be in a handshake. Call it before everything else of OpenSSL and gRPC.
void KeepOpenssl();

// Returns the certificates of a PEM file; none if one of them is damaged or something else follows.
std::vector<X509Ptr> CertificatesOf(absl::string_view pem);
// Returns null if `pem` is not a private key or has a passphrase.
KeyPtr PrivateKeyOf(absl::string_view pem);
// Returns a store of trusted certificates, which need not be roots, as in gRPC.
StorePtr StoreOf(absl::string_view pem);

// Return the common name, such as "worker 1"; without a common name the whole name, such as "O = example".
std::string SubjectOf(const X509* certificate);
std::string IssuerOf(const X509* certificate);
absl::Time ValidFrom(const X509* certificate);
absl::Time ValidUntil(const X509* certificate);
// Returns, for example, "2026-11-25 15:15 UTC".
std::string DateText(absl::Time time);
// Returns the hosts and addresses that the certificate is for; the common name if it lists none.
std::vector<std::string> NamesOf(const X509* certificate);
// True if the certificate is for `host`, a name or an address.
bool IsFor(X509* certificate, const std::string& host);
// Returns OpenSSL's last error on this thread, such as "key values mismatch", and clears its errors.
std::string LastOpensslError();

}  // namespace tandem

#endif  // TANDEM_CLUSTER_X509_H_
