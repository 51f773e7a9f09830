#include "cluster/tls_material.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "cluster/x509.h"

namespace tandem {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 20;

absl::Status Wrong(const std::string& file, absl::string_view why) {
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat("TLS: ", PrintableLine(file), ": ", why)), kExitUsage);
}

absl::StatusOr<std::string> Read(const std::string& file, absl::string_view what, absl::string_view variable) {
  absl::StatusOr<std::string> content = ReadTextFile(Env::Default(), file, kMaxBytes);
  if (content.ok()) return content;
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat("TLS: ", PrintableLine(content.status().message()), "; ",
                                                              variable, " names ", what)),
                      kExitUsage);
}

absl::Status CheckKeyIsPrivate(const std::string& file) {
  struct stat info;
  if (stat(file.c_str(), &info) != 0 || (info.st_mode & S_IRWXO) == 0) return absl::OkStatus();
  return Wrong(file, absl::StrFormat("all users of this machine may read or write this key (mode %04o): whoever has it "
                                     "can be a process of the cluster; `chmod o= FILE` takes that right away",
                                     info.st_mode & 07777));
}

// Returns an error if the leaf, chain[0], would be refused for `purpose`. `chain` also has the certificates between it
// and the CA.
absl::Status CheckChain(const TlsFiles& files, const std::vector<X509Ptr>& chain, X509_STORE* store, int purpose) {
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> between(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (size_t i = 1; i < chain.size(); ++i) sk_X509_push(between.get(), chain[i].get());
  const std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store, chain[0].get(), between.get());
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  const int error = X509_STORE_CTX_get_error(context.get());
  const X509* where = X509_STORE_CTX_get_current_cert(context.get());
  if (where == nullptr) where = chain[0].get();
  const std::string of =
      X509_STORE_CTX_get_error_depth(context.get()) == 0
          ? "the certificate"
          : absl::StrCat("the certificate of \"", PrintableLine(SubjectOf(where)), "\", which issued it,");
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Wrong(files.certificate, absl::StrCat(of, " has expired, on ", DateText(ValidUntil(where)), "; renew it"));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Wrong(files.certificate, absl::StrCat(of, " is valid from ", DateText(ValidFrom(where)), " on, and it is ",
                                                   DateText(absl::Now()), " here; look at this machine's clock"));
    case X509_V_ERR_INVALID_PURPOSE:
      return Wrong(files.certificate,
                   absl::StrCat(of, " is not for TLS ", purpose == X509_PURPOSE_SSL_CLIENT ? "clients" : "servers",
                                "; every process is both: leave out extendedKeyUsage, or have both of serverAuth and "
                                "clientAuth"));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return Wrong(files.certificate,
                   absl::StrCat("the certificate was not issued by a CA of ", PrintableLine(files.ca), " (it was by \"",
                                PrintableLine(IssuerOf(chain.back().get())),
                                "\"): the other processes would refuse it; name the CA that issued it"));
    default:
      return Wrong(files.certificate, absl::StrCat(of, ": ", X509_verify_cert_error_string(error)));
  }
}

// Checks that TLS, as gRPC uses it, accepts the certificate and the key.
absl::Status CheckWithTls(const TlsFiles& files, X509* certificate, EVP_PKEY* key) {
  const SslContextPtr context(SSL_CTX_new(TLS_method()));
  if (SSL_CTX_use_certificate(context.get(), certificate) != 1) {
    return Wrong(files.certificate, absl::StrCat("TLS does not take the certificate: ", LastOpensslError(),
                                                 "; make one with a key for today, such as EC P-256 or RSA 2048"));
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key) != 1) {
    return Wrong(files.key, absl::StrCat("TLS does not take the key: ", LastOpensslError()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  if (const std::string missing = WhatIsMissing(files); !missing.empty()) {
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("TLS: ", missing, "; certificate, key and ca go together")),
        kExitUsage);
  }
  TlsMaterial material{.files = files};
  TD_ASSIGN_OR_RETURN(material.certificate,
                      Read(files.certificate, "the certificate of this process", "TANDEM_TLS_CERTIFICATE"));
  TD_ASSIGN_OR_RETURN(material.key, Read(files.key, "the certificate's private key", "TANDEM_TLS_KEY"));
  TD_ASSIGN_OR_RETURN(material.ca, Read(files.ca, "the certificate of the CA", "TANDEM_TLS_CA"));
  TD_RETURN_IF_ERROR(CheckKeyIsPrivate(files.key));
  TD_RETURN_IF_ERROR(CheckTlsMaterial(&material));
  return material;
}

absl::Status CheckTlsMaterial(TlsMaterial* material) {
  const TlsFiles& files = material->files;
  const auto forget = absl::MakeCleanup([] { ERR_clear_error(); });
  const std::vector<X509Ptr> chain = CertificatesOf(material->certificate);
  const char* const kNoPem = "it is no PEM file (-----BEGIN CERTIFICATE-----), or is damaged";
  if (chain.empty()) return Wrong(files.certificate, absl::StrCat("no certificate: ", kNoPem));
  if (CertificatesOf(material->ca).empty()) return Wrong(files.ca, absl::StrCat("no certificate of a CA: ", kNoPem));
  const KeyPtr key = PrivateKeyOf(material->key);
  if (key == nullptr && absl::StrContains(material->key, "ENCRYPTED")) {
    return Wrong(files.key,
                 "the key has a passphrase, and nobody is there to give it; "
                 "`openssl pkey -in FILE -out KEY` writes it without");
  }
  if (key == nullptr) return Wrong(files.key, "no key: it is no PEM file (-----BEGIN PRIVATE KEY-----), or is damaged");
  X509* const leaf = chain[0].get();
  if (X509_check_private_key(leaf, key.get()) != 1) {
    return Wrong(files.key,
                 absl::StrCat("the key does not belong to the certificate in ", PrintableLine(files.certificate), " (",
                              LastOpensslError(), "); name two files that were made together"));
  }
  const StorePtr store = StoreOf(material->ca);
  TD_RETURN_IF_ERROR(CheckChain(files, chain, store.get(), X509_PURPOSE_SSL_SERVER));
  TD_RETURN_IF_ERROR(CheckChain(files, chain, store.get(), X509_PURPOSE_SSL_CLIENT));
  TD_RETURN_IF_ERROR(CheckWithTls(files, leaf, key.get()));
  material->names = NamesOf(leaf);
  material->valid_until = ValidUntil(leaf);
  if (!files.server_name.empty() && !IsFor(leaf, files.server_name)) {
    return Wrong(files.certificate,
                 absl::StrCat("the certificate is for ", PrintableLine(absl::StrJoin(material->names, ", ")),
                              " and not for the server name ", PrintableLine(files.server_name),
                              ", which the certificates of all processes must have"));
  }
  return absl::OkStatus();
}

}  // namespace tandem
