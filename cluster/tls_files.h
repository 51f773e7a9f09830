// TlsFiles: the files by which the processes of a cluster encrypt what they say to each other, and know each other.
#ifndef TANDEM_CLUSTER_TLS_FILES_H_
#define TANDEM_CLUSTER_TLS_FILES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace tandem {

class Environment;

// Files in PEM format, read when this process joins its cluster.
struct TlsFiles {
  std::string certificate = "";  // of this process; behind it, where there are any, those between it and the CA's
  std::string key = "";          // of the certificate; without a passphrase, and not readable by all users
  std::string ca = "";           // certificates of the CAs that issue those of the other processes
  // A name that the certificates of all processes have. Empty: each certificate names the host by which the others
  // reach its process.
  std::string server_name = "";

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

// Which of certificate, key and ca is not named: "no key"; empty where all are.
std::string WhatIsMissing(const TlsFiles& files);

// TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY, TANDEM_TLS_CA and TANDEM_TLS_SERVER_NAME; nothing where none of them is set.
// InvalidArgument (exit code 2) where one of the first three is missing.
absl::StatusOr<std::optional<TlsFiles>> TlsFilesOf(const Environment& environment);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TLS_FILES_H_
