// What tandem-plot reads. Records are put together by hand here; tests/plot reads files of trainings, and holds the
// points against those of TensorBoard's reader.
#include "estimator/curves/runs.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/fault_injecting_env.h"
#include "data/files/record_format.h"
#include "data/files/wire.h"
#include "estimator/curves/event_file.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string Record(const std::string& event) {
  const record_format::Frame frame(event);
  return std::string(frame.header, sizeof frame.header) + event + std::string(frame.footer, sizeof frame.footer);
}

// Bytes by TensorFlow 2.15's Event(...).SerializeToString(), as in estimator/summary/event_writer_test.cc.
std::string Version() { return absl::HexStringToBytes("09000000000000f83f1a0d627261696e2e4576656e743a32"); }
std::string Start300() { return absl::HexStringToBytes("09000000000000f83f10ac023a020801"); }
std::string Step7() {
  return absl::HexStringToBytes("09000000000000f83f10072a190a0b0a046c6f7373150000803e0a0a0a03612f6215000000c0");
}
std::string Value(const std::string& fields) {
  std::string summary;
  wire::AppendBytes(1, fields, &summary);
  std::string event = absl::HexStringToBytes("09000000000000f83f1007");
  wire::AppendBytes(5, summary, &event);
  return event;
}
// "loss" at a step, with bytes of a float.
std::string Loss(int64_t step, const std::string& little_endian) {
  std::string value = "\n\x04loss\x15" + absl::HexStringToBytes(little_endian), summary;
  wire::AppendBytes(1, value, &summary);
  std::string event = absl::HexStringToBytes("09000000000000f83f10");
  wire::AppendVarint(step, &event);
  wire::AppendBytes(5, summary, &event);
  return event;
}
constexpr char kOne[] = "0000803f", kTwo[] = "00000040", kThree[] = "00004040", kInfinity[] = "0000807f";

TEST(ParsePlotEventTest, ReadsWhatTensorFlowWrites) {
  PlotEvent event;
  const std::string record = Step7();  // in which tags are
  ASSERT_TRUE(ParsePlotEvent(record, &event));
  EXPECT_EQ(event.step, 7);
  EXPECT_FALSE(event.start);
  EXPECT_THAT(event.scalars, ElementsAre(Pair("loss", 0.25f), Pair("a/b", -2.0f)));
  ASSERT_TRUE(ParsePlotEvent(Start300(), &event));
  EXPECT_EQ(event.step, 300);
  EXPECT_TRUE(event.start);
  EXPECT_THAT(event.scalars, IsEmpty());
  ASSERT_TRUE(ParsePlotEvent(Version(), &event));
  EXPECT_FALSE(event.start);
}

TEST(ParsePlotEventTest, PassesOverOtherKindsOfSummaries) {
  PlotEvent event;
  // tag and an image (4), a histogram (5), a tensor (8) or metadata (9); a graph (4) of the event.
  for (const int field : {4, 5, 8, 9}) {
    std::string value = "\n\x01x";
    wire::AppendBytes(field, "\x09\x01\x02\x03\x04\x05\x06\x07\x08", &value);
    ASSERT_TRUE(ParsePlotEvent(Value(value), &event)) << field;
    EXPECT_THAT(event.scalars, IsEmpty()) << field;
  }
  std::string graph = Version();
  wire::AppendBytes(4, std::string(1000, 'g'), &graph);
  EXPECT_TRUE(ParsePlotEvent(graph, &event));
}

TEST(ParsePlotEventTest, KnowsWhatIsNoEvent) {
  PlotEvent event;
  for (size_t size = 1; size < Step7().size(); ++size) {
    const std::string cut = Step7().substr(0, size);
    // Cut between two fields it is an event with fewer.
    EXPECT_EQ(ParsePlotEvent(cut, &event), size == 9 || size == 11) << size;
  }
  EXPECT_FALSE(ParsePlotEvent("no event at all", &event));
}

