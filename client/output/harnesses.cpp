#include "client/output/harnesses.hpp"

#include <algorithm>
#include <map>

#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

/// Returns "2.1.401 (measured with 2.1.332)": a newer program may show other texts than its definition names.
std::string version_text(const rpc::HarnessView& harness) {
    const auto version = harness.version.value_or("");
    if (version.empty() || !harness.measured || *harness.measured == version) return version;
    return version + " (measured with " + *harness.measured + ")";
}

void remarks(Table& table, const rpc::HarnessView& harness) {
    const bool broken = harness.problem && harness.missing.empty();
    const std::string problem = broken ? *harness.problem : std::string{};  // outlives its lines
    for (const auto line : split_lines(problem)) {
        table.remark("! " + std::string(line), k_yellow);
    }
    if (!harness.tried) table.remark("not tried yet with a whole task", k_dim);
    if (harness.found_in) table.remark("in the PATH of " + *harness.found_in, k_dim);
    if (!harness.installed && harness.install) return table.remark("→ " + *harness.install, k_yellow);
    for (const auto& missing : harness.missing) {
        const auto text = "! " + missing;
        for (const auto line : split_lines(text)) table.remark(std::string(line), k_yellow);
    }
}

constexpr const char* k_reload =
    "If a program is missing here but starts in your terminal, run in that terminal:\n  orange daemon reload\n";

/// Returns where Orange searched for missing programs, and what to do if one is installed nevertheless.
std::string searched_text(const std::string& searched, const Style& style) {
    if (searched.empty()) return {};
    return "\n" + wrapped("Orange looks for programs in the " + printable(searched) + ".", "", style.width) + k_reload;
}

/// Returns a word as it can be typed: in single quotes if it has other than plain characters.
std::string quoted(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return (c < 128 && std::isalnum(c) != 0) ||
               std::string_view("-_=./,:{}").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string words_text(const std::map<std::string, std::string>& words, const Style& style) {
    if (words.empty()) return {};
    std::size_t widest = 0;
    for (const auto& [word, effect] : words) widest = std::max(widest, columns(printable(word)));
    std::string out = "\nWords in a task's summary or context that control it:\n";
    for (const auto& [word, effect] : words) {
        const auto shown = printable(word);
        auto lines = wrapped(printable(effect), std::string(widest + 4, ' '), style.width);
        out += "  " + style.paint(shown, k_bold) + lines.substr(2 + columns(shown));
    }
    return out;
}

}  // namespace

std::string command_words(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : " ") + printable(quoted(word));
    return line;
}

std::string harnesses_page(const rpc::HarnessList::Reply& reply, const Style& style) {
    Table table({{"HARNESS", 10}, {"INSTALLED"}, {"VERSION", 8, 1}, {"PROGRAM", 10, 2}});
    for (const auto& harness : reply.harnesses) {
        table.row({{harness.name, k_bold},
                   {harness.installed ? "yes" : "no", harness.installed ? k_green : k_dim},
                   {version_text(harness)},
                   {harness.program}});
        remarks(table, harness);
    }
    if (table.empty()) return "No harnesses.\n";
    const bool all = std::all_of(reply.harnesses.begin(), reply.harnesses.end(),
                                 [](const auto& harness) { return harness.installed; });
    if (all) return table.render(style);
    return table.render(style) + "\n" + k_reload;
}

std::string harness_page(const rpc::HarnessShow::Reply& reply, const Style& style) {
    const auto& harness = reply.harness;
    std::string out = style.paint(printable(harness.name), k_bold) + "  " + printable(harness.path) + "\n";
    out += wrapped(printable(harness.program) + (harness.version ? " " + printable(version_text(harness)) : "") + ", " +
                       printable(harness.mode) + (harness.installed ? "" : ", not installed") +
                       (harness.tried ? "" : ", not tried"),
                   "  ", style.width);
    if (harness.found_in) out += wrapped("in the PATH of " + printable(*harness.found_in), "  ", style.width);
    for (const auto& missing : harness.missing) {
        out += notes_text({"! " + missing}, style);
    }
    for (const char* permissions : {"full", "reduced", "review"}) {
        const auto uses = reply.uses.find(permissions);
        const auto argv = uses == reply.uses.end() ? reply.argv.end() : reply.argv.find(uses->second);
        if (argv == reply.argv.end()) continue;
        const auto line = command_words(argv->second);
        out += "\n" + std::string(permissions) +
               (uses->second == permissions ? "" : " (same as " + printable(uses->second) + ")") + "\n" +
               wrapped(line, "  ", style.width);
    }
    out += "\n";
    if (reply.effort) {
        out += wrapped(
            "effort: " + (reply.effort_values.empty() ? "any word" : printable(join(reply.effort_values, ", "))), "  ",
            style.width);
    }
    if (reply.model) {
        const auto& models = harness.models;
        out += wrapped("model: " + (models.empty() ? "as the program names it"
                                                   : printable(join(models, ", ")) + ", or another one of the program"),
                       "  ", style.width);
    }
    if (!reply.wants.empty()) {
        out += wrapped("variables that it may need: " + printable(join(reply.wants, ", ")), "  ", style.width);
    }
    if (reply.trust_file) out += wrapped("trust: stored in " + printable(*reply.trust_file), "  ", style.width);
    if (!reply.trust_args.empty()) {
        out += wrapped("trust: with your consent, Orange passes " + command_words(reply.trust_args), "  ", style.width);
    }
    if (reply.root_needs)
        out += wrapped("as root: needs the variable " + printable(*reply.root_needs), "  ", style.width);
    if (reply.messages == "none" && harness.mode != "oneshot")
        out += wrapped("messages: its definition has no prompt, so you type them in its window", "  ", style.width);
    if (reply.permits == "both")
        out += wrapped("permits: you answer what it asks in its window, or with orange allow", "  ", style.width);
    if (reply.permits == "either")
        out +=
            wrapped("permits: it asks in its window, or, with the setting permits: inbox, only you with orange allow",
                    "  ", style.width);
    out += words_text(reply.words, style);
    if (!harness.installed) out += searched_text(reply.searched, style);
    return out;
}

