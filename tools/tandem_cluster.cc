// tandem-cluster: prints the task of this process in the cluster that its environment variables describe, or everything
// that is wrong with the description. If a launcher starts it, it shows what a training would read there.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "cluster/resolver.h"
#include "cluster/tls_files.h"
#include "cluster/tls_material.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

absl::StatusOr<std::string> TlsText() {
  TD_ASSIGN_OR_RETURN(const std::optional<TlsFiles> files, TlsFilesOf(Environment::OfProcess()));
  if (!files.has_value()) return "no TLS: what processes send to each other is not encrypted";
  TD_ASSIGN_OR_RETURN(const TlsMaterial material, ReadTlsFiles(*files));
  return absl::StrCat("TLS: certificate ", PrintableLine(files->certificate), " for ",
                      PrintableLine(absl::StrJoin(material.names, ", ")), ", valid until ",
                      absl::FormatTime("%Y-%m-%d", material.valid_until, absl::UTCTimeZone()), "; CA ",
                      PrintableLine(files->ca), "; those of others name ",
                      files->server_name.empty() ? "their hosts" : PrintableLine(files->server_name));
}

absl::Status PrintCluster(const FlagTable&, const std::vector<std::string>& arguments) {
  if (!arguments.empty()) return absl::InvalidArgumentError("usage: tandem-cluster, without arguments");
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> cluster, ResolveCluster(Environment::OfProcess()));
  if (!cluster) {
    std::cout << "no cluster: this process trains by itself\n";
    return absl::OkStatus();
  }
  std::cout << cluster->Text() << (cluster->is_chief() ? "; it saves and logs" : "") << "\n";
  for (const auto& [type, addresses] : cluster->addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) std::cout << Name(type) << " " << i << ": " << addresses[i] << "\n";
  }
  // The evaluator sends nothing to other tasks.
  if (cluster->task.type == TaskType::kEvaluator) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::string tls, TlsText());
  std::cout << tls << "\n";
  return absl::OkStatus();
}

}  // namespace

int TandemCluster(int argc, char** argv) {
  return RunToolProgram<FlagTable>(
      argc, argv, "prints who this process is in the cluster that its environment describes", PrintCluster);
}

}  // namespace tandem
