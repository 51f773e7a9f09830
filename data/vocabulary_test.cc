// Indices of strings: which come of which data, files of them, and what is said about mistakes.
#include "data/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "data/test_util.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "job", a string, and "age", an int64.
Dataset Workers(const std::vector<std::string>& jobs) {
  const int64_t count = static_cast<int64_t>(jobs.size());
  return Dataset::FromTensorSlices(
      {{"job", HostTensor::FromStrings({count}, jobs)}, {"age", HostTensor::Zeros(DType::kInt64, {count})}});
}

std::vector<std::string> TokensOf(const Dataset& dataset, const VocabularyOptions& options = {}) {
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromDataset(dataset, "job", options);
  EXPECT_TRUE(vocabulary.ok()) << vocabulary.status();
  return vocabulary.ok() ? vocabulary->tokens() : std::vector<std::string>();
}

std::string ErrorOf(const Dataset& dataset, const std::string& component, const VocabularyOptions& options = {}) {
  const absl::Status status = Vocabulary::FromDataset(dataset, component, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

std::string TemporaryFile(const std::string& name) { return testing::TempDir() + "/" + name; }

TEST(VocabularyTest, FrequentTokensComeFirstInWhateverOrderTheDataAre) {
  EXPECT_THAT(TokensOf(Workers({"cook", "smith", "baker", "smith", "baker", "smith"})),
              ElementsAre("smith", "baker", "cook"));
  EXPECT_THAT(TokensOf(Workers({"smith", "cook", "baker", "baker", "smith", "smith"})),
              ElementsAre("smith", "baker", "cook"));
  EXPECT_THAT(TokensOf(Workers({"b", "c", "a", "ab", "c"})), ElementsAre("c", "a", "ab", "b"));
}

TEST(VocabularyTest, OfBatchesToo) {
  EXPECT_THAT(TokensOf(Workers({"cook", "smith", "smith"}).Batch(2)), ElementsAre("smith", "cook"));
}

TEST(VocabularyTest, OptionsChoose) {
  const Dataset data = Workers({"a", "b", "b", "c", "c", "c", ""});
  EXPECT_THAT(TokensOf(data, {.min_count = 2}), ElementsAre("c", "b"));
  EXPECT_THAT(TokensOf(data, {.max_tokens = 1}), ElementsAre("c"));
  EXPECT_THAT(TokensOf(data, {.first = {"", "b"}, .max_tokens = 3}), ElementsAre("", "b", "c"));
  EXPECT_THAT(TokensOf(data, {.first = {"[PAD]"}, .min_count = 3}), ElementsAre("[PAD]", "c"));
}

TEST(VocabularyTest, UnknownTokensHaveTheLastIndex) {
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({"x", "y"});
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ(vocabulary->size(), 3);
  EXPECT_EQ(vocabulary->Index("x"), 0);
  EXPECT_EQ(vocabulary->Index("y"), 1);
  EXPECT_EQ(vocabulary->Index("z"), 2);
  EXPECT_EQ(vocabulary->Index(""), 2);
}

TEST(VocabularyTest, LookupReplacesTheStrings) {
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({"smith", "cook"});
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const Dataset jobs = Workers({"cook", "king", "smith"});
  EXPECT_EQ(SpecString(vocabulary->Lookup(jobs, "job").spec()), "job:int64[], age:int64[]");
  EXPECT_THAT(Values(vocabulary->Lookup(jobs, "job")), ElementsAre(1, 2, 0));
  EXPECT_THAT(Batches(Read(vocabulary->Lookup(jobs.Batch(3), "job"))), ElementsAre(ElementsAre(1, 2, 0)));
}

TEST(VocabularyTest, LookupOfTextsOfDifferentLength) {
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({"a", "b"});
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const auto repeat = [](const Element& in) -> absl::StatusOr<Element> {
    const int64_t n = in.Get<int64_t>("value");
    Element out;
    out.Set("words", HostTensor::FromStrings({n}, std::vector<std::string>(n, "b")));
    return out;
  };
  const Dataset words = Dataset::Range(3).Map(repeat, {.spec = {{"words", DType::kString, {-1}}}});
  EXPECT_THAT(Batches(Read(vocabulary->Lookup(words, "words"))),
              ElementsAre(ElementsAre(), ElementsAre(1), ElementsAre(1, 1)));
}

TEST(VocabularyTest, FilesKeepTheIndices) {
  const std::string path = TemporaryFile("kept.txt");
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({"b", "", "a c"});
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  ASSERT_TRUE(vocabulary->Write(path).ok());
  const absl::StatusOr<Vocabulary> again = Vocabulary::FromFile(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->tokens(), ElementsAre("b", "", "a c"));
}

TEST(VocabularyTest, AFileWithATokenTwiceNamesBothLines) {
  const std::string path = TemporaryFile("twice.txt");
  std::ofstream(path) << "a\nb\r\nb\n";
  const absl::Status status = Vocabulary::FromFile(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("twice.txt:3: the token \"b\" is that of line 2 already"));
}

TEST(VocabularyTest, ATokenThatIsNoLineIsNotWritten) {
  for (const std::string token : {"a\nb", "a\r", "\xef\xbb\xbf"}) {
    const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({token});
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
    const absl::Status status = vocabulary->Write(TemporaryFile("none.txt"));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << token;
    EXPECT_THAT(status.message(), HasSubstr("none.txt: the token")) << token;
  }
}

TEST(VocabularyTest, ATokenTwiceIsAnError) {
  const absl::Status status = Vocabulary::FromTokens({"a", "b", "a"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("vocabulary_test.cc:"), HasSubstr("\"a\" has the index 0 and comes again at 2")));
}

TEST(VocabularyTest, AComponentThatIsNotThereIsAnError) {
  EXPECT_THAT(ErrorOf(Workers({"cook"}), "jobs"),
              AllOf(HasSubstr("vocabulary_test.cc:"), HasSubstr("no component \"jobs\" in job:string[], age:int64[]"),
                    HasSubstr("did you mean \"job\"?")));
}

TEST(VocabularyTest, AComponentOfNumbersIsAnError) {
  EXPECT_THAT(ErrorOf(Workers({"cook"}), "age"), HasSubstr("the component \"age\" is not of strings"));
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::FromTokens({"a"});
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const Dataset wrong = vocabulary->Lookup(Workers({"cook"}), "age");
  EXPECT_THAT(wrong.status().message(), AllOf(HasSubstr("vocabulary_test.cc:"), HasSubstr("\"age\" is int64")));
  const Dataset missing = vocabulary->Lookup(Workers({"cook"}), "jobs");
  EXPECT_THAT(missing.status().message(), AllOf(HasSubstr("vocabulary_test.cc:"), HasSubstr("did you mean 'job'?")));
}

TEST(VocabularyTest, ADatasetWithoutAnEndIsAnError) {
  EXPECT_THAT(ErrorOf(Workers({"cook"}).Repeat(), "job"), HasSubstr("give it the one before Repeat()"));
}

TEST(VocabularyTest, NumbersThatCannotBeAreErrors) {
  EXPECT_THAT(ErrorOf(Workers({"cook"}), "job", {.max_tokens = -1}), HasSubstr("got -1 and 1"));
  EXPECT_THAT(ErrorOf(Workers({"cook"}), "job", {.min_count = 0}), HasSubstr("got 0 and 0"));
  EXPECT_THAT(ErrorOf(Workers({"cook"}), "job", {.first = {"a", "b"}, .max_tokens = 1}),
              HasSubstr("max_tokens is 1, and `first` alone has 2 tokens"));
}

TEST(VocabularyTest, ErrorsOfReadingAreThoseOfTheData) {
  const absl::Status status = Vocabulary::FromDataset(Dataset::TextLine({"/nowhere/lines.txt"}), "line").status();
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/lines.txt"));
}

}  // namespace
}  // namespace tandem
