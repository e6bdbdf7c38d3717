#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// Settings, and the names of refs and commits.
namespace orange::fakes::git {
namespace {

std::string shown(const Repository::Setting& setting) {
    return setting.key + (setting.value ? "\n" + *setting.value : "") + k_end;
}

/// "core.fsyncMethod" → "core.fsyncmethod", as git lists keys.
std::string listed_key(std::string key) {
    const auto first = key.find('.'), last = key.rfind('.');
    for (std::size_t i = 0; i < key.size(); ++i) {
        const bool is_own = i > first && i < last;
        if (!is_own && key[i] >= 'A' && key[i] <= 'Z') key[i] = static_cast<char>(key[i] - 'A' + 'a');
    }
    return key;
}

std::string all_settings(const Asked& asked) {
    const Repository repository(asked);
    std::string out;
    for (const auto& setting : repository.settings()) out += setting.scope + k_end + shown(setting);
    for (const auto& [key, value] : asked.settings) {
        out += std::string("command") + k_end + listed_key(key) + "\n" + value + k_end;
    }
    return out;
}

/// The settings that tell of an origin and of the checkout.
Completed facts_of_repository(const Asked& asked) {
    const Repository repository(asked);
    must_be(repository.is_main());
    std::string out;
    for (const auto& setting : repository.settings()) {
        if (setting.key != "remote.origin.url" && setting.key != "core.bare" && setting.key != "core.worktree")
            continue;
        must_be(setting.scope == "local" && setting.value);
        out += std::string("file:.git/config") + k_end + shown(setting);
    }
    return out.empty() ? failed(1) : printed(out);
}

Completed who(const Asked& asked) {
    const Repository repository(asked);
    std::string out;
    for (const auto& setting : repository.settings()) {
        if (setting.key == "user.name" || setting.key == "user.email") out += shown(setting);
    }
    return out.empty() ? failed(1) : printed(out);
}

Completed one_setting(const Asked& asked, const std::string& key) {
    const Repository repository(asked);
    const auto value = repository.setting(key);
    return value.empty() ? failed(1) : printed(value + "\n");
}

Completed folders(const Asked& asked) {
    const Repository repository(asked);
    must_be(repository.is_main() && asked.variable("GIT_DIR").empty());
    std::string out;
    for (std::size_t i = 2; i < asked.args.size(); ++i) {
        const auto& what = asked.args[i];
        must_be(what == "--git-dir" || what == "--git-common-dir" || what == "--show-toplevel");
        out += (what == "--show-toplevel" ? repository.worktree() : repository.common()) + "\n";
    }
    return printed(out);
}

/// "<name>", "<name>^{commit}" or "<name>^{tree}".
Completed verified(const Asked& asked, std::string name) {
    const Repository repository(asked);
    const bool is_tree = name.ends_with("^{tree}");
    if (is_tree) name = without_suffix(name, "^{tree}");
    if (name.ends_with("^{commit}")) name = without_suffix(name, "^{commit}");
    const bool is_quiet = std::find(asked.args.begin(), asked.args.end(), "--quiet") != asked.args.end();
    const auto id = repository.find_commit(name);
    must_be(id || is_quiet);
    if (!id) return failed(1);
    return printed((is_tree ? hex(*git_tree_id(repository.tree_of(*id).get())) : hex(*id)) + "\n");
}

Answer ask_symbolic(const Asked& asked) {
    if (asked.is({"symbolic-ref", "--quiet"}, 1)) {
        const Repository repository(asked);
        must_be(is_harmless(asked.last()));
        git_reference* found = nullptr;
        const int error = git_reference_lookup(&found, repository.raw(), asked.last().c_str());
        must_be(error == 0 || (error == GIT_ENOTFOUND && asked.last() != "HEAD"));
        const Reference held(found);
        const char* target = found ? git_reference_symbolic_target(found) : nullptr;
        return target ? printed(std::string(target) + "\n") : failed(1);
    }
    if (asked.is({"symbolic-ref", "-m"}, 3) && asked.last(1) == "HEAD") {
        const Repository repository(asked);
        must_be(is_harmless(asked.last()) && asked.last().starts_with("refs/heads/"));
        must_be(repository.ref(asked.last()).has_value());
        git_reference* made = nullptr;
        must(git_reference_symbolic_create(&made, repository.raw(), "HEAD", asked.last().c_str(), 1,
                                           asked.args.at(2).c_str()));
        const Reference held(made);
        return printed({});
    }
    return std::nullopt;
}

}  // namespace

Answer ask_settings(const Asked& asked) {
    if (asked.is({"config", "--list", "--show-scope", "-z"})) return printed(all_settings(asked));
    if (asked.is({"config", "--show-origin", "-z", "--get-regexp", "^(remote\\..*\\.url|core\\.(bare|worktree))$"})) {
        return facts_of_repository(asked);
    }
    if (asked.is({"config", "-z", "--get-regexp", "^user\\.(name|email)$"})) return who(asked);
    if (asked.is({"config", "--get", "init.defaultBranch"})) return one_setting(asked, "init.defaultbranch");
    if (asked.is({"config", "--get-all", "remote.origin.url"})) return one_setting(asked, "remote.origin.url");
    if (asked.is({"remote", "get-url", "origin"})) {
        const auto url = Repository(asked).setting("remote.origin.url");
        return url.empty() ? failed(2) : printed(url + "\n");
    }
    return std::nullopt;
}

Answer ask_names(const Asked& asked) {
    if (asked.args.front() == "symbolic-ref") return ask_symbolic(asked);
    if (asked.is({"check-ref-format"}, 1)) {
        int is_valid = 0;
        must_be(is_harmless(asked.last()) && asked.last().starts_with("refs/heads/"));
        must(git_reference_name_is_valid(&is_valid, asked.last().c_str()));
        must_be(is_valid == 1);
        return printed({});
    }
    if (asked.args.front() != "rev-parse" || asked.args.size() < 2) return std::nullopt;
    if (asked.args.at(1) == "--path-format=absolute") return folders(asked);
    if (asked.is({"rev-parse", "--git-dir"})) {
        const Repository repository(asked);
        must_be(repository.is_main() && asked.variable("GIT_DIR").empty());
        return printed(".git\n");
    }
    if (asked.is({"rev-parse", "--verify", "--quiet", "--end-of-options"}, 1) ||
        asked.is({"rev-parse", "--verify", "--quiet"}, 1) || asked.is({"rev-parse", "--verify"}, 1)) {
        return verified(asked, asked.last());
    }
    if (asked.is({"rev-parse", "HEAD"})) return printed(hex(Repository(asked).commit_id("HEAD")) + "\n");
    return std::nullopt;
}

}  // namespace orange::fakes::git
