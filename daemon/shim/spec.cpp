#include "daemon/shim/spec.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "common/base/try.hpp"
#include "common/model/json.hpp"

namespace orange {
namespace {

Error bad_spec(const std::string& why) {
    return {ErrorCode::invalid_argument, "run spec: " + why};
}

bool is_list_of_strings(const Json& json) {
    if (!json.is_array()) return false;
    for (const auto& item : json) {
        if (!item.is_string()) return false;
    }
    return true;
}

bool is_map_of_strings(const Json& json) {
    if (!json.is_object()) return false;
    for (const auto& item : json.items()) {
        if (!item.value().is_string()) return false;
    }
    return true;
}

Result<void> check(const RunSpec& spec) {
    if (spec.argv.empty() || spec.argv[0].empty()) return bad_spec("\"argv\" is empty");
    if (!spec.cwd.starts_with('/')) return bad_spec("\"cwd\" is not absolute");
    if (!spec.exit_file.starts_with('/')) return bad_spec("\"exit_file\" is not absolute");
    if (!spec.worktree.empty() && !spec.worktree.starts_with('/')) return bad_spec("\"worktree\" is not absolute");
    return {};
}

}  // namespace

std::string spec_text(const RunSpec& spec) {
    Json json;
    json["run"] = spec.run.value;
    json["task"] = spec.task.value;
    json["role"] = std::string(name_of(spec.role));
    json["project"] = spec.project;
    json["argv"] = spec.argv;
    json["env"] = spec.env;
    json["cwd"] = spec.cwd;
    json["worktree"] = spec.worktree;
    json["exit_file"] = spec.exit_file;
    return dump(json) + "\n";
}

Result<RunSpec> spec_from_text(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) return in_context("run spec", json.error());
    if (!json->is_object()) return bad_spec("not an object");
    RunSpec spec;
    std::string role = "worker";
    const std::pair<const char*, std::string*> strings[] = {{"run", &spec.run.value},
                                                            {"task", &spec.task.value},
                                                            {"role", &role},
                                                            {"cwd", &spec.cwd},
                                                            {"project", &spec.project},
                                                            {"worktree", &spec.worktree},
                                                            {"exit_file", &spec.exit_file}};
    for (const auto& [key, into] : strings) {
        if (!json->contains(key)) continue;
        if (!(*json)[key].is_string()) return bad_spec("\"" + std::string(key) + "\" is not a string");
        *into = (*json)[key].get<std::string>();
    }
    if (!json->contains("argv") || !is_list_of_strings((*json)["argv"]))
        return bad_spec("\"argv\" is not a list of strings");
    if (!json->contains("env") || !is_map_of_strings((*json)["env"]))
        return bad_spec("\"env\" is not a map of strings");
    spec.argv = (*json)["argv"].get<std::vector<std::string>>();
    spec.env = (*json)["env"].get<std::map<std::string, std::string>>();
    const auto known = role_from(role);
    if (!known) return bad_spec("there is no role \"" + role + "\"");
    spec.role = *known;
    TRY(check(spec));
    return spec;
}

Result<RunSpec> read_spec(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return io_error("reading " + file.string(), errno);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return spec_from_text(text);
}

}  // namespace orange
