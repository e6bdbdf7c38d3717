#include "daemon/agents/trust.hpp"

#include <algorithm>

#include "common/model/json.hpp"
#include "daemon/agents/placeholders.hpp"

namespace orange::agents {
namespace {

constexpr std::size_t k_largest = std::size_t{16} << 20;

bool is_true_at(const Json& root, const std::vector<std::string>& names) {
    const Json* value = &root;
    for (const auto& name : names) {
        const auto found = value->find(name);  // end() if it is no object
        if (found == value->end()) return false;
        value = &*found;
    }
    return *value == true;
}

std::vector<std::string> names_for(const Trust& trust, const std::string& repo) {
    std::vector<std::string> names;
    for (const auto& name : trust.key) names.push_back(filled(name, {{"repo", repo}}));
    return names;
}

}  // namespace

Result<TrustInFile> trust_in_file(FileSystem& files, const Trust& trust, const std::string& repo,
                                  const std::string& home) {
    TrustInFile found;
    found.file = below_home(trust.file, home);
    if (!found.file.is_absolute() || (home.empty() && trust.file.starts_with('~'))) {
        return Error(ErrorCode::invalid_argument, "the agents' environment has no HOME");
    }
    const auto names = names_for(trust, repo);
    Json wanted = true;
    for (auto name = names.rbegin(); name != names.rend(); ++name) wanted = Json{{*name, std::move(wanted)}};
    found.lines = wanted.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (const auto text = files.read_before(found.file, std::nullopt, k_largest)) {
        const auto content = Json::parse(text->bytes, nullptr, false);
        found.there = is_true_at(content, names);
    }
    return found;
}

std::string with_answer_for(const Trust& trust, const std::string& content, const std::string& repo,
                            const std::string& other) {
    auto root = Json::parse(content, nullptr, false);
    if (repo == other || root.is_discarded() || !is_true_at(root, names_for(trust, repo))) return content;
    Json* value = &root;
    for (const auto& name : names_for(trust, other)) {
        if (!value->is_object() && !value->is_null()) return content;  // null: made here
        value = &(*value)[name];
    }
    *value = true;
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> trust_arguments(const Trust& trust, const std::string& repo) {
    std::vector<std::string> arguments;
    for (const auto& argument : trust.args) arguments.push_back(filled(argument, {{"repo", repo}}));
    return arguments;
}

}  // namespace orange::agents
