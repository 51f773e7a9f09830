// Implements NodesOfProgram of graph_def.h: the nodes of a compiled program.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/summary/graph_def.h"
#include "frontends/summary_marks.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

// The graph shows at most so many devices, since more would look alike.
constexpr size_t kMaxDevices = 8;

class ProgramNodes {
 public:
  explicit ProgramNodes(const Executable& executable)
      : index_(executable.index()), program_(index_.programs[index_.replicas[0].program]) {}

  std::vector<GraphDefNode> Run() {
    devices_ = std::min(index_.replicas.size(), kMaxDevices);
    writers_.resize(devices_);
    for (const auto& section : program_.sections) {
      for (const auto& table : section.commands) AddCommand(section, table);
    }
    for (const auto& output : index_.outputs) {
      GraphDefNode node;
      const std::optional<ModelSummary> summary = ParseSummaryMark(output.name);
      node.name = names_.Take(summary.has_value() ? absl::StrCat("summary/", summary->tag)
                                                  : absl::StrCat("output/", output.name));
      node.op = "Output";
      std::set<std::string> makers;
      for (size_t d = 0; d < devices_; ++d) makers.insert(MakerOf(d, output.buffer));
      makers.erase("");
      node.inputs.assign(makers.begin(), makers.end());
      node.outputs.push_back(ResultOf(output.buffer));
      nodes_.push_back(std::move(node));
    }
    return std::move(nodes_);
  }

 private:
  // Where a value is stored: the kind of its memory, and its index or offset there. A view of a value is another buffer
  // with the same place.
  using Place = std::pair<format::Space, uint64_t>;
  Place PlaceOf(uint32_t buffer) const {
    const format::Buffer& b = program_.buffers[buffer];
    return {b.space, IsNamed(b) ? b.index : b.offset};
  }
  static bool IsNamed(const format::Buffer& b) {
    return b.space == format::Space::kVariable || b.space == format::Space::kInput || b.space == format::Space::kScalar;
  }

  GraphNode::Result ResultOf(uint32_t buffer) const {
    const format::Buffer& b = program_.buffers[buffer];
    return {b.dtype, Shape(b.shape.begin(), b.shape.end())};
  }

  // Returns the name of the node that wrote a buffer last. Makes a node for a value from outside of the program;
  // returns "" for the temporary memory of a command.
  std::string MakerOf(size_t device, uint32_t buffer) {
    if (const auto it = writers_[device].find(PlaceOf(buffer)); it != writers_[device].end()) return it->second;
    const format::Buffer& b = program_.buffers[buffer];
    if (!IsNamed(b) && b.space != format::Space::kConstant) return "";
    std::string& source = sources_[PlaceOf(buffer)];
    if (!source.empty()) return source;
    GraphDefNode node;
    node.op = format::Name(b.space);
    node.name = source =
        names_.Take(absl::StrCat(absl::AsciiStrToLower(node.op), "/", b.name.empty() ? "value" : b.name));
    node.outputs.push_back(ResultOf(buffer));
    nodes_.push_back(std::move(node));
    return source;
  }

  void AddCommand(const format::Section& section, const format::Command& table) {
    const std::unique_ptr<Command> command = NewCommand(table);
    const std::string base = table.name.empty() ? command->kind() : table.name;
    if (command->collective().has_value() && devices_ > 1) {
      GraphDefNode node = NewNode(*command, absl::StrCat("all_reduce/", base));
      for (size_t d = 0; d < devices_; ++d) AddInputs(d, *command, node);
      for (size_t d = 0; d < devices_; ++d) NoteWrites(d, *command, node.name);
      nodes_.push_back(std::move(node));
      return;
    }
    for (size_t d = 0; d < devices_; ++d) {
      const std::string device = index_.replicas[d].device;
      const std::string scope = devices_ > 1 ? absl::StrCat("replica_", d, "/") : "";
      GraphDefNode node = NewNode(*command, absl::StrCat(scope, section.name, "/", base));
      node.device = device;
      node.attributes["runs"] = section.kind == format::SectionKind::kMap ? "for every microbatch" : "once";
      AddInputs(d, *command, node);
      NoteWrites(d, *command, node.name);
      nodes_.push_back(std::move(node));
    }
  }

  GraphDefNode NewNode(const Command& command, const std::string& name) {
    GraphDefNode node;
    node.name = names_.Take(name);
    node.op = command.kind();
    const format::Location& at = index_.debug.locations[command.table().location];
    if (!at.file.empty()) node.attributes["source"] = absl::StrCat(at.file, ":", at.line);
    if (const std::optional<KernelLaunches> launches = command.launches()) {
      const format::Kernel& kernel = index_.kernels[launches->kernel];
      node.attributes["_XlaCluster"] = kernel.name;
      node.attributes["kernel"] = absl::StrCat(kernel.name, ", ", kernel.skeleton);
      node.attributes["ops"] = absl::StrJoin(kernel.ops, ", ");
    } else if (std::string summary = command.Summary(index_); !summary.empty()) {
      node.attributes["summary"] = std::move(summary);
    }
    const std::vector<uint32_t> writes = command.Writes();
    for (uint32_t buffer : std::set<uint32_t>(writes.begin(), writes.end())) node.outputs.push_back(ResultOf(buffer));
    return node;
  }

  void AddInputs(size_t device, const Command& command, GraphDefNode& node) {
    const std::vector<uint32_t> reads = command.Reads();
    std::set<std::string> makers;
    for (uint32_t buffer : std::set<uint32_t>(reads.begin(), reads.end())) makers.insert(MakerOf(device, buffer));
    for (const std::string& maker : makers) {
      if (!maker.empty() && maker != node.name) node.inputs.push_back(maker);
    }
  }

  void NoteWrites(size_t device, const Command& command, const std::string& name) {
    for (uint32_t buffer : command.Writes()) writers_[device][PlaceOf(buffer)] = name;
  }

  const format::Index& index_;
  const format::Program& program_;
  size_t devices_ = 1;
  NodeNames names_;
  std::vector<GraphDefNode> nodes_;
  std::vector<std::map<Place, std::string>> writers_;  // by device, the node that last wrote each place
  std::map<Place, std::string> sources_;
};

}  // namespace

std::vector<GraphDefNode> NodesOfProgram(const Executable& executable) { return ProgramNodes(executable).Run(); }

}  // namespace tandem
