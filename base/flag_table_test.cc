#include "base/flag_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/flags/reflection.h"
#include "base/parse_flags.h"
#include "base/tool_program.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct TravelFlags : FlagTable {
  Flag<std::string> destination{this, "destination", "home", "Where to go."};
  Flag<bool> walking{this, "walking", true, "Without a bus."};
  Flag<int> stops{this, "stops", 3, "Rests on the way."};
  Flag<int64_t> seed{this, "seed", -1, "Of the weather."};
  Flag<double> speed{this, "speed", 1e-6, "In metres a second."};
  Flag<std::vector<std::string>> companions{this, "companions", {}, "Who comes along."};
  Flag<std::optional<int64_t>> no_more_than{this, "no_more_than", {}, "The longest way."};
};

std::string ErrorOf(const std::vector<std::string>& arguments) {
  TravelFlags flags;
  const auto result = ParseFlagList(arguments, flags.by_name(), nullptr);
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

TEST(FlagTable, HasDefaults) {
  const TravelFlags flags;
  EXPECT_EQ(*flags.destination, "home");
  EXPECT_TRUE(*flags.walking);
  EXPECT_EQ(*flags.stops, 3);
  EXPECT_EQ(*flags.seed, -1);
  EXPECT_EQ(*flags.speed, 1e-6);
  EXPECT_THAT(*flags.companions, IsEmpty());
  EXPECT_EQ(*flags.no_more_than, std::nullopt);
}

TEST(FlagTable, SetsValuesInEveryForm) {
  TravelFlags flags;
  std::vector<std::string> positional;
  const auto help = ParseFlagList({"--destination=sea", "first", "--stops", "7", "-speed=2.5", "--nowalking",
                                   "--companions=a,b", "--no-more-than=12", "-", "--seed=5"},
                                  flags.by_name(), &positional);
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_FALSE(*help);
  EXPECT_EQ(*flags.destination, "sea");
  EXPECT_EQ(flags.destination->size(), 3);
  EXPECT_FALSE(*flags.walking);
  EXPECT_EQ(*flags.stops, 7);
  EXPECT_EQ(*flags.seed, 5);
  EXPECT_EQ(*flags.speed, 2.5);
  EXPECT_THAT(*flags.companions, ElementsAre("a", "b"));
  EXPECT_EQ(*flags.no_more_than, 12);
  EXPECT_THAT(positional, ElementsAre("first", "-"));
  ASSERT_TRUE(ParseFlagList({"--walking", "--no_more_than="}, flags.by_name(), nullptr).ok());
  EXPECT_TRUE(*flags.walking);
  EXPECT_EQ(*flags.no_more_than, std::nullopt);
}

TEST(FlagTable, EveryTableHasItsOwnValues) {
  TravelFlags one, other;
  ASSERT_TRUE(ParseFlagList({"--stops=9"}, one.by_name(), nullptr).ok());
  EXPECT_EQ(*one.stops, 9);
  EXPECT_EQ(*other.stops, 3);
}

TEST(FlagTable, NamesWhatIsWrong) {
  EXPECT_EQ(ErrorOf({"--stop=1"}), "unknown flag --stop; did you mean --stops?");
  EXPECT_EQ(ErrorOf({"--nostops"}), "unknown flag --nostops; did you mean --stops?");
  EXPECT_EQ(ErrorOf({"--zzzzzzzz"}), "unknown flag --zzzzzzzz; --help lists all");
  EXPECT_EQ(ErrorOf({"--stops"}), "flag --stops needs a value: --stops=VALUE");
  EXPECT_EQ(ErrorOf({"x"}), "unexpected argument \"x\": every argument is a flag --name=value");
  EXPECT_EQ(ErrorOf({"--stops=many"}), "flag --stops: bad value \"many\"; give a whole number (Rests on the way.)");
  EXPECT_EQ(ErrorOf({"--seed=1.5"}), "flag --seed: bad value \"1.5\"; give a whole number (Of the weather.)");
  EXPECT_EQ(ErrorOf({"--speed=fast"}), "flag --speed: bad value \"fast\"; give a number (In metres a second.)");
  EXPECT_EQ(ErrorOf({"--walking=far"}), "flag --walking: bad value \"far\"; give true or false (Without a bus.)");
  EXPECT_EQ(ErrorOf({"--no_more_than=x"}),
            "flag --no_more_than: bad value \"x\"; give a whole number (The longest way.)");
}

TEST(FlagTable, HelpIsThatOfAbslFlags) {
  TravelFlags flags;
  const auto help = ParseFlagList({"--stops=9", "--help", "--zzzzzzzz"}, flags.by_name(), nullptr);
  ASSERT_TRUE(help.ok());
  EXPECT_TRUE(*help);
  EXPECT_EQ(HelpText("travel", "goes away.", flags.by_name()),
            "travel: goes away.\n\n"
            "Flags:\n"
            "  --companions\n      Who comes along.\n      Default: none\n"
            "  --destination\n      Where to go.\n      Default: home\n"
            "  --no_more_than\n      The longest way.\n      Default: none\n"
            "  --seed\n      Of the weather.\n      Default: -1\n"
            "  --speed\n      In metres a second.\n      Default: 1e-06\n"
            "  --stops\n      Rests on the way.\n      Default: 3\n"
            "  --walking\n      Without a bus.\n      Default: true\n"
            "  --help\n      Prints this and exits.\n");
}

TEST(FlagTable, TheProgramDoesNotHaveItsFlags) {
  const TravelFlags flags;
  EXPECT_EQ(absl::FindCommandLineFlag("destination"), nullptr);
}

int Travel(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/some/where/travel");
  const auto body = [](const TravelFlags& flags, const std::vector<std::string>& places) {
    return places.size() == 1 && *flags.stops == 5 ? absl::OkStatus() : absl::DataLossError("other arguments");
  };
  return RunToolProgram<TravelFlags>(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()),
                                     "goes away.", body);
}

int TravelNowhere(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/some/where/travel");
  const auto body = [](const TravelFlags& flags) {
    return *flags.stops == 3 ? absl::OkStatus() : absl::DataLossError("other flags");
  };
  return RunToolProgram<TravelFlags>(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()),
                                     "goes nowhere.", body);
}

TEST(RunToolProgramDeathTest, ExitCodes) {
  const auto exits = [](int code) { return ::testing::ExitedWithCode(code); };
  EXPECT_EXIT(std::exit(Travel({"--stops=5", "sea"})), exits(0), "");
  EXPECT_EXIT(std::exit(Travel({"sea"})), exits(65), "travel: other arguments");
  EXPECT_EXIT(std::exit(Travel({"--stop=5"})), exits(2), "travel: unknown flag --stop; did you mean --stops");
  EXPECT_EXIT(std::exit(Travel({"--help"})), exits(0), "");
  EXPECT_EXIT(std::exit(TravelNowhere({})), exits(0), "");
  EXPECT_EXIT(std::exit(TravelNowhere({"sea"})), exits(2), "travel: unexpected argument \"sea\"");
}

}  // namespace
}  // namespace tandem