class RunsTest : public testing::Test {
 protected:
  RunsTest() {
    dir_ = testing::TempDir() + "/runs_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  void WriteText(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(dir_ + "/" + name).parent_path());
    ASSERT_TRUE(Env::Default()->WriteFile(dir_ + "/" + name, {text}).ok());
  }
  std::string WriteEvents(const std::string& name, std::initializer_list<std::string> events) {
    std::string file = Record(Version());
    for (const std::string& event : events) file += Record(event);
    WriteText(name, file);
    return file;
  }
  PlotRuns Read(std::vector<std::string> folders = {""}) {
    for (std::string& folder : folders) folder = JoinPath(dir_, folder);
    absl::StatusOr<PlotRuns> runs = ReadRuns(Env::Default(), folders);
    EXPECT_TRUE(runs.ok()) << runs.status();
    return runs.ok() ? *runs : PlotRuns{.runs = {PlotRun()}, .damaged = {}};
  }
  absl::Status Error(const std::string& folder = "") {
    return ReadRuns(Env::Default(), {JoinPath(dir_, folder)}).status();
  }
  std::string dir_;
};

using P = CurvePoint;

TEST_F(RunsTest, ReadsFilesInTheOrderOfTheirNames) {
  WriteEvents("events.out.tfevents.2.h", {Loss(3, kThree)});
  WriteEvents("events.out.tfevents.1.h", {Loss(1, kOne), Loss(2, kTwo), Loss(3, kTwo)});
  PlotRuns runs = Read();
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_THAT(runs.runs[0].parts[""]["loss"], ElementsAre(P{1, 1}, P{2, 2}, P{3, 3}));
  EXPECT_THAT(runs.damaged, IsEmpty());
}

TEST_F(RunsTest, DropsWhatAnAbandonedRunWroteBehindTheNextStart) {
  WriteEvents("events.out.tfevents.1.h", {Loss(299, kOne), Loss(300, kOne), Loss(301, kOne), Loss(999, kOne)});
  WriteEvents("events.out.tfevents.2.h", {Start300(), Loss(301, kTwo)});
  EXPECT_THAT(Read().runs[0].parts[""]["loss"], ElementsAre(P{299, 1}, P{301, 2}));
}

TEST_F(RunsTest, AStartLeavesEvaluationsAlone) {
  WriteEvents("events.out.tfevents.1.h", {Start300(), Loss(300, kOne)});
  WriteEvents("eval/events.out.tfevents.0.h", {Loss(400, kTwo)});
  EXPECT_THAT(Read().runs[0].parts["eval"]["loss"], ElementsAre(P{400, 2}));
}

TEST_F(RunsTest, ReadsResultsOfEvaluations) {
  WriteEvents("events.out.tfevents.1.h", {Loss(1, kOne)});
  WriteEvents("eval/events.out.tfevents.1.h", {Loss(10, kOne), Loss(20, kTwo)});
  WriteText("eval/metrics.jsonl",
            "{\"accuracy\":0.5,\"global_step\":10,\"loss\":1.25,\"confusion\":[[1,0],[0,1]]}\n"
            "{\"accuracy\":0.25,\"global_step\":5,\"loss\":9,\"evaluation_of\":{\"checkpoint\":\"initial values\"}}\n"
            "{\"accuracy\":0.75,\"global_step\":10,\"loss\":null,\"evaluation_of\":{\"steps\":3}}\n");
  WriteText("eval_test/metrics.jsonl",
            "{\"global_step\":10,\"loss\":3}\n{\"global_step\":20,\"loss\":\"-Infinity\",\"name\":\"other\"}\n");
  WriteText("other/metrics.jsonl", "no result\n");
  std::map<std::string, Curves> parts = Read().runs[0].parts;
  EXPECT_EQ(parts.size(), 3u);
  EXPECT_THAT(parts["eval"]["accuracy"], ElementsAre(P{10, 0.75}));
  ASSERT_EQ(parts["eval"]["loss"].size(), 2u);
  EXPECT_TRUE(std::isnan(parts["eval"]["loss"][0].value));
  EXPECT_EQ(parts["eval"]["loss"][1], (P{20, 2})) << "a step that only the event file has";
  EXPECT_EQ(parts["eval"].count("confusion"), 0u);
  EXPECT_THAT(parts["eval_test"]["loss"], ElementsAre(P{10, 3}, P{20, -INFINITY}));
  EXPECT_EQ(parts["eval_test"].count("name"), 0u);
}

