// TlsMaterial: the contents of TlsFiles, read and checked, so that the process with a mistake reports it, with the
// file. gRPC would only say, and later, that a handshake failed.
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
  std::string certificate, key, ca;  // contents of the files
  std::vector<std::string> names;    // hosts and addresses that the certificate is for
  absl::Time valid_until;            // when the certificate expires
};

// Reads and checks the files. InvalidArgument (exit code 2), with the file and the remedy, for a file that is missing,
// cannot be read, is no regular file, has more than 1 MiB or is not PEM; for a key that all users can read, that has a
// passphrase or that belongs to another certificate; and for a certificate that is expired, not valid yet, not issued
// by a CA of `ca`, not for servers and clients, too weak for TLS, or without the server name.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// The part of ReadTlsFiles after reading: checks the contents and sets `names` and `valid_until`. Leaves OpenSSL's
// error queue empty.
absl::Status CheckTlsMaterial(TlsMaterial* material);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TLS_MATERIAL_H_
