#include "daemon/shim/permit.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <vector>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/shim/read_only.hpp"

namespace orange::shim {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<ShellWord>;

constexpr int k_refused = 2;

/// Of these nothing can be made that runs a program.
const std::set<std::string_view> k_variables = {"CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LANG", "LC_ALL", "TERM"};
const std::set<std::string_view> k_settings = {"PAGER=cat", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0"};

/// These commands of `orange task` hand in a verdict or only show something. claude.yml and opencode.yml list the same
/// ones.
const std::set<std::string_view> k_task_commands = {"update", "complete", "show", "why", "history",
                                                    "list",   "tree",     "diff", "log"};

bool is_permitted_orange(const Words& words) {
    const auto word = [&](std::size_t at) {
        const bool known = at < words.size() && !words[at].unknown && !words[at].globs;
        return known ? std::string_view(words[at].text) : std::string_view();
    };
    if (word(0) != "orange") return false;
    return word(1) == "help" || (word(1) == "task" && k_task_commands.contains(word(2)));
}

std::string listed(const ReviewRules& rules) {
    std::string checks;
    for (const auto& check : rules.checks) checks += "`" + join(check, " ") + "`, ";
    return "A reviewer may read files, run " + checks +
           "git commands that change nothing, and orange help and orange task " +
           join({k_task_commands.begin(), k_task_commands.end()}, ", ") + "; and write " +
           fs::path(rules.task_file).filename().string();
}

Error refused(const ReviewRules& rules, const std::string& what) {
    return {ErrorCode::forbidden, "not permitted: " + what + ". " + listed(rules)};
}

class CommandLine {
  public:
    explicit CommandLine(const ReviewRules& rules) : rules_(rules), folder_(real(rules.worktree)) {}

    Result<void> go_to(std::string_view folder) {
        const auto to = real(folder_ / folder);
        if (!is_inside(to)) return refused(rules_, to.string() + " is not in the worktree");
        folder_ = to;
        return {};
    }

    Result<void> permit(const SimpleCommand& command) {
        for (const auto& redirection : command.redirections) TRY(permit_redirection(redirection));
        auto words = command.words;
        while (!words.empty() && (words.front().text == "!" || is_setting(words.front()))) words.erase(words.begin());
        if (words.empty()) return {};
        return permit_words(words, command.input);
    }

    /// Nothing but the task's file.
    Result<void> permit_patch(std::string_view patch) {
        constexpr std::string_view k_marks[] = {"*** Add File: ", "*** Update File: ", "*** Move to: "};
        bool any = false;
        for (const auto line : split_lines(patch)) {
            if (line.starts_with("*** Delete File: ")) return refused(rules_, std::string(line));
            for (const auto mark : k_marks) {
                if (!line.starts_with(mark)) continue;
                any = true;
                TRY(permit_write(trim(line.substr(mark.size()))));
            }
        }
        return any ? Result<void>{} : refused(rules_, "a patch of no file");
    }

    Result<void> permit_write(std::string_view file) {
        if (real(folder_ / file) == real(rules_.task_file)) return {};
        return refused(rules_, "writing " + std::string(file));
    }

  private:
    /// Without links, whether it exists or not.
    static fs::path real(const fs::path& path) {
        std::error_code failed;
        auto found = fs::weakly_canonical(path.lexically_normal(), failed);
        return failed ? path.lexically_normal() : found;
    }

    bool is_inside(const fs::path& folder) const {
        const auto relative = folder.lexically_relative(real(rules_.worktree));
        return !relative.empty() && *relative.begin() != "..";
    }

    static bool is_setting(const ShellWord& word) {
        const auto equal = word.text.find('=');
        if (equal == std::string::npos || word.unknown) return false;
        return k_settings.contains(word.text) || k_variables.contains(std::string_view(word.text).substr(0, equal));
    }

    Result<void> permit_redirection(const Redirection& redirection) {
        const auto& target = redirection.target;
        if (!redirection.writes || target.text == "/dev/null") return {};
        if (target.unknown || target.globs || target.tilde) return refused(rules_, "writing to a file");
        return permit_write(target.text);
    }

    /// The words without a `timeout 60`, `time` or `nice` before them; none if that is not all that it is.
    static Words without_wrapper(Words words) {
        const auto drop = [&](std::size_t n) {
            words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(n, words.size())));
        };
        const auto name = words.front().text;
        if (name != "timeout" && name != "time" && name != "nice") return words;
        drop(1);
        while (!words.empty() && words.front().text.starts_with('-')) {
            const auto& option = words.front().text;
            if (name == "time" && option != "-p") return {};  // its -o writes a file
            drop(option == "-k" || option == "-s" || option == "-n" ? 2 : 1);
        }
        if (name == "timeout") drop(1);
        return words;
    }

