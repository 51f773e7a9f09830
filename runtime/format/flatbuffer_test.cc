#include "runtime/format/flatbuffer.h"

#include <limits>
#include <random>
#include <set>
#include <type_traits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/format/executable_generated.h"
#include "runtime/format/fields.h"

namespace tandem::format {
namespace {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsOneOf : std::false_type {};
template <typename... T>
struct IsOneOf<OneOf<T...>> : std::true_type {};

// Fills tables with random values: numbers of all sizes, also those of no enumeration, and strings with every byte.
class Filler {
 public:
  explicit Filler(uint64_t seed) : rng_(seed) {}

  template <typename T>
  void Fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = Below(2) == 1;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = std::ldexp(static_cast<T>(Below(1 << 20)) - (1 << 19), static_cast<int>(Below(60)) - 30);
    } else if constexpr (std::is_integral_v<T>) {
      const T some[] = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), static_cast<T>(rng_())};
      value = some[Below(5)];
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(static_cast<int8_t>(rng_()));
    } else if constexpr (std::is_same_v<T, std::string>) {
      value.resize(Below(12));
      for (char& c : value) c = static_cast<char>(rng_());
    } else if constexpr (IsVector<T>::value) {
      value.resize(Below(depth_ > 2 ? 2 : 4));
      for (auto& element : value) Fill(element);
    } else if constexpr (IsOptional<T>::value) {
      if (Below(2) == 1) Fill(value.emplace());
    } else if constexpr (IsOneOf<T>::value) {
      FillOneOf(value, static_cast<typename T::Variant*>(nullptr));
    } else {
      ++depth_;
      VisitFields(value, [&](auto& field) { Fill(field); });
      --depth_;
    }
  }

 private:
  uint64_t Below(uint64_t n) { return rng_() % n; }

  template <typename Value, typename None, typename... Types>
  void FillOneOf(Value& value, std::variant<None, Types...>*) {
    const uint64_t chosen = Below(sizeof...(Types) + 1);
    uint64_t i = 0;
    ((++i == chosen ? Fill(value.template emplace<Types>()) : void()), ...);
  }

  std::mt19937_64 rng_;
  int depth_ = 0;
};

// Every table is somewhere in an index.
TEST(FlatBuffer, ReadsWhatItWrote) {
  std::set<std::string> bodies, operations;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Index index;
    Filler(seed).Fill(index);
    const std::string bytes = ToFlatBuffer(index);
    std::optional<Index> read = IndexFromFlatBuffer(bytes);
    ASSERT_TRUE(read.has_value()) << "seed " << seed;
    EXPECT_TRUE(*read == index) << "seed " << seed;
    EXPECT_EQ(ToFlatBuffer(*read), bytes) << "seed " << seed;
    for (const Program& program : index.programs) {
      for (const Section& section : program.sections) {
        for (const Command& command : section.commands) {
          bodies.insert(Name(command.body));
          if (const auto* call = command.body.As<LibraryCall>()) operations.insert(Name(call->operation));
        }
      }
    }
  }
  EXPECT_EQ(bodies.size(), std::variant_size_v<CommandBody::Variant>);
  EXPECT_EQ(operations.size(), std::variant_size_v<LibraryOperation::Variant>);
}

// The numbers of fields and of members of unions stay what they are in files: these are of version 3. A new last one
// gets a line here.
TEST(FlatBuffer, TheFormatStaysWhatItIs) {
  EXPECT_STREQ(fb::IndexIdentifier(), "TDX1");
  EXPECT_EQ(static_cast<int>(fb::CommandBody::ScatterAdd), 8);
  EXPECT_EQ(static_cast<int>(fb::LibraryOperation::PackWeights), 4);
  EXPECT_EQ(static_cast<int>(fb::Index::VT_PLACEMENT), 2 * (26 + 2));
  EXPECT_EQ(static_cast<int>(fb::Command::VT_OVERLAP), 2 * (10 + 2));
  EXPECT_EQ(sizeof(fb::Epilogue), 6u);
}

// FlatBuffers may leave fields out.
TEST(FlatBuffer, WhatIsNotThereHasItsDefault) {
  flatbuffers::FlatBufferBuilder b;
  fb::ProgramBuilder empty_program(b);
  const auto program = empty_program.Finish();
  fb::VariableBuilder empty_variable(b);
  const auto variable = empty_variable.Finish();
  fb::CommandBuilder named(b);
  named.add_body_type(fb::CommandBody::Copy);  // a type without a table
  const auto command = named.Finish();
  fb::SectionBuilder empty_section(b);
  const auto section = empty_section.Finish();
  const auto commands = b.CreateVector(&command, 1);
  fb::SectionBuilder full_section(b);
  full_section.add_commands(commands);
  const flatbuffers::Offset<fb::Section> of_sections[] = {section, full_section.Finish()};
  const auto sections = b.CreateVector(of_sections, 2);
  fb::ProgramBuilder with_sections(b);
  with_sections.add_sections(sections);
  const flatbuffers::Offset<fb::Program> of_programs[] = {program, with_sections.Finish()};
  const auto programs = b.CreateVector(of_programs, 2);
  const auto variables = b.CreateVector(&variable, 1);
  fb::IndexBuilder root(b);
  root.add_programs(programs);
  root.add_variables(variables);
  b.Finish(root.Finish(), fb::IndexIdentifier());
  const std::string bytes(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());

  std::optional<Index> read = IndexFromFlatBuffer(bytes);
  ASSERT_TRUE(read.has_value());
  Index want;
  want.programs.resize(2);
  want.programs[1].sections.resize(2);
  want.programs[1].sections[1].commands.resize(1);
  want.variables.resize(1);
  EXPECT_TRUE(*read == want);
  EXPECT_TRUE(read->programs[1].sections[1].commands[0].body.empty());
  EXPECT_EQ(read->parameter_server, -1);
  EXPECT_EQ(read->programs[1].sections[1].lanes_together, 1u);
}

TEST(FlatBuffer, OtherBytesAreNoIndex) {
  Index index;
  Filler(7).Fill(index);
  const std::string bytes = ToFlatBuffer(index);
  EXPECT_FALSE(IndexFromFlatBuffer("").has_value());
  EXPECT_FALSE(IndexFromFlatBuffer(std::string(4096, '\0')).has_value());
  std::string other = bytes;
  other.replace(4, 4, "TDX0");
  EXPECT_FALSE(IndexFromFlatBuffer(other).has_value());
  for (size_t n = 0; n < bytes.size(); n += 7) {
    std::string cut = bytes.substr(0, n);
    cut.shrink_to_fit();
    if (std::optional<Index> read = IndexFromFlatBuffer(cut)) {
      EXPECT_FALSE(*read == index) << n;
    }
  }
}

TEST(FlatBuffer, EnumerationsHaveNamesAndWords) {
  EXPECT_STREQ(Name(Space::kMicrobatch), "Microbatch");
  EXPECT_STREQ(Word(Algorithm::kDirectFilterGrad), "direct_filter_grad");
  EXPECT_STREQ(Name(static_cast<Algorithm>(6)), "");
  EXPECT_FALSE(Known(static_cast<Stream>(2)));
  EXPECT_TRUE(Known(Stream::kCommunication));
  std::set<std::string> words;
  for (Algorithm algorithm : kAlgorithmValues) words.insert(Word(algorithm));
  EXPECT_EQ(words.size(), std::size(kAlgorithmValues));
}

}  // namespace
}  // namespace tandem::format