namespace {

std::string told_text(const AgentActivity& told) {
    return name_text(told.activity) + (told.source.empty() ? "" : " (source: " + printable(told.source) + ")");
}

}  // namespace

namespace {

/// Returns the numbers of an agent and the files that they are from; empty if its definition does not name any.
std::string usage_part(const std::optional<rpc::UsageReading>& usage, const Style& style) {
    if (!usage) return {};
    auto out = "\n" + wrapped("tokens: " + usage_reading_text(*usage), "  ", style.width);
    if (usage->files.empty()) return out + wrapped("No file that its definition names is there.", "  ", style.width);
    Table table({{"READ"}, {"OF BYTES"}, {"RECORDS"}, {"FILE", 20}});
    for (const auto& file : usage->files) {
        table.row({{std::to_string(file.offset), k_plain},
                   {std::to_string(file.size), k_plain},
                   {std::to_string(file.records), k_plain},
                   {file.path, k_plain}});
    }
    return out + table.render(style);
}

}  // namespace

std::string usage_reading_text(const rpc::UsageReading& usage) {
    if (!usage.is_told) return "– (its program has told nothing)";
    const auto& sum = usage.sum;
    auto text = tokens_text(sum.counted) + (sum.doubtful > 0 ? "?" : "") + ": " + tokens_text(sum.tokens.input) +
                " in, " + tokens_text(sum.tokens.cache_write) + " written to caches, " +
                tokens_text(sum.tokens.output) + " out; " + tokens_text(sum.tokens.cache_read) + " from caches; " +
                std::to_string(sum.tokens.requests) + (sum.tokens.requests == 1 ? " request" : " requests");
    if (!usage.models.empty()) text += " to " + printable(join(usage.models, ", "));
    if (usage.window) text += "; " + std::to_string(usage.window->percent) + " % of its window used";
    return text;
}

std::string explanation_page(const rpc::HarnessExplain::Reply& reply, const Style& style) {
    const auto& reading = reply.reading;
    auto out = style.paint(printable(reply.harness), k_bold) +
               (reply.measured ? " (measured with " + printable(*reply.measured) + ")" : "") + ": " +
               style.paint(told_text(reading), k_bold) + "\n";
    if (!reading.text.empty()) out += wrapped("line: " + printable(reading.text), "  ", style.width);
    if (!reply.title.empty()) out += wrapped("title: " + printable(reply.title), "  ", style.width);
    if (reply.told && reply.told->activity != reading.activity) {
        out += wrapped("Orange last saw: " + told_text(*reply.told), "  ", style.width);
    }
    for (const auto& each : reply.news) {
        if (each.seen) continue;
        out += wrapped("Orange would miss above this prompt: " + printable(each.text), "  ", style.width);
    }
    Table table({{"KEY"}, {"TEXT", 20}, {"FOUND IN", 10}});
    for (const auto& each : reply.texts) {
        const auto look = each.decides ? k_green : each.line ? k_plain : k_dim;
        table.row({{each.key, look}, {each.text, look}, {each.line.value_or("-"), look}});
        if (each.decides) table.remark("↑ this decides", k_green);
    }
    out += table.empty() ? "The definition names no texts.\n" : "\n" + table.render(style);
    return out + usage_part(reply.usage, style);
}

std::string trust_page(const rpc::HarnessTrust::Reply& reply, const Style& style) {
    const auto name = printable(reply.harness), repository = printable(reply.repository);
    if (reply.trusted && !reply.recorded) {
        return reply.text ? "you have already agreed to " + name + " of " + repository + "\n"
                          : name + " already trusts " + repository + "\n";
    }
    const auto fitted = [&](const std::string& text) { return wrapped(text, "", style.width); };
    if (reply.text && reply.harness == "core.sshCommand") {
        return fitted("If you agree, Orange's git runs core.sshCommand of " + repository +
                      " to reach its remotes, as you. If its value changes, it is not used until you agree again.") +
               "\n" + style.paint(printable(*reply.text, true), k_green) + "\n";
    }
    if (reply.text) {
        return fitted("If you agree, Orange runs " + name + " of " + repository +
                      " in the worktrees of its tasks, as you. If its text changes, you are asked again.") +
               "\n" + style.paint(printable(*reply.text, true), k_green) + "\n";
    }
    const auto out = fitted("If " + name + " trusts " + repository +
                            ", it runs what the repository configures for it, in all its worktrees.");
    if (!reply.file) return out + "With your consent, Orange starts it with:\n  " + command_words(reply.args) + "\n";
    return out +
           fitted(name + " reads its trust from " + printable(*reply.file) +
                  ", which Orange does not change. Add these lines to that file:") +
           "\n" + style.paint(printable(reply.lines.value_or(""), true), k_green) + "\n" +
           fitted("You can also start " + name + " once in " + repository + " and answer its question.");
}

}  // namespace orange::output
