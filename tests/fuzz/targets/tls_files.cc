// Certificates and keys: the files of a process, in PEM format, with a % between its certificates, its key, those of
// CAs and a server name; and a certificate of another process, as TLS has it. The corpus's are openssl's, valid for a
// hundred years but for one.
#include <openssl/err.h>
#include <openssl/x509.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "cluster/tls_material.h"
#include "cluster/x509.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() { return {}; }

namespace {

// What messages say of a certificate.
void Tell(X509* certificate) {
  PrintableLine(SubjectOf(certificate));
  PrintableLine(IssuerOf(certificate));
  DateText(ValidFrom(certificate));
  DateText(ValidUntil(certificate));
  NamesOf(certificate);
  for (const char* host : {"worker-0.example", "10.0.0.3", "::1"}) IsFor(certificate, host);
}

bool TakeFiles(absl::string_view bytes) {
  std::vector<std::string> parts = absl::StrSplit(bytes, absl::MaxSplits('%', 3));
  parts.resize(4);
  TlsMaterial material{.files = {.certificate = "tls.crt", .key = "tls.key", .ca = "ca.crt", .server_name = parts[3]},
                       .certificate = parts[0],
                       .key = parts[1],
                       .ca = parts[2]};
  const absl::Status status = CheckTlsMaterial(&material);
  Require(ERR_peek_error() == 0, "no error is left for others to find");
  if (status.ok()) {
    Require(material.valid_until > absl::Now(), "a certificate that is taken is valid");
    const std::vector<X509Ptr> chain = CertificatesOf(material.certificate);
    Require(!chain.empty(), "there is a certificate");
    for (const X509Ptr& certificate : chain) Tell(certificate.get());
    return true;
  }
  Require(absl::IsInvalidArgument(status) && ExitCodeFor(status) == kExitUsage, "it is the files that are wrong");
  Require(PrintableLine(status.message()) == status.message(), "what is wrong is said on one line");
  return false;
}

bool TakeOfPeer(const uint8_t* data, size_t size) {
  const X509Ptr certificate(d2i_X509(nullptr, &data, static_cast<long>(size)));
  ERR_clear_error();
  if (certificate == nullptr) return false;
  Tell(certificate.get());
  ERR_clear_error();
  return true;
}

}  // namespace
}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (tandem::fuzz::TakeOfPeer(data, size) || tandem::fuzz::TakeFiles(bytes)) tandem::fuzz::NoteAccepted();
  return 0;
}
