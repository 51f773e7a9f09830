#include "tools/dump/html_dump.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/json_string.h"
#include "runtime/format/index.h"
#include "tools/dump/ir_graph.h"
#include "tools/dump/ir_text.h"
#include "tools/dump/live_ranges.h"
#include "tools/dump/page_files.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// The largest text of one phase on the page. The LLVM text of a large model is longer and left out; tandem-dump --phase
// prints it.
constexpr size_t kMaxText = size_t{4} << 20;
constexpr size_t kMaxLine = 2000;  // longer lines (signatures, constants) are cut, since nobody reads them

// Cuts lines that are too long to be read.
std::string Readable(absl::string_view text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.size() > kMaxLine) {
      absl::StrAppend(&out, line.substr(0, kMaxLine), " ... (", line.size(), " characters)\n");
    } else {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

Json PhasesJson(const Executable& executable) {
  Json phases = Json::array();
  std::vector<std::pair<std::string, std::string>> texts;
  for (size_t i = 0; i < executable.index().segments.size(); ++i) {
    const format::Segment& s = executable.index().segments[i];
    if (!IsPhase(s)) continue;
    const absl::StatusOr<std::string> ir = IrText(executable, static_cast<int>(i));
    const std::string text = ir.ok() ? *ir : std::string(ir.status().message());
    Json phase = {{"name", s.name}};
    const auto same = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.second == text; });
    if (same != texts.end()) {
      phase["same"] = same->first;
    } else {
      Json ops = Json::array();
      for (const IrOp& op : ParseIrGraph(text)) {
        ops.push_back(Json::array({op.op, op.name, op.source, op.type, op.kernel, op.inputs, op.parent}));
      }
      phase["ops"] = std::move(ops);
      phase["text"] = text.size() > kMaxText ? "" : Readable(text);
    }
    texts.emplace_back(s.name, text);
    phases.push_back(std::move(phase));
  }
  return phases;
}

Json ArenasJson(const format::Index& index) {
  Json arenas = Json::array();
  const format::Program& program = index.programs[0];
  for (const ArenaTimeline& timeline : ArenaTimelines(index, program)) {
    if (timeline.live.empty()) continue;
    Json live = Json::array();
    for (const LiveBuffer& b : timeline.live) {
      live.push_back(Json::array({program.buffers[b.buffer].name, b.offset, b.bytes, b.first, b.last}));
    }
    arenas.push_back(
        {{"title", timeline.title}, {"bytes", timeline.bytes}, {"peak", timeline.peak}, {"live", std::move(live)}});
  }
  return arenas;
}

}  // namespace

std::string DumpHtml(const Executable& executable, const Json& dump, const Json& costs) {
  Json data;
  for (const char* key : {"executable", "replicas", "collectives", "kernels", "commands"}) data[key] = dump[key];
  data["memory"] = dump["memory"];
  data["memory"].erase("buffers");
  data["costs"] = costs;
  // The horizontal axis of the page's pictures of arenas (memory over time): the names of all commands in order, and
  // for each section its name and the number of its first command.
  Json sections = Json::array(), names = Json::array();
  for (const auto& section : executable.index().programs[0].sections) {
    sections.push_back(Json::array({section.name, names.size()}));
    for (const auto& command : section.commands) names.push_back(command.name);
  }
  data["timeline"] = {{"sections", std::move(sections)}, {"commands", std::move(names)}};
  data["arenas"] = ArenasJson(executable.index());
  data["phases"] = PhasesJson(executable);
  const std::string json = JsonString(data);
  // All placeholders are replaced in one pass, because the data may contain their text. "<" is escaped, because
  // "</script>" in the data would end the element, and "<!--" would change how it is parsed.
  return absl::StrReplaceAll(
      kPageHtml,
      {{"@STYLE@", kPageCss}, {"@SCRIPT@", kPageJs}, {"@DATA@", absl::StrReplaceAll(json, {{"<", "\\u003c"}})}});
}

}  // namespace tandem
