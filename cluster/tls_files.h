// TlsFiles: the files by which the processes of a cluster encrypt their messages and recognise each other.
#ifndef TANDEM_CLUSTER_TLS_FILES_H_
#define TANDEM_CLUSTER_TLS_FILES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"

namespace tandem {

class Environment;

}  // namespace tandem

namespace TANDEM_API tandem {

// Files in PEM format, read when this process joins its cluster.
struct TlsFiles {
  // certificate of this process, followed by any intermediate certificates between it and the CA's
  std::string certificate = "";
  std::string key = "";  // private key of the certificate; without a passphrase, and not readable by all users
  std::string ca = "";   // certificates of the CAs that issued the certificates of the other processes
  // A name that the certificates of all processes have. If empty, each certificate must name the host by which the
  // others reach its process.
  std::string server_name = "";

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

// Returns which of certificate, key and ca are not set: "no key"; "" if all are.
std::string WhatIsMissing(const TlsFiles& files);

// Returns TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY, TANDEM_TLS_CA and TANDEM_TLS_SERVER_NAME; nothing if none of them is
// set. InvalidArgument (exit code 2) if some are set and one of the first three is missing.
absl::StatusOr<std::optional<TlsFiles>> TlsFilesOf(const Environment& environment);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TLS_FILES_H_
