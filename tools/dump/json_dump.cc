#include "tools/dump/json_dump.h"

#include <memory>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "graph/parameter_servers.h"
#include "runtime/commands/command.h"
#include "tools/dump/gpu_dump.h"
#include "tools/dump/ir_text.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// Returns the source line of a location: "file:line".
std::string Where(const format::Index& index, uint32_t location) {
  const format::Location& l = index.debug.locations[location];
  return l.file.empty() ? "" : absl::StrCat(l.file, ":", l.line);
}

Json BufferJson(const format::Buffer& b, uint32_t id) {
  Json j = {{"buffer", id}, {"name", b.name}, {"space", format::Name(b.space)}};
  bool indexed =
      b.space == format::Space::kVariable || b.space == format::Space::kInput || b.space == format::Space::kScalar;
  if (indexed) {
    j["index"] = b.index;
  } else {
    j["offset"] = b.offset;
  }
  j["bytes"] = b.bytes;
  if (b.row_bytes) j["row_bytes"] = b.row_bytes;
  j["dtype"] = std::string(Name(b.dtype));
  j["shape"] = ShapeString(b.shape);
  return j;
}

Json CommandJson(const format::Index& index, const format::Command& table) {
  const std::unique_ptr<Command> command = NewCommand(table);
  Json j = {{"name", table.name}, {"kind", command->kind()}, {"summary", command->Summary(index)}};
  for (const CommandProperty& property : command->Properties(index)) {
    std::visit([&](const auto& value) { j[property.name] = value; }, property.value);
  }
  j["inputs"] = table.inputs;
  j["outputs"] = table.outputs;
  j["source"] = Where(index, table.location);
  if (table.invariant) j["invariant"] = true;
  if (table.run_inline) j["run_inline"] = true;
  if (table.together > 1) j["together"] = table.together;
  if (table.joint) j["joint"] = true;
  if (table.overlap > 0) j["overlap"] = table.overlap;
  return j;
}

// If another command of `section` applies each block of the gradient that `command` computes to the variable as soon as
// the block is computed, so that the gradient is never stored, returns that other command; otherwise null.
Json BlockUpdateJson(const format::Section& section, uint32_t command) {
  for (const auto& update : section.block_updates) {
    if (update.gradient != command) continue;
    return {{"command", section.commands[update.update].name}, {"member", update.member}};
  }
  return nullptr;
}

Json SectionJson(const format::Section& section) {
  Json j = {{"section", section.name},
            {"runs", section.kind == format::SectionKind::kMap ? "per microbatch" : "per device"}};
  if (section.run_inline) j["run_inline"] = true;
  if (section.lanes_together > 1) j["lanes_together"] = section.lanes_together;
  return j;
}

Json ProgramCommands(const format::Index& index, const format::Program& program, const std::string& replica) {
  Json commands = Json::array();
  for (const auto& section : program.sections) {
    for (uint32_t i = 0; i < section.commands.size(); ++i) {
      Json j = CommandJson(index, section.commands[i]);
      if (Json update = BlockUpdateJson(section, i); !update.is_null()) j["block_update"] = std::move(update);
      j["section"] = section.name;
      j["runs"] = section.kind == format::SectionKind::kMap ? "per microbatch" : "per device";
      if (!replica.empty()) j["replica"] = replica;
      commands.push_back(std::move(j));
    }
  }
  return commands;
}

// Returns, for each kernel, the commands that launch it. Equal kernels are stored only once, with the op names of one
// of these commands.
std::vector<Json> UsersOfKernels(const format::Index& index) {
  std::vector<Json> users(index.kernels.size(), Json::array());
  for (const auto& program : index.programs) {
    for (const auto& section : program.sections) {
      for (const auto& table : section.commands) {
        const std::optional<KernelLaunches> launches = NewCommand(table)->launches();
        if (!launches) continue;
        users[launches->kernel].push_back({{"name", table.name}, {"source", Where(index, table.location)}});
      }
    }
  }
  return users;
}

