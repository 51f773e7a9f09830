#include "tools/dump/dot_dump.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), "\"");
}

// Returns a buffer's shape: "26x26x32", or "b x 10" for a shape with a batch.
std::string ShapeText(const format::Buffer& b) {
  std::string text;
  for (int64_t size : b.shape) absl::StrAppend(&text, text.empty() ? "" : "x", size < 0 ? "b" : absl::StrCat(size));
  return text.empty() ? "scalar" : text;
}

class DotWriter {
 public:
  explicit DotWriter(const Executable& executable)
      : index_(executable.index()), program_(index_.programs[index_.replicas[0].program]) {}

  std::string Run() {
    absl::StrAppend(&out_, "digraph ", Quoted(index_.mode), " {\n",
                    "  rankdir=TB; node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", "
                    "fontsize=10]; edge [fontname=\"Helvetica\", fontsize=8, color=\"#8a8f98\"];\n");
    int number = 0;
    for (size_t s = 0; s < program_.sections.size(); ++s) {
      const format::Section& section = program_.sections[s];
      const bool map = section.kind == format::SectionKind::kMap;
      absl::StrAppend(&out_, "  subgraph cluster_", s, " {\n    label=",
                      Quoted(absl::StrCat(section.name, map ? " (every microbatch)" : " (once per device)")),
                      "; style=rounded; color=\"", map ? "#1f6f78" : "#b9b4aa", "\";\n");
      for (const auto& table : section.commands) Node(table, number++);
      absl::StrAppend(&out_, "  }\n");
    }
    number = 0;
    for (const auto& section : program_.sections) {
      for (const auto& table : section.commands) Edges(table, number++);
    }
    for (const auto& output : index_.outputs) {
      const std::string node = absl::StrCat("out_", output.name);
      absl::StrAppend(&out_, "  ", Quoted(node), " [label=", Quoted(output.name), ", shape=ellipse];\n");
      Edge(output.buffer, Quoted(node));
    }
    absl::StrAppend(&out_, ends_, "}\n");
    return std::move(out_);
  }

 private:
  void Node(const format::Command& table, int number) {
    const std::unique_ptr<Command> command = NewCommand(table);
    std::string label = table.name.empty() ? command->kind() : table.name;
    const char* colour = "#f3f1ec";
    if (const std::optional<KernelLaunches> launches = command->launches()) {
      const format::Kernel& kernel = index_.kernels[launches->kernel];
      colour = "#fbe9d3";
      absl::StrAppend(&label, "\n", kernel.name, ", ", kernel.skeleton);
      // The node shows only the kernel's first ops; the text dump lists all of them.
      for (size_t i = 0; i < kernel.ops.size() && i < 6; ++i) absl::StrAppend(&label, "\n", kernel.ops[i]);
      if (kernel.ops.size() > 6) absl::StrAppend(&label, "\n... ", kernel.ops.size() - 6, " more");
    } else if (command->is_library_call()) {
      colour = "#dcebec";
      absl::StrAppend(&label, "\n", absl::StrReplaceAll(command->Summary(index_), {{" + ", "\n+ "}}));
    } else {
      absl::StrAppend(&label, "\n", command->kind());
    }
    absl::StrAppend(&out_, "    s", number, " [label=", Quoted(label), ", fillcolor=\"", colour, "\"];\n");
  }

  // Draws the edges to a command. Each comes from the last command that wrote the memory, not the buffer, because a
  // view is another buffer in the same memory.
  void Edges(const format::Command& table, int number) {
    const std::unique_ptr<Command> command = NewCommand(table);
    const std::vector<uint32_t> reads = command->Reads(), writes = command->Writes();
    for (uint32_t b : std::set<uint32_t>(reads.begin(), reads.end())) Edge(b, absl::StrCat("s", number));
    for (uint32_t b : writes) writer_[Place(b)] = number;
  }

  using PlaceKey = std::pair<format::Space, uint64_t>;
  PlaceKey Place(uint32_t buffer) const {
    const format::Buffer& b = program_.buffers[buffer];
    const bool indexed =
        b.space == format::Space::kVariable || b.space == format::Space::kInput || b.space == format::Space::kScalar;
    return {b.space, indexed ? b.index : b.offset};
  }

  void Edge(uint32_t buffer, const std::string& to) {
    const format::Buffer& b = program_.buffers[buffer];
    auto it = writer_.find(Place(buffer));
    std::string from;
    if (it != writer_.end()) {
      from = absl::StrCat("s", it->second);
    } else {
      from = Quoted(absl::StrCat(format::Name(b.space), " ", b.name));
      const bool variable = b.space == format::Space::kVariable;
      if (ends_seen_.insert(from).second) {
        absl::StrAppend(&ends_, "  ", from, " [label=", Quoted(b.name), ", shape=", variable ? "cylinder" : "ellipse",
                        ", fillcolor=\"", variable ? "#f0eef8" : "#ffffff", "\"];\n");
      }
    }
    if (from == to) return;
    absl::StrAppend(&out_, "  ", from, " -> ", to, " [label=", Quoted(ShapeText(b)), "];\n");
  }

  const format::Index& index_;
  const format::Program& program_;
  std::string out_, ends_;
  std::set<std::string> ends_seen_;
  std::map<PlaceKey, int> writer_;
};

}  // namespace

std::string DumpDot(const Executable& executable) { return DotWriter(executable).Run(); }

}  // namespace tandem
