#include "client/arguments/completion.hpp"

#include <algorithm>
#include <set>

#include "client/arguments/catalog.hpp"
#include "client/commands/completion.hpp"
#include "common/base/text.hpp"
#include "common/model/settings.hpp"

namespace orange::arguments {
namespace {

using commands::Candidate;
using commands::Names;
using Words = std::vector<std::string>;

constexpr const char* k_files = ":files";  // the shell completes paths

struct Values {
    const char* group;  ///< empty: any group
    const char* name;   ///< of an option or a positional
    std::optional<Names> known;
    const char* fixed;                            ///< words, separated by blanks
    std::vector<std::string> (*all)() = nullptr;  ///< returns words of a table
    bool is_list = false;                         ///< several values in one word, separated by commas
};
constexpr Values k_values[] = {
    {"", "ID", Names::tasks, ""},
    {"", "WORDS", Names::tasks, ""},  // [ID] TEXT
    {"", "REQUEST", Names::requests, ""},
    {"", "--task", Names::tasks, ""},
    {"", "--any", Names::tasks, ""},
    {"", "--blocked-by", Names::tasks, ""},
    {"", "--on", Names::tasks, ""},
    {"", "ATTEMPT", Names::attempts, ""},
    {"", "--diff", Names::attempts, ""},
    {"", "--parent", Names::tasks, ""},
    {"", "--unblock", Names::tasks, ""},
    {"", "--project", Names::projects, ""},
    {"", "PROJECT", Names::projects, ""},
    {"project", "NAME", Names::projects, ""},
    {"host", "NAME", Names::hosts, ""},
    {"workflow", "NAME", Names::workflows, ""},
    {"harness", "NAME", Names::harnesses, ""},
    {"harness", "--from", Names::harnesses, ""},
    {"harness", "TASK", Names::tasks, ""},
    {"harness", "--save", std::nullopt, k_files},
    {"executor", "NAME", Names::executors, ""},
    {"", "--executor", Names::executors, ""},
    {"", "--workflow", Names::workflows, ""},
    {"", "--harness", Names::harnesses, ""},
    {"", "--review-harness", Names::harnesses, ""},
    {"", "--attempts", Names::harnesses, "", nullptr, true},
    {"", "--model", Names::models, ""},
    {"", "--review-model", Names::models, ""},
    {"", "--status", Names::statuses, ""},
    {"", "--for", Names::statuses, "ended attention human"},
    {"", "--by", std::nullopt, "task role project harness model day"},
    {"", "--role", std::nullopt, "worker reviewer"},
    {"", "--set", std::nullopt, "", setting_words},
    {"", "--unset", std::nullopt, "", setting_names},
    {"", "--strategy", std::nullopt, "merge ff squash"},
    {"", "--level", std::nullopt, "debug info warn error"},
    {"", "--in", std::nullopt, "tasks reviews logs all"},
    {"", "--permissions", std::nullopt, "full reduced"},
    {"", "--permits", std::nullopt, "window inbox"},
    {"workflow", "--format", std::nullopt, "text mermaid dot"},
    {"", "SHELL", std::nullopt, "bash zsh fish"},
    {"", "PATH", std::nullopt, k_files},
    {"", "FILE", std::nullopt, k_files},
    {"", "--from-file", std::nullopt, k_files},
    {"", "--file", std::nullopt, k_files},
};

bool is_of_tasks(const Values& values) {
    return values.known == Names::tasks || values.known == Names::requests;
}

std::string name_of(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name(true);
    const auto& names = option.get_lnames();
    return names.empty() ? option.get_name() : "--" + names.front();
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

class Completion {
  public:
    Completion(const Context& context, Words words) : context_(context) {
        for (std::size_t i = 0; i < words.size(); ++i) add_before(words[i], i + 1 == words.size());
        if (before_.empty()) before_.emplace_back();
        current_ = before_.back();
        before_.pop_back();
    }

    std::vector<Candidate> candidates() {
        if (take_host()) {
            for (const auto& host : commands::known_names(context_.paths, Names::hosts, {})) {
                add_word(given_ + host.word, host.description);
            }
            return std::move(found_);
        }
        const bool helps = !before_.empty() && before_.front() == "help";
        if (helps) before_.erase(before_.begin());
        if (before_.empty()) {
            add_commands("");
            if (!helps) add_word("help", "Show help");
        } else if (before_.size() == 1 && is_group(before_.front())) {
            add_commands(before_.front());
        } else if (!helps) {
            add_arguments();
        }
        return std::move(found_);
    }

  private:
    /// Removes --json and --host from the beginning; returns true if the word to complete is the host's name.
    bool take_host() {
        constexpr std::string_view k_option = "--host";
        while (!before_.empty()) {
            const auto& word = before_.front();
            const bool is_option = word == k_option;
            if (is_option && before_.size() == 1) return true;
            if (is_option) host_ = before_[1];
            if (word.starts_with("--host=")) host_ = word.substr(7);
            if (word != "--json" && !is_option && !word.starts_with("--host=")) return false;
            before_.erase(before_.begin(), before_.begin() + (is_option ? 2 : 1));
        }
        if (current_.starts_with("--host=")) {
            given_ = "--host=";
            return true;
        }
        if (current_.starts_with('-')) add_word(std::string(k_option), "Run the command on another machine of yours");
        return false;
    }

    /// Adds a word before the one to complete. bash splits words at the "=" of --status=done and --set push=false, and
    /// at the ":" of box:4f2a, so such words are joined again.
    void add_before(const std::string& word, bool last) {
        const bool splits = (word == "=" || word == ":") && !before_.empty();
        if (joins_) {
            joins_ = false;
            before_.back() += word;
        } else if (splits && !before_.back().starts_with('-')) {
            before_.back() += word;
            joins_ = !last;
        } else if (!splits || last) {
            before_.push_back(splits ? "" : word);
            return;
        } else {
            return;
        }
        if (last) given_ = before_.back().substr(0, before_.back().find_first_of("=:") + 1);
    }

    void add_word(const std::string& word, const std::string& description) {
        const auto is_plain = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   std::string_view("._/+@=:,-").find(c) != std::string_view::npos;
        };
        // A name may come from a repository, and shells insert it into the command line unquoted.
        const bool safe = std::all_of(word.begin(), word.end(), is_plain);
        if (!safe || !word.starts_with(current_) || !seen_.insert(word).second) return;
        found_.push_back({word.substr(given_.size()), description});
    }

    /// Without a group also those of the group task, which can be omitted.
    void add_commands(std::string_view group) {
        for (const auto* command : all_commands()) {
            if (command->hidden) continue;
            if (command->group == group) add_word(command->name, command->summary);
            if (group.empty() && *command->group) {
                add_word(command->group, "Commands about a " + std::string(command->group));
            }
        }
        if (group.empty()) add_commands("task");
    }

    void add_arguments() {
        add_task_group(before_);
        const auto* command = find_command("", before_.front());
        std::size_t begin = 1;
        if (!command && before_.size() > 1) {
            command = find_command(before_.front(), before_[1]);
            begin = 2;
        }
        if (!command) return;
        group_ = command->group;
        CLI::App app;
        bool json = false;
        app.add_flag("--json", json, "Print the reply as one line of JSON");
        const auto action = command->build(app);
        CLI::Option* open = nullptr;  // the option whose value comes next
        int values_left = 0;          // how many of them
        std::size_t positionals = 0;
        bool only_positionals = false;
        for (auto word = before_.begin() + static_cast<std::ptrdiff_t>(begin); word != before_.end(); ++word) {
            if (open) {
                if (--values_left == 0) open = nullptr;
            } else if (!only_positionals && *word == "--") {
                only_positionals = true;
            } else if (!only_positionals && word->starts_with('-') && word->size() > 1) {
                auto* option = app.get_option_no_throw(word->substr(0, word->find('=')));
                const bool has_value = word->find('=') != std::string::npos;
                if (option && takes_value(*option) && !has_value) open = option;
                values_left = open ? std::max(1, open->get_items_expected_min()) : 0;
            } else {
                if (++positionals == 1) task_ = *word;
            }
        }
        if (open) return add_values(name_of(*open), {});
        if (!only_positionals && current_.starts_with('-')) return add_options(app);
        const auto all = app.get_options([](const CLI::Option* option) { return option->get_positional(); });
        // `orange log 4f2a` is the log of a task.
        if (all.empty() && find_command("task", before_.front()) != nullptr) return add_values("ID", {});
        if (all.empty() || (positionals >= all.size() && all.back()->get_items_expected_max() <= 1)) return;
        const auto name = name_of(*all[std::min(positionals, all.size() - 1)]);
        // The first word of a text may be a task, further ones may not.
        if (name != "WORDS" || positionals == 0) add_values(name, {});
    }

    void add_options(const CLI::App& app) {
        const auto equals = current_.find('=');
        if (equals != std::string::npos) {
            const auto* option = app.get_option_no_throw(current_.substr(0, equals));
            if (option && takes_value(*option)) add_values(name_of(*option), current_.substr(0, equals + 1));
            return;
        }
        for (const auto* option : app.get_options()) {
            if (option->get_group().empty()) continue;  // hidden
            for (const auto& name : option->get_lnames()) add_word("--" + name, option->get_description());
        }
    }

    void add_values(const std::string& name, std::string prefix) {
        for (const auto& values : k_values) {
            if (values.name != name || (*values.group && values.group != group_)) continue;
            if (values.fixed == std::string_view(k_files)) found_.push_back({k_files, {}});
            if (is_of_tasks(values) && add_tasks_of_host(prefix)) return;
            if (values.known == Names::attempts && host_.empty()) {
                for (const auto& known : commands::known_attempts(context_.paths, task_)) {
                    add_word(prefix + known.word, known.description);
                }
                return;
            }
            if (const auto comma = current_.rfind(','); values.is_list && comma != std::string::npos) {
                prefix = current_.substr(0, comma + 1);
            }
            if (values.known && host_.empty()) {
                const auto begun = std::string_view(current_).substr(prefix.size());
                for (const auto& known : commands::known_names(context_.paths, *values.known, begun)) {
                    add_word(prefix + known.word, known.description);
                }
            }
            if (values.all) {
                for (const auto& word : values.all()) add_word(prefix + word, {});
            }
            for (const auto word : split(values.fixed, ' ')) {
                if (!word.empty() && word != k_files) add_word(prefix + std::string(word), {});
            }
            return;
        }
    }

    /// Adds the tasks of --host, or of the host in `box:4f2a`; false if the tasks of this machine are meant.
    bool add_tasks_of_host(const std::string& prefix) {
        const auto colon = current_.find(':', prefix.size());
        if (colon == std::string::npos && host_.empty()) return false;
        const bool named = colon != std::string::npos;
        const auto host = named ? current_.substr(prefix.size(), colon - prefix.size()) : host_;
        for (const auto& task : commands::known_tasks_of(context_.paths, host)) {
            add_word(prefix + (named ? host + ":" : "") + task.word, task.description);
        }
        return true;
    }

    const Context& context_;
    std::string host_;  ///< the value of --host
    Words before_;
    std::string current_;
    std::string given_;   ///< the beginning of `current_` that the shell keeps
    bool joins_ = false;  ///< the next word is part of the last one
    std::string group_;
    std::string task_;  ///< the first word of the command that is no option
    std::set<std::string> seen_;
    std::vector<Candidate> found_;
};

Action completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
    app.footer(
        "Completes commands, options, tasks, branches, projects, workflows, harnesses, models and statuses.\n"
        "An installation puts the scripts where these shells look for them. Otherwise:\n"
        "  bash:  source <(orange completion bash)            in ~/.bashrc\n"
        "  zsh:   source <(orange completion zsh)             in ~/.zshrc, after compinit\n"
        "  fish:  orange completion fish | source             in ~/.config/fish/config.fish");
    return [shell](Context& context) { return commands::print_completion_script(context, *shell); };
}

/// Prints nothing on a failure, because shells show no errors here.
Action complete(CLI::App& app) {
    auto words = std::make_shared<Words>();
    app.add_option("WORDS", *words, "The words behind orange, up to the one to complete");
    return [words](Context& context) { return commands::print_candidates(Completion(context, *words).candidates()); };
}

constexpr Command k_completion_commands[] = {
    {"", "completion", "Print a script that completes commands for your shell", completion},
    {"", "complete", "Print what can come next in a command line", complete, true},
};

}  // namespace

bool names_tasks(std::string_view group, const CLI::Option& option) {
    const auto name = name_of(option);
    return std::ranges::any_of(k_values, [&](const Values& values) {
        return is_of_tasks(values) && values.name == name && (!*values.group || values.group == group);
    });
}

std::span<const Command> completion_commands() {
    return k_completion_commands;
}

}  // namespace orange::arguments
