#include "cluster/x509.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "cluster/address.h"

namespace tandem {
namespace {

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using AltNamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

BioPtr Reading(absl::string_view text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string Bytes(const ASN1_STRING* text) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), ASN1_STRING_length(text));
}

std::string CommonName(const X509_NAME* name) {
  const int index = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  return index < 0 ? "" : Bytes(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
}

std::string NameText(const X509_NAME* name) {
  if (std::string common = CommonName(name); !common.empty()) return common;
  const BioPtr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_ONELINE);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, size);
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? absl::FromTM(parts, absl::UTCTimeZone()) : absl::InfinitePast();
}

// Without this function OpenSSL would ask for a passphrase at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

}  // namespace

void KeepOpenssl() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

std::vector<X509Ptr> CertificatesOf(absl::string_view pem) {
  const BioPtr bio = Reading(pem);
  std::vector<X509Ptr> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) certificates.clear();
  return certificates;
}

KeyPtr PrivateKeyOf(absl::string_view pem) {
  KeyPtr key(PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

StorePtr StoreOf(absl::string_view pem) {
  StorePtr store(X509_STORE_new());
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  for (const X509Ptr& certificate : CertificatesOf(pem)) X509_STORE_add_cert(store.get(), certificate.get());
  return store;
}

std::string SubjectOf(const X509* certificate) { return NameText(X509_get_subject_name(certificate)); }
std::string IssuerOf(const X509* certificate) { return NameText(X509_get_issuer_name(certificate)); }
absl::Time ValidFrom(const X509* certificate) { return TimeOf(X509_get0_notBefore(certificate)); }
absl::Time ValidUntil(const X509* certificate) { return TimeOf(X509_get0_notAfter(certificate)); }

std::string DateText(absl::Time time) { return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone()); }

std::vector<std::string> NamesOf(const X509* certificate) {
  std::vector<std::string> names;
  const AltNamesPtr list(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; list != nullptr && i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) names.push_back(Bytes(name->d.dNSName));
    if (name->type != GEN_IPADD) continue;
    const std::string bytes = Bytes(name->d.iPAddress);
    if (bytes.size() != sizeof(in_addr) && bytes.size() != sizeof(in6_addr)) continue;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
    names.push_back(text);
  }
  if (list == nullptr) names.push_back(CommonName(X509_get_subject_name(certificate)));
  return names;
}

bool IsFor(X509* certificate, const std::string& host) {
  if (IsIpAddress(host)) return X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
  return X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

std::string LastOpensslError() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown error" : reason;
}

}  // namespace tandem