Json MemoryJson(const format::Index& index, const format::Program& program) {
  Json memory;
  int64_t parameters = 0, slots = 0;
  for (const auto& v : index.variables) {
    (v.slot_of.empty() ? parameters : slots) += NumElements(v.shape) * SizeOf(v.dtype);
  }
  int64_t lanes = index.lanes / index.replicas.size();
  memory["parameter_bytes"] = parameters;
  memory["slot_bytes"] = slots;
  memory["microbatch_arena_bytes_per_thread"] = program.microbatch_bytes;
  memory["lane_slot_bytes"] = program.lane_bytes;
  memory["lanes_per_device"] = lanes;
  memory["step_arena_bytes"] = program.step_bytes;
  memory["batch_arena_bytes"] = program.batch_bytes;
  memory["peak_bytes_per_device"] = parameters + slots + program.microbatch_bytes + lanes * program.lane_bytes +
                                    program.step_bytes + program.batch_bytes;
  memory["arenas"] = Json::array();
  for (const auto& report : index.debug.memory) {
    Json live = Json::array();
    for (const auto& l : report.live_at_peak) live.push_back({{"name", l.name}, {"bytes", l.bytes}});
    memory["arenas"].push_back({{"space", report.space}, {"peak_bytes", report.peak_bytes}, {"live_at_peak", live}});
  }
  memory["buffers"] = Json::array();
  for (uint32_t i = 0; i < program.buffers.size(); ++i) memory["buffers"].push_back(BufferJson(program.buffers[i], i));
  return memory;
}

}  // namespace

Json DumpJson(const Executable& executable, bool expand_replicas) {
  const format::Index& index = executable.index();
  Json dump;
  dump["executable"] = {{"file", executable.name()},
                        {"mode", index.mode},
                        {"producer", index.producer},
                        {"key", index.key},
                        {"target", index.target},
                        {"target_name", index.target_name},
                        {"machine_model", index.machine_model},
                        {"parameter_servers", index.parameter_servers},
                        {"parameter_server", index.parameter_server},
                        {"lanes", index.lanes},
                        {"rows_per_lane", index.rows_per_lane},
                        {"microbatch_rows", index.microbatch_rows}};
  dump["placement"] = Json::array();
  for (const auto& p : index.placement) {
    const PlacedPart part{p.variable, static_cast<int>(p.server), p.first_row, p.rows};
    dump["placement"].push_back({{"name", part.name()},
                                 {"variable", part.variable},
                                 {"server", part.server},
                                 {"first_row", part.first_row},
                                 {"rows", part.rows}});
  }
  dump["replicas"] = Json::array();
  for (const auto& r : index.replicas) {
    dump["replicas"].push_back({{"name", r.name}, {"device", r.device}, {"program", r.program}});
  }
  dump["collectives"] = Json::array();
  for (const auto& c : index.collectives) {
    dump["collectives"].push_back({{"seq", c.seq},
                                   {"kind", c.kind},
                                   {"bucket", c.bucket},
                                   {"bytes", c.bytes},
                                   {"dtype", std::string(Name(c.dtype))},
                                   {"tensors", c.tensors},
                                   {"group", c.group},
                                   {"algorithm", c.algorithm}});
  }
  dump["kernels"] = Json::array();
  std::vector<Json> users = UsersOfKernels(index);
  for (size_t number = 0; number < index.kernels.size(); ++number) {
    const format::Kernel* k = &index.kernels[number];
    Json ops = Json::array();
    for (size_t i = 0; i < k->ops.size(); ++i) {
      Json op = {{"op", k->ops[i]}};
      if (i < k->locations.size()) {
        op["name"] = index.debug.locations[k->locations[i]].name;
        op["source"] = Where(index, k->locations[i]);
      }
      ops.push_back(std::move(op));
    }
    dump["kernels"].push_back({{"name", k->name},
                               {"skeleton", k->skeleton},
                               {"domain", format::Name(k->domain)},
                               {"code_bytes", executable.segment(k->segment).size()},
                               {"ops", ops},
                               {"users", std::move(users[number])}});
  }
  dump["commands"] = Json::array();
  if (expand_replicas) {
    for (const auto& r : index.replicas) {
      for (auto& s : ProgramCommands(index, index.programs[r.program], r.name))
        dump["commands"].push_back(std::move(s));
    }
  } else {
    for (const auto& p : index.programs) {
      for (auto& s : ProgramCommands(index, p, "")) dump["commands"].push_back(std::move(s));
    }
  }
  dump["sections"] = Json::array();
  for (const auto& section : index.programs[0].sections) dump["sections"].push_back(SectionJson(section));
  dump["executable"]["flat"] = index.programs[0].flat;
  AddGpuJson(executable, &dump);
  dump["memory"] = MemoryJson(index, index.programs[0]);
  dump["variables"] = Json::array();
  for (const auto& v : index.variables) {
    dump["variables"].push_back({{"name", v.name},
                                 {"dtype", std::string(Name(v.dtype))},
                                 {"shape", ShapeString(v.shape)},
                                 {"trainable", v.trainable},
                                 {"slot_of", v.slot_of},
                                 {"updated", v.updated}});
  }
  dump["phases"] = Json::array();
  for (const auto& s : index.segments) {
    if (IsPhase(s)) dump["phases"].push_back(s.name);
  }
  return dump;
}

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : JsonString(value); }

}  // namespace tandem
