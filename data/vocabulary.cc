#include "data/vocabulary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/vocabulary_file.h"

namespace tandem {
namespace {

constexpr char kByteOrderMark[] = "\xef\xbb\xbf";

// This is no Abseil hash map, because the destructor of such a map frees memory that it does not own after it failed to
// grow for lack of memory.
using TokenCounts = std::unordered_map<std::string, int64_t, absl::Hash<std::string>>;

absl::Status VocabularyError(absl::string_view function, absl::string_view problem, SourceLocation location) {
  return absl::InvalidArgumentError(
      absl::StrCat("Vocabulary::", function, " at ", location.file, ":", location.line, ": ", problem));
}

// Returns the index of the component called `component`, which has the tokens.
absl::StatusOr<size_t> PlaceOf(const Dataset& dataset, absl::string_view component, SourceLocation location) {
  std::vector<std::string> names;
  for (const ComponentSpec& spec : dataset.spec()) names.push_back(spec.name);
  const auto found = std::find(names.begin(), names.end(), component);
  if (found == names.end()) {
    return VocabularyError("FromDataset",
                           absl::StrCat("there is no component \"", component, "\" in ", SpecString(dataset.spec()),
                                        DidYouMean(component, names)),
                           location);
  }
  const size_t place = found - names.begin();
  if (dataset.spec()[place].dtype == DType::kString) return place;
  return VocabularyError(
      "FromDataset",
      absl::StrCat("the component \"", component, "\" is not of strings in ", SpecString(dataset.spec()),
                   "; numbers that stand for classes need no vocabulary"),
      location);
}

// Returns the tokens of `counts` that the options accept, the most frequent first.
std::vector<std::string> Chosen(const TokenCounts& counts, const VocabularyOptions& options) {
  std::vector<std::pair<int64_t, absl::string_view>> by_count;
  for (const auto& [token, count] : counts) {
    const bool is_first = std::find(options.first.begin(), options.first.end(), token) != options.first.end();
    if (count >= options.min_count && !is_first) by_count.emplace_back(-count, token);
  }
  std::sort(by_count.begin(), by_count.end());
  std::vector<std::string> tokens = options.first;
  for (const auto& [count, token] : by_count) {
    if (options.max_tokens > 0 && static_cast<int64_t>(tokens.size()) >= options.max_tokens) break;
    tokens.emplace_back(token);
  }
  return tokens;
}

}  // namespace

struct Vocabulary::Table {
  std::vector<std::string> tokens;
  std::unordered_map<absl::string_view, int64_t, absl::Hash<absl::string_view>> index_of;  // keys are views of `tokens`
};

absl::StatusOr<Vocabulary> Vocabulary::FromDataset(const Dataset& dataset, absl::string_view component,
                                                   const VocabularyOptions& options, SourceLocation location) {
  TD_RETURN_IF_ERROR(dataset.status());
  if (options.max_tokens < 0 || options.min_count < 1) {
    return VocabularyError("FromDataset",
                           absl::StrCat("max_tokens must be 0 (all) or positive, and min_count positive, got ",
                                        options.max_tokens, " and ", options.min_count),
                           location);
  }
  if (options.max_tokens > 0 && static_cast<int64_t>(options.first.size()) > options.max_tokens) {
    return VocabularyError("FromDataset",
                           absl::StrCat("max_tokens is ", options.max_tokens, ", and `first` alone has ",
                                        options.first.size(), " tokens; raise it"),
                           location);
  }
  if (dataset.cardinality() == kInfiniteCardinality) {
    return VocabularyError("FromDataset", "the dataset has no end; give it the one before Repeat()", location);
  }
  TD_ASSIGN_OR_RETURN(const size_t place, PlaceOf(dataset, component, location));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  TokenCounts counts;
  while (true) {
    Element element;
    bool end = false;
    TD_RETURN_IF_ERROR(iterator->GetNext(&element, &end));
    if (end) break;
    const HostTensor& strings = element.components[place];
    for (int64_t i = 0; i < strings.num_elements(); ++i) ++counts[std::string(strings.string(i))];
  }
  return FromTokens(Chosen(counts, options), location);
}

absl::StatusOr<Vocabulary> Vocabulary::FromTokens(std::vector<std::string> tokens, SourceLocation location) {
  auto table = std::make_shared<Table>();
  table->tokens = std::move(tokens);
  for (size_t i = 0; i < table->tokens.size(); ++i) {
    const auto [first, is_new] = table->index_of.emplace(table->tokens[i], static_cast<int64_t>(i));
    if (is_new) continue;
    return VocabularyError("FromTokens",
                           absl::StrCat("the token \"", PrintableLine(table->tokens[i]), "\" has the index ",
                                        first->second, " and comes again at ", i, "; leave one of them out"),
                           location);
  }
  return Vocabulary(std::move(table));
}

absl::StatusOr<Vocabulary> Vocabulary::FromFile(const std::string& path) {
  TD_ASSIGN_OR_RETURN(std::vector<std::string> tokens, ReadVocabulary(Env::Default(), path));
  return FromTokens(std::move(tokens));
}

absl::Status Vocabulary::Write(const std::string& path) const {
  std::string text;
  for (const std::string& token : tokens()) {
    if (absl::StrContains(token, '\n') || absl::EndsWith(token, "\r") ||
        (text.empty() && absl::StartsWith(token, kByteOrderMark))) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the token \"", PrintableLine(token),
                       "\" cannot be a line of a vocabulary; take line feeds and byte order marks out of tokens"));
    }
    absl::StrAppend(&text, token, "\n");
  }
  return Env::Default()->WriteFileAtomically(path, text);
}

int64_t Vocabulary::Index(absl::string_view token) const {
  const auto found = table_->index_of.find(token);
  return found == table_->index_of.end() ? size() - 1 : found->second;
}

int64_t Vocabulary::size() const { return static_cast<int64_t>(table_->tokens.size()) + 1; }

const std::vector<std::string>& Vocabulary::tokens() const { return table_->tokens; }

Dataset Vocabulary::Lookup(const Dataset& dataset, absl::string_view component, SourceLocation location) const {
  const auto replace = [vocabulary = *this, component = std::string(component),
                        location](const Element& in) -> absl::StatusOr<Element> {
    const HostTensor strings = in[NameArg(component, location)];
    if (strings.dtype() != DType::kString) {
      return VocabularyError("Lookup",
                             absl::StrCat("the component \"", component, "\" is ", Name(strings.dtype()),
                                          ", and a vocabulary is of strings"),
                             location);
    }
    HostTensor indices(DType::kInt64, strings.shape());
    int64_t* const out = indices.data<int64_t>();
    for (int64_t i = 0; i < strings.num_elements(); ++i) out[i] = vocabulary.Index(strings.string(i));
    Element result = in;
    result.Set(component, std::move(indices));
    return result;
  };
  // Sizes that vary remain unknown. If the component is wrong, Map gets no spec and calls the function, which reports
  // the error.
  std::vector<ComponentSpec> spec = dataset.spec();
  const auto found =
      std::find_if(spec.begin(), spec.end(), [&](const ComponentSpec& s) { return s.name == component; });
  if (found == spec.end() || found->dtype != DType::kString) return dataset.Map(replace, {}, location);
  found->dtype = DType::kInt64;
  return dataset.Map(replace, {.spec = std::move(spec)}, location);
}

}  // namespace tandem
