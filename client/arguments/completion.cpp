#include "client/arguments/completion.hpp"

#include <algorithm>
#include <set>

#include "client/arguments/catalog.hpp"
#include "client/commands/completion.hpp"
#include "common/base/text.hpp"

namespace orange::arguments {
namespace {

using commands::Candidate;
using commands::Known;
using Words = std::vector<std::string>;

constexpr const char* k_files = ":files";  // the shell's own completion of paths

struct Values {
    const char* group;  ///< empty: of any
    const char* name;   ///< of an option or a positional
    std::optional<Known> known;
    const char* fixed;  ///< words between blanks
};
constexpr Values k_values[] = {
    {"", "ID", Known::tasks, ""},
    {"", "WORDS", Known::tasks, ""},  // [ID] TEXT
    {"", "--task", Known::tasks, ""},
    {"", "--project", Known::projects, ""},
    {"", "PROJECT", Known::projects, ""},
    {"project", "NAME", Known::projects, ""},
    {"workflow", "NAME", Known::workflows, ""},
    {"harness", "NAME", Known::harnesses, ""},
    {"", "--workflow", Known::workflows, ""},
    {"", "--harness", Known::harnesses, ""},
    {"", "--review-harness", Known::harnesses, ""},
    {"", "--status", Known::statuses, ""},
    {"", "--for", Known::statuses, "ended attention human"},
    {"", "--role", std::nullopt, "worker reviewer"},
    {"", "--strategy", std::nullopt, "merge ff squash"},
    {"", "--level", std::nullopt, "debug info warn error"},
    {"workflow", "--format", std::nullopt, "text mermaid dot"},
    {"", "SHELL", std::nullopt, "bash zsh fish"},
    {"", "PATH", std::nullopt, k_files},
    {"", "FILE", std::nullopt, k_files},
};

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
        // bash makes words of their own of the "=" in --status=done.
        std::erase_if(words, [&](const std::string& word) { return word == "=" && &word != &words.back(); });
        if (words.empty()) words.emplace_back();
        current_ = words.back() == "=" ? "" : words.back();
        words.pop_back();
        before_ = std::move(words);
    }

    std::vector<Candidate> candidates() {
        while (!before_.empty() && before_.front() == "--json") before_.erase(before_.begin());
        const bool helps = !before_.empty() && before_.front() == "help";
        if (helps) before_.erase(before_.begin());
        if (before_.empty()) {
            add_commands("");
            if (!helps) add_word("help", "How to use it");
        } else if (before_.size() == 1 && is_group(before_.front())) {
            add_commands(before_.front());
        } else if (!helps) {
            add_arguments();
        }
        return std::move(found_);
    }

  private:
    void add_word(const std::string& word, const std::string& description) {
        const auto is_plain = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   std::string_view("._/+@=:-").find(c) != std::string_view::npos;
        };
        // A name may come from a repository, and shells put it into the line as it is.
        const bool safe = std::all_of(word.begin(), word.end(), is_plain);
        if (safe && word.starts_with(current_) && seen_.insert(word).second) found_.push_back({word, description});
    }

    void add_commands(std::string_view group) {
        for (const auto* command : all_commands()) {
            if (command->hidden) continue;
            if (command->group == group) add_word(command->name, command->summary);
            if (group.empty() && *command->group) {
                add_word(command->group, "Commands about a " + std::string(command->group));
            }
        }
    }

    void add_arguments() {
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
        app.add_flag("--json", json, "The reply as JSON, one line");
        const auto action = command->build(app);
        CLI::Option* open = nullptr;  // an option whose value comes next
        std::size_t positionals = 0;
        bool only_positionals = false;
        for (auto word = before_.begin() + static_cast<std::ptrdiff_t>(begin); word != before_.end(); ++word) {
            if (open) {
                open = nullptr;
            } else if (!only_positionals && *word == "--") {
                only_positionals = true;
            } else if (!only_positionals && word->starts_with('-') && word->size() > 1) {
                auto* option = app.get_option_no_throw(word->substr(0, word->find('=')));
                const bool has_value = word->find('=') != std::string::npos;
                if (option && takes_value(*option) && !has_value) open = option;
            } else {
                ++positionals;
            }
        }
        if (open) return add_values(name_of(*open), {});
        if (!only_positionals && current_.starts_with('-')) return add_options(app);
        const auto all = app.get_options([](const CLI::Option* option) { return option->get_positional(); });
        if (all.empty() || (positionals >= all.size() && all.back()->get_items_expected_max() <= 1)) return;
        const auto name = name_of(*all[std::min(positionals, all.size() - 1)]);
        // Of a text only the first word may be a task.
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
            for (const auto& name : option->get_lnames()) add_word("--" + name, option->get_description());
        }
    }

    void add_values(const std::string& name, const std::string& prefix) {
        for (const auto& values : k_values) {
            if (values.name != name || (*values.group && values.group != group_)) continue;
            if (values.fixed == std::string_view(k_files)) found_.push_back({k_files, {}});
            if (values.known) {
                const auto begun = std::string_view(current_).substr(prefix.size());
                for (const auto& known : commands::known_names(context_.paths, *values.known, begun)) {
                    add_word(prefix + known.word, known.description);
                }
            }
            for (const auto word : split(values.fixed, ' ')) {
                if (!word.empty() && word != k_files) add_word(prefix + std::string(word), {});
            }
            return;
        }
    }

    const Context& context_;
    Words before_;
    std::string current_;
    std::string group_;
    std::set<std::string> seen_;
    std::vector<Candidate> found_;
};

Action completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    app.footer(
        "Completes commands, options, tasks, branches, projects, workflows, harnesses and statuses.\n"
        "An installed Orange has it where these shells look. Otherwise:\n"
        "  bash:  source <(orange completion bash)            in ~/.bashrc\n"
        "  zsh:   source <(orange completion zsh)             in ~/.zshrc, after compinit\n"
        "  fish:  orange completion fish | source             in ~/.config/fish/config.fish");
    return [shell](Context& context) { return commands::print_completion_script(context, *shell); };
}

/// It never fails: the shell shows no errors here.
Action complete(CLI::App& app) {
    auto words = std::make_shared<Words>();
    app.add_option("WORDS", *words, "The words behind orange, up to the one to complete");
    return [words](Context& context) { return commands::print_candidates(Completion(context, *words).candidates()); };
}

constexpr Command k_completion_commands[] = {
    {"", "completion", "Print a script that completes commands for your shell", completion},
    {"", "complete", "What may come next in a command line", complete, true},
};

}  // namespace

std::span<const Command> completion_commands() {
    return k_completion_commands;
}

}  // namespace orange::arguments
