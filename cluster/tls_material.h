// TlsMaterial: what TlsFiles name, read and checked, so that a mistake is told by the process that has it, and with the
// file. gRPC would say only that a handshake failed, and later.
#ifndef TANDEM_CLUSTER_TLS_MATERIAL_H_
#define TANDEM_CLUSTER_TLS_MATERIAL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/tls_files.h"

namespace tandem {

struct TlsMaterial {
  TlsFiles files;
  std::string certificate, key, ca;  // their contents
  std::vector<std::string> names;    // hosts and addresses that the certificate is for
  absl::Time valid_until;            // the certificate
};

// InvalidArgument (exit code 2), with the file and the remedy: one that is missing, cannot be read, is no regular file,
// has more than 1 MiB or is not PEM; a key that other users can read, that has a passphrase or that is another
// certificate's; a certificate that is expired, not valid yet, not issued by a CA of `ca`, not for servers and clients,
// too weak for TLS, or without the server name.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Its part behind the reading: checks the contents, and fills in what they say. OpenSSL's queue of errors is empty
// then.
absl::Status CheckTlsMaterial(TlsMaterial* material);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TLS_MATERIAL_H_