TEST_F(RunsTest, FindsTheRunsOfAFolder) {
  WriteEvents("runs/a/events.out.tfevents.1.h", {Loss(1, kOne)});
  WriteText("runs/b/eval/metrics.jsonl", "{\"global_step\":10,\"loss\":3}\n");
  WriteText("runs/c/notes.txt", "no run");
  const PlotRuns runs = Read({"runs/"});
  ASSERT_EQ(runs.runs.size(), 2u);
  EXPECT_EQ(runs.runs[0].name, "a");
  EXPECT_EQ(runs.runs[1].name, "b");
  EXPECT_EQ(Read({"runs/a", "runs/a/"}).runs.size(), 1u) << "one folder is one run";
}

TEST_F(RunsTest, NamesAreAsShortAsTheyMayBe) {
  for (const char* name : {"x/run1", "x/run2", "x/deep/run", "x"}) {
    WriteEvents(absl::StrCat(name, "/events.out.tfevents.1.h"), {Loss(1, kOne)});
  }
  const auto names = [&](std::vector<std::string> folders) {
    std::vector<std::string> out;
    for (const PlotRun& run : Read(std::move(folders)).runs) out.push_back(run.name);
    return out;
  };
  EXPECT_THAT(names({"x/run1", "x/run2"}), ElementsAre("run1", "run2"));
  EXPECT_THAT(names({"x/run1", "x/deep/run"}), ElementsAre("run1", "deep/run"));
  EXPECT_THAT(names({"x", "x/run1"}), ElementsAre("x", "x/run1"));
  EXPECT_THAT(names({"x/run1"}), ElementsAre(dir_ + "/x/run1"));
}

TEST_F(RunsTest, AFileThatIsCutIsNoDamage) {
  const std::string whole = WriteEvents("events.out.tfevents.1.h", {Loss(1, kOne), Loss(2, kTwo)});
  const size_t last = Record(Loss(2, kTwo)).size();
  for (size_t left = 0; left < last; ++left) {
    WriteText("events.out.tfevents.1.h", whole.substr(0, whole.size() - last + left));
    PlotRuns runs = Read();
    EXPECT_THAT(runs.damaged, IsEmpty()) << left << ": " << runs.damaged[0];
    EXPECT_THAT(runs.runs[0].parts[""]["loss"], ElementsAre(P{1, 1})) << left;
  }
}

