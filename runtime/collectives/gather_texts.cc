#include "runtime/collectives/gather_texts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<std::vector<std::string>> GatherTexts(ProcessGroup& group, absl::string_view mine,
                                                     absl::string_view what) {
  const auto length = static_cast<int64_t>(mine.size());
  std::vector<int64_t> lengths(group.size());
  TD_RETURN_IF_ERROR(group.AllGather({reinterpret_cast<const std::byte*>(&length), sizeof length},
                                     {reinterpret_cast<std::byte*>(lengths.data()), lengths.size() * sizeof length},
                                     what));
  for (size_t r = 0; r < lengths.size(); ++r) {
    if (lengths[r] >= 0 && lengths[r] <= kMaxTextBytes) continue;
    return absl::InternalError(absl::StrCat(what, ": rank ", r, " has a text of ", lengths[r], " bytes, and at most ",
                                            kMaxTextBytes, " can be sent"));
  }
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded(mine);
  padded.resize(longest);
  std::string all(longest * lengths.size(), '\0');
  TD_RETURN_IF_ERROR(group.AllGather({reinterpret_cast<const std::byte*>(padded.data()), padded.size()},
                                     {reinterpret_cast<std::byte*>(all.data()), all.size()}, what));
  std::vector<std::string> texts;
  for (size_t r = 0; r < lengths.size(); ++r) texts.push_back(all.substr(r * longest, lengths[r]));
  return texts;
}

}  // namespace tandem
