#include "base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/flags/flag.h"

ABSL_FLAG(int, epochs, 5, "How often the training set is read.");
ABSL_FLAG(bool, cache, true, "Keep compiled programs.");
ABSL_FLAG(std::string, model_dir, "", "Where checkpoints go.");
ABSL_FLAG(double, learning_rate, 0.1, "Size of a step.");
ABSL_FLAG(std::optional<int64_t>, max_steps, {}, "The last step.");

namespace tandem {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& arguments) {
  auto result = ParseFlagList(arguments);
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

TEST(Flags, SetsValuesInEveryForm) {
  auto help = ParseFlagList({"--epochs=7", "--model-dir", "/m", "-learning_rate=1e-3", "--nocache"});
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_FALSE(*help);
  EXPECT_EQ(absl::GetFlag(FLAGS_epochs), 7);
  EXPECT_EQ(absl::GetFlag(FLAGS_model_dir), "/m");
  EXPECT_EQ(absl::GetFlag(FLAGS_learning_rate), 1e-3);
  EXPECT_FALSE(absl::GetFlag(FLAGS_cache));
  ASSERT_TRUE(ParseFlagList({"--cache"}).ok());
  EXPECT_TRUE(absl::GetFlag(FLAGS_cache));
}

TEST(Flags, SuggestsTheNearestName) {
  EXPECT_EQ(ErrorOf({"--epoch=3"}), "unknown flag --epoch; did you mean --epochs?");
  EXPECT_EQ(ErrorOf({"--lerning-rate=3"}), "unknown flag --lerning_rate; did you mean --learning_rate?");
  EXPECT_EQ(ErrorOf({"--zzzzzzzz"}), "unknown flag --zzzzzzzz; --help lists all");
  EXPECT_EQ(ErrorOf({"--noepochs"}), "unknown flag --noepochs; did you mean --epochs?");
}

TEST(Flags, NamesTheBadValue) {
  EXPECT_THAT(ErrorOf({"--epochs=five"}), HasSubstr("flag --epochs: bad value \"five\""));
  EXPECT_EQ(ErrorOf({"--max_steps=all"}), "flag --max_steps: bad value \"all\"; give a whole number (The last step.)");
  EXPECT_THAT(ErrorOf({"--epochs"}), HasSubstr("needs a value"));
  EXPECT_THAT(ErrorOf({"train"}), HasSubstr("unexpected argument \"train\""));
}

TEST(Flags, HelpExplainsEveryFlagOfTheProgramOnly) {
  auto help = ParseFlagList({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_TRUE(*help);
  const std::string text = HelpText("prog", "trains something.");
  EXPECT_THAT(text, HasSubstr("--epochs\n      How often the training set is read."));
  EXPECT_THAT(text, HasSubstr("Default: 0.1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("flagfile")));
}

TEST(FlagsDeathTest, ExitCodes) {
  auto run = [](std::vector<const char*> args) {
    return ParseFlags(static_cast<int>(args.size()), const_cast<char**>(args.data()), "test");
  };
  EXPECT_EQ(run({"prog", "--help"}), 0);
  EXPECT_EQ(run({"prog", "--epoch=1"}), 2);
  EXPECT_EQ(run({"prog"}), std::nullopt);
}

}  // namespace
}  // namespace tandem