TEST_F(RunsTest, NamesDamageAndReadsTheRest) {
  const std::string whole = WriteEvents("events.out.tfevents.1.h", {Loss(1, kOne), Loss(2, kTwo), Loss(3, kThree)});
  const size_t record = Record(Loss(2, kTwo)).size(), second = whole.size() - 2 * record;
  const std::string place = absl::StrCat("events.out.tfevents.1.h: at byte ", second, ": ");
  std::string damaged = whole;
  damaged[second + 20] ^= 1;  // in the bytes of the record
  WriteText("events.out.tfevents.1.h", damaged);
  PlotRuns runs = Read();
  EXPECT_THAT(runs.runs[0].parts[""]["loss"], ElementsAre(P{1, 1}, P{3, 3}));
  ASSERT_EQ(runs.damaged.size(), 1u);
  EXPECT_EQ(runs.damaged[0].code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(runs.damaged[0].message(), AllOf(HasSubstr(place), HasSubstr("the record is damaged")));

  damaged[second + record + 20] ^= 1;
  WriteText("events.out.tfevents.1.h", damaged);
  EXPECT_THAT(Read().damaged[0].message(), AllOf(HasSubstr(place), HasSubstr("damaged records in the file: 2")));

  damaged = whole;
  damaged[second] ^= 1;  // in the length
  WriteText("events.out.tfevents.1.h", damaged);
  runs = Read();
  EXPECT_THAT(runs.runs[0].parts[""]["loss"], ElementsAre(P{1, 1}));
  ASSERT_EQ(runs.damaged.size(), 1u);
  EXPECT_THAT(runs.damaged[0].message(), AllOf(HasSubstr(place), HasSubstr("what follows in the file is left out")));

  WriteText("events.out.tfevents.1.h", whole + Record("no event"));
  EXPECT_THAT(Read().damaged[0].message(), HasSubstr("the record is no event of TensorBoard"));
}

TEST_F(RunsTest, NamesALineThatIsNoResult) {
  WriteText("eval/metrics.jsonl", "{\"global_step\":10,\"loss\":3}\n{\"loss\":4}\n{\"global_step\":20,\"loss\":5}\n");
  PlotRuns runs = Read();
  EXPECT_THAT(runs.runs[0].parts["eval"]["loss"], ElementsAre(P{10, 3}));
  ASSERT_EQ(runs.damaged.size(), 1u);
  EXPECT_THAT(runs.damaged[0].message(), HasSubstr("eval/metrics.jsonl:2: the line is no result of an evaluation"));
  // As it is after a crash, or while somebody writes it.
  WriteText("eval/metrics.jsonl", "{\"global_step\":10,\"loss\":3}\n{\"global_step\":20,\"lo");
  EXPECT_THAT(Read().damaged, IsEmpty());
}

TEST_F(RunsTest, NamesAFileThatCannotBeRead) {
  WriteEvents("events.out.tfevents.1.h", {Loss(1, kOne)});
  WriteText("eval/metrics.jsonl", "{\"global_step\":10,\"loss\":3}\n");
  FaultInjectingEnv env(Env::Default());
  env.FailPath(dir_ + "/eval/metrics.jsonl", EACCES);
  const absl::StatusOr<PlotRuns> runs = ReadRuns(&env, {dir_});
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->runs[0].parts.size(), 1u);
  ASSERT_EQ(runs->damaged.size(), 1u);
  EXPECT_EQ(runs->damaged[0].code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(runs->damaged[0].message(), HasSubstr("eval/metrics.jsonl"));
}

TEST_F(RunsTest, KeepsValuesThatAreNotFinite) {
  WriteEvents("events.out.tfevents.1.h", {Loss(1, kInfinity)});
  EXPECT_TRUE(std::isinf(Read().runs[0].parts[""]["loss"][0].value));
}

TEST_F(RunsTest, SaysThatAFolderIsNotThere) {
  const absl::Status status = Error("nowhere");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("nowhere does not exist; give the model_dir of a training"));
  WriteText("file", "");
  EXPECT_EQ(Error("file").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Error("file").message(), HasSubstr("file is a file; give the folder that it is in"));
}

TEST_F(RunsTest, SaysWhatItLookedForAndWhatIsThere) {
  EXPECT_EQ(Error().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Error().message(), AllOf(HasSubstr("has no records of a training"), HasSubstr("events.out.tfevents.*"),
                                       HasSubstr("eval*/metrics.jsonl"), HasSubstr("there is nothing")));
  WriteText("checkpoint", "");
  WriteText("model.ckpt-10/manifest", "");
  EXPECT_THAT(Error().message(), HasSubstr("there is checkpoint, model.ckpt-10;"));
  for (int i = 0; i < 20; ++i) WriteText(absl::StrCat("n", i + 10), "");
  EXPECT_THAT(Error().message(), HasSubstr("n19 and 10 more;"));
  // Events without a scalar are no records either.
  WriteEvents("events.out.tfevents.1.h", {Start300()});
  EXPECT_EQ(Error().code(), absl::StatusCode::kNotFound);
}

TEST_F(RunsTest, DamageOfAllIsAnError) {
  WriteText("events.out.tfevents.1.h", "this is a text and no file of records, surely");
  EXPECT_EQ(Error().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Error().message(), HasSubstr("events.out.tfevents.1.h: at byte 0: "));
}

}  // namespace
}  // namespace tandem