    bool is_check(const Words& words) const {
        return std::any_of(rules_.checks.begin(), rules_.checks.end(), [&](const auto& check) {
            return std::equal(
                words.begin(), words.end(), check.begin(), check.end(),
                [](const auto& word, const auto& text) { return !word.unknown && !word.globs && word.text == text; });
        });
    }

    Result<void> permit_words(Words words, const std::string& input) {
        std::string told;
        for (const auto& word : words) told += (told.empty() ? "" : " ") + shell_word(word.text);
        words = without_wrapper(std::move(words));
        if (words.empty() || words.front().unknown || words.front().globs) return refused(rules_, told);
        const auto name = words.front().text;
        if (name == "cd" && words.size() == 2 && !words[1].unknown && !words[1].globs && !words[1].tilde &&
            words[1].text != "-") {
            return go_to(words[1].text);
        }
        if (name == "apply_patch" && words.size() <= 2 && !words.back().unknown) {
            return permit_patch(words.size() == 2 ? words[1].text : input);
        }
        if (name == "tee") return permit_tee(words);
        if (name == "git") TRY(permit_git_folders(words));
        if (is_permitted_orange(words) || is_check(words) || only_reads(words)) return {};
        return refused(rules_, told);
    }

    Result<void> permit_tee(const Words& words) {
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i].text == "-a") continue;
            TRY(permit_redirection({true, words[i]}));
        }
        return {};
    }

    Result<void> permit_git_folders(const Words& words) {
        for (std::size_t i = 1; i + 1 < words.size(); ++i) {
            if (words[i].text != "-C") continue;
            if (words[i + 1].unknown || words[i + 1].globs || words[i + 1].tilde) return refused(rules_, "git -C");
            const auto to = real(folder_ / words[i + 1].text);
            if (!is_inside(to)) return refused(rules_, to.string() + " is not in the worktree");
        }
        return {};
    }

    const ReviewRules& rules_;
    fs::path folder_;
};

std::string text_in(const Json& input, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        if (input.contains(key) && input.at(key).is_string()) return input.at(key).get<std::string>();
    }
    return {};
}

/// The command of a shell tool: a text, or a list such as [bash, -lc, text].
Result<std::string> command_in(const Json& input) {
    for (const char* key : {"command", "cmd"}) {
        if (!input.contains(key)) continue;
        const auto& command = input.at(key);
        if (command.is_string()) return command.get<std::string>();
        std::vector<std::string> words;
        if (!command.is_array()) break;
        for (const auto& word : command) words.push_back(word.is_string() ? word.get<std::string>() : "");
        if (words.size() == 3 && (words[1] == "-c" || words[1] == "-lc")) return words[2];
        std::string line;
        for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
        return line;
    }
    return Error(ErrorCode::forbidden, "not permitted: a call without a command");
}

Result<void> permit_line(const ReviewRules& rules, std::string_view command, const std::string& folder) {
    CommandLine line(rules);
    if (!folder.empty()) TRY(line.go_to(folder));
    if (command.starts_with("*** Begin Patch")) return line.permit_patch(command);
    const auto parsed = parse_shell_line(command);
    if (!parsed) return refused(rules, parsed.error().message);
    for (const auto& each : *parsed) TRY(line.permit(each));
    return {};
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<void> permit_command(const ReviewRules& rules, std::string_view command) {
    return permit_line(rules, command, {});
}

Result<void> permit_call(const ReviewRules& rules, std::string_view call) {
    const auto json = Json::parse(call, nullptr, false);
    if (!json.is_object() || !json.contains("tool_input") || !json.at("tool_input").is_object()) {
        return Error(ErrorCode::forbidden, "not permitted: this is not the call of a tool");
    }
    const auto& input = json.at("tool_input");
    const auto tool = to_lower(text_in(json, {"tool_name"}));
    if (is_one_of(tool, {"bash", "shell", "shell_command", "exec_command", "local_shell", "run_shell_command"})) {
        TRY(const auto command, command_in(input));
        return permit_line(rules, command, text_in(input, {"workdir", "cwd"}));
    }
    if (is_one_of(tool, {"edit", "multiedit", "write"})) {
        const auto file = text_in(input, {"file_path", "filePath", "path"});
        return CommandLine(rules).permit_write(file);
    }
    if (tool == "apply_patch")
        return CommandLine(rules).permit_patch(text_in(input, {"command", "input", "patchText"}));
    if (is_one_of(tool, {"read", "grep", "glob", "find", "ls", "list", "view_image", "update_plan", "todowrite"})) {
        return {};
    }
    return refused(rules, "the tool " + tool);
}

int answer_hook(const char* spec_file) {
    const std::string call{std::istreambuf_iterator<char>(std::cin), {}};
    const auto spec = read_spec(spec_file);
    Result<void> permitted = spec ? Result<void>{} : Result<void>(spec.error());
    if (spec && spec->review) permitted = permit_call(*spec->review, call);
    if (permitted) return 0;
    std::fprintf(stderr, "%s\n", printable(permitted.error().message).c_str());
    return k_refused;
}

}  // namespace orange::shim
