#include "cluster/tls_files.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "cluster/environment.h"

namespace tandem {

std::string WhatIsMissing(const TlsFiles& files) {
  std::vector<std::string> missing;
  if (files.certificate.empty()) missing.push_back("no certificate");
  if (files.key.empty()) missing.push_back("no key");
  if (files.ca.empty()) missing.push_back("no ca");
  return absl::StrJoin(missing, ", ");
}

absl::StatusOr<std::optional<TlsFiles>> TlsFilesOf(const Environment& environment) {
  const std::pair<const char*, std::string TlsFiles::*> variables[] = {
      {"TANDEM_TLS_CERTIFICATE", &TlsFiles::certificate},
      {"TANDEM_TLS_KEY", &TlsFiles::key},
      {"TANDEM_TLS_CA", &TlsFiles::ca},
      {"TANDEM_TLS_SERVER_NAME", &TlsFiles::server_name}};
  TlsFiles files;
  std::vector<std::string> set, missing;
  for (const auto& [name, field] : variables) {
    files.*field = environment.Get(name);
    if (!(files.*field).empty()) {
      set.push_back(name);
    } else if (field != &TlsFiles::server_name) {
      missing.push_back(name);
    }
  }
  if (set.empty()) return std::optional<TlsFiles>();
  if (missing.empty()) return std::optional<TlsFiles>(std::move(files));
  return WithExitCode(
      absl::InvalidArgumentError(absl::StrCat(
          absl::StrJoin(set, ", "), set.size() == 1 ? " is set, and " : " are set, and ", absl::StrJoin(missing, ", "),
          missing.size() == 1 ? " is" : " are", " not; set all three files for TLS, or none of these variables")),
      kExitUsage);
}

}  // namespace tandem
