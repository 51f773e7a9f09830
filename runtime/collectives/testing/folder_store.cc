#include "runtime/collectives/testing/folder_store.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"

namespace tandem {
namespace {

std::optional<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::string FolderStore::Path(absl::string_view key) const {
  return absl::StrCat(folder_, "/", absl::StrReplaceAll(key, {{"/", "_"}}));
}

absl::Status FolderStore::Set(absl::string_view key, absl::string_view value) {
  const std::string path = Path(key), draft = absl::StrCat(path, ".", getpid());
  std::ofstream(draft, std::ios::binary) << value;
  const bool first = link(draft.c_str(), path.c_str()) == 0;  // a link makes all of the value appear, or nothing
  unlink(draft.c_str());
  if (first || Read(path) == value) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("key \"", key, "\" has another value"));
}

absl::StatusOr<std::string> FolderStore::Get(absl::string_view key, absl::Duration timeout) {
  const absl::Time ends = absl::Now() + timeout;
  for (;;) {
    if (auto value = Read(Path(key))) return *value;
    if (absl::Now() >= ends) return absl::DeadlineExceededError(absl::StrCat("nobody has set key \"", key, "\""));
    absl::SleepFor(absl::Milliseconds(1));
  }
}

TestFolder::TestFolder() : path_(std::filesystem::temp_directory_path() / "collectives-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) std::perror("mkdtemp"), std::abort();
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tandem
