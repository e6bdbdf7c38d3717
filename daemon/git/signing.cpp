#include "daemon/git/signing.hpp"

#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/committer.hpp"

namespace orange::git {
namespace {

/// A key on a token may wait for a touch, but a passphrase cannot be entered.
constexpr std::chrono::milliseconds k_signing_patience = std::chrono::seconds(20);

/// The settings of signing programs, with git's defaults. gpg.program is also called gpg.openpgp.program.
constexpr std::pair<const char*, const char*> k_programs[] = {
    {"gpg.program", "gpg"}, {"gpg.x509.program", "gpgsm"}, {"gpg.ssh.program", "ssh-keygen"}};
constexpr const char* k_other_name = "gpg.openpgp.program";
constexpr const char* k_key_command = "gpg.ssh.defaultkeycommand";

bool says_yes(const std::string& value) {
    const auto word = to_lower(value);
    return word == "true" || word == "yes" || word == "on" || word == "1";
}

Awaitable<Result<std::string>> signed_commit(Git& git, std::string repo, std::vector<std::string> args,
                                             std::string message, std::map<std::string, std::string> env) {
    GitCommand command{std::move(repo), std::move(args)};
    command.input = std::move(message);
    command.env = std::move(env);
    // Without these variables a passphrase cannot be asked for in a window or on a terminal either.
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY"}) command.env[name] = "";
    command.deadline = k_signing_patience;
    CO_TRY(const auto made, co_await git_output(git, std::move(command)));
    co_return hash_in("git commit-tree", made);
}

}  // namespace

Awaitable<Result<std::string>> unsigned_commit(Git& git, Place place, std::vector<std::string> args,
                                               std::string message, std::map<std::string, std::string>& who) {
    auto strict = words("-c", "user.useConfigOnly=true");
    strict.insert(strict.end(), args.begin(), args.end());
    auto made = co_await ask_inside(git, place, std::move(strict), message);
    if (!made && made.error().code == ErrorCode::external_failed) {  // the configuration does not name the user
        CO_TRY(who, co_await identity(git, place));
        made = co_await ask_inside(git, place, std::move(args), std::move(message), who);
    }
    if (!made) co_return made;
    co_return hash_in("git commit-tree", *made);
}

Awaitable<Result<CommitSettings>> commit_settings(Git& git, std::string repo) {
    CO_TRY(const auto listed,
           co_await ask_inside(git, std::move(repo), words("config", "--list", "--show-scope", "-z")));
    std::map<std::string, std::string> all,
        own;                           // the last value of each key; `own`: only the user's and the machine's
    const auto said = pieces(listed);  // a scope, a key with its value, a scope, …
    for (std::size_t i = 0; i + 1 < said.size(); i += 2) {
        if (said[i] == "command") continue;  // a setting of CliGit
        const auto end = said[i + 1].find('\n');
        auto key = said[i + 1].substr(0, end);
        if (key == k_other_name) key = k_programs[0].first;
        // A key without a value is true.
        all[key] = end == std::string::npos ? "true" : said[i + 1].substr(end + 1);
        if (said[i] == "system" || said[i] == "global") own[key] = all[key];
    }
    CommitSettings settings;
    settings.missing = missing_of(all);
    if (!says_yes(all["commit.gpgsign"])) co_return settings;
    const auto set = [&](const std::string& key, const std::string& value) {
        settings.sign.insert(settings.sign.end(), {"-c", key + "=" + value});
    };
    for (const auto& [key, usual] : k_programs) set(key, own.contains(key) ? own[key] : usual);
    if (all.contains(k_key_command)) set(k_key_command, own.contains(k_key_command) ? own[k_key_command] : "false");
    co_return settings;
}

Awaitable<Result<std::string>> make_commit(Git& git, std::string repo, std::vector<std::string> args,
                                           std::string message, std::vector<std::string> sign) {
    std::map<std::string, std::string> who;
    auto plain = co_await unsigned_commit(git, repo, args, message, who);
    if (!plain || sign.empty()) co_return plain;
    sign.insert(sign.end(), args.begin(), args.end());
    sign.emplace_back("-S");
    auto made = co_await signed_commit(git, std::move(repo), std::move(sign), std::move(message), std::move(who));
    if (made) co_return made;
    Error refused = made.error();
    refused.details["unsigned"] = first_line(refused.message);
    co_return refused;
}

}  // namespace orange::git
