// The command line of `orange`: finds the command and runs its parser. arguments/ has the options, commands/ the
// actions.
//
// Only the parser of the called command is built. So the program starts within a fraction of a millisecond, and a
// summary such as in `orange task create list` is never read as the name of another command.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "client/arguments/catalog.hpp"
#include "client/arguments/host.hpp"
#include "client/commands/dashboard.hpp"
#include "client/commands/host.hpp"
#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"
#include "client/output/terminal.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/errors.hpp"

namespace orange {
namespace {

using arguments::Command;
using arguments::Place;
using commands::Context;
using commands::Status;

constexpr int k_usage_error = 2;

/// `corrections` are whole command lines that may have been meant.
int usage_error(const std::string& problem, const std::string& help, bool json,
                const std::vector<std::string>& corrections = {}) {
    if (json) {
        Error error(ErrorCode::invalid_argument, problem, {{"help", help}});
        if (corrections.size() == 1) error.details["command"] = corrections.front();
        commands::put_json({{"error", rpc::error_json(error)}});
        return k_usage_error;
    }
    const auto* question = corrections.empty()       ? ""
                           : corrections.size() == 1 ? "; did you mean this?"
                                                     : "; did you mean one of these?";
    commands::fail(false, {ErrorCode::invalid_argument,
                           problem + question + "\n  " + (corrections.empty() ? help : join(corrections, "\n  "))});
    return k_usage_error;
}

int put_help(const std::string& page, bool json) {
    if (json) return commands::put_json({{"help", page}});
    output::put(page);
    return 0;
}

bool asks_for_json(const std::vector<std::string>& words) {
    const auto end = std::ranges::find(words, "--");
    return std::find(words.begin(), end, "--json") != end;
}

/// Adds the words to a command line, quoted for a shell. A line that a terminal does not show as it is cannot be copied
/// and becomes empty.
std::string with_words(std::string line, const std::vector<std::string>& words, bool json) {
    if (json && !asks_for_json(words)) line += " --json";
    for (const auto& word : words) line += " " + shell_word(word);
    return printable(line) == line ? line : "";
}

/// The option of the command that is called so elsewhere; empty if there is none.
std::string synonym_of(const std::string& name, const std::vector<std::string>& known) {
    constexpr std::pair<const char*, const char*> k_synonyms[] = {
        {"--description", "--summary"}, {"--description", "--context"}, {"--title", "--summary"}};
    for (const auto& [other, own] : k_synonyms) {
        if (name == other && std::ranges::find(known, own) != known.end()) return own;
    }
    return {};
}

/// The option that may have been meant by one that the command does not have.
std::string similar_option(const CLI::App& app, const std::string& name) {
    std::vector<std::string> known;
    for (const auto* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        for (const auto& each : option->get_lnames()) known.push_back("--" + each);
    }
    const auto synonym = synonym_of(name, known);
    return synonym.empty() ? nearest(name, known).value_or("") : synonym;
}

/// Names the first option that the command does not have, or else the first word too many. `words` were parsed.
int refuse_extras(const CLI::App& app, const std::string& name, std::vector<std::string> words, bool json) {
    const auto help = name + " --help";
    const auto extras = app.remaining();
    const auto extra = std::ranges::find_if(extras, [](const auto& word) { return word.starts_with('-'); });
    if (extra == extras.end()) return usage_error("unexpected argument \"" + extras.front() + "\"", help, json);
    const auto option = extra->substr(0, extra->find('='));
    if (option == "--host") {
        return usage_error("--host stands before the command: orange --host NAME COMMAND", help, json);
    }
    std::vector<std::string> corrections;
    const auto meant = similar_option(app, option);
    const auto wrong = std::ranges::find(words, *extra);
    if (!meant.empty() && wrong != words.end()) {
        wrong->replace(0, option.size(), meant);
        if (auto line = with_words(name, words, json); !line.empty()) corrections.push_back(std::move(line));
    }
    return usage_error("unknown option " + option, help, json, corrections);
}

/// Returns a message for people: CLI11 names C++ types.
std::string problem_of(const CLI::ParseError& error) {
    const std::string said = error.what();
    constexpr std::string_view k_conversion = "Could not convert: ";
    if (const auto at = said.find(" = "); said.starts_with(k_conversion) && at != std::string::npos) {
        auto value = std::string_view(said).substr(at + 3);
        const auto values = split(value, ',');  // of a list CLI11 names all
        const auto is_wrong = [](std::string_view each) { return !whole_number(each); };
        if (const auto wrong = std::ranges::find_if(values, is_wrong); wrong != values.end()) value = *wrong;
        return said.substr(k_conversion.size(), at - k_conversion.size()) + " must be a number, not \"" +
               std::string(value) + "\"";
    }
    const auto colon = said.find(": ");
    if (colon != std::string::npos && said.find(" required ") != std::string::npos && said.ends_with(" missing")) {
        return said.substr(0, colon) + " needs a value";
    }
    if (said.starts_with("--") && said.find(": must be ") == colon)
        return said.substr(0, colon) + said.substr(colon + 1);
    return said == "WORDS is required" ? "TEXT is required" : said;
}

/// Shows positionals as they are typed ("[ID] TEXT"), without a type. The columns are Orange's own: each version of
/// CLI11 has others.
class Page : public CLI::Formatter {
  public:
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        const auto& shown = option->get_option_text();
        return is_positional && !shown.empty() ? shown : CLI::Formatter::make_option_name(option, is_positional);
    }
    std::string make_usage(const CLI::App* app, std::string name) const override {
        for (const auto* option : app->get_options()) {
            if (option->get_option_text() != arguments::k_task_and_lines) continue;
            const auto text = std::string(arguments::k_task_and_lines);
            return "Usage: " + name + " " + text + "\n       " + name + " [ID] OPTION N... [TEXT]\n";
        }
        return CLI::Formatter::make_usage(app, std::move(name));
    }
    std::string make_option_opts(const CLI::Option* option) const override { return arguments::value_text(*option); }
    std::string make_option(const CLI::Option* option, bool is_positional) const override {
        auto text = "  " + make_option_name(option, is_positional);
        if (!is_positional) text += make_option_opts(option);
        const auto column = get_column_width();
        const auto doc = make_option_desc(option);
        if (!doc.empty() && text.size() >= column) text += '\n' + std::string(column, ' ');
        if (text.size() < column) text.resize(column, ' ');
        return text + doc + '\n';
    }
};

/// Wraps help to the width: an option's text continues in its column. Examples are not wrapped.
std::string fitted(const std::string& help) {
    constexpr std::size_t k_column = 28;
    const auto width = output::style_of_stdout().width;
    std::string out;
    for (const auto line : split_lines(help)) {
        const char begin = line.size() > k_column ? line[2] : 'x';
        const bool is_option =
            line.starts_with("  ") && (begin == '-' || begin == ' ' || begin == '[' || (begin >= 'A' && begin <= 'Z'));
        if (line.size() <= width || (line.starts_with("  ") && !is_option)) {
            out += std::string(line) + "\n";
        } else if (is_option) {
            const auto text = output::wrapped(line.substr(k_column), std::string(k_column, ' '), width);
            out += std::string(line.substr(0, k_column)) + text.substr(k_column);
        } else {
            out += output::wrapped(line, "", width);
        }
    }
    return out;
}

/// Attaches short options to the option whose command they belong to: in `--setup sh -c 'make deps'`, "-c" is an option
/// of sh, unless Orange's command has such an option. CLI11 reads it as a value in the form `--setup=-c`.
void attach_short_options(const CLI::App& app, std::vector<std::string>& words) {
    std::string reads;  // the option that takes the following words
    for (auto& word : words) {
        if (word == "--") return;
        if (word.starts_with("--")) {
            const auto name = word.substr(0, word.find('='));
            const auto* option = app.get_option_no_throw(name);
            reads = option != nullptr && option->get_option_text() == arguments::k_command_words ? name : "";
        } else if (!reads.empty() && word.size() > 1 && word[0] == '-' &&
                   app.get_option_no_throw(word.substr(0, 2)) == nullptr) {
            word = reads + "=" + word;
        }
    }
}

/// Returns the exit status, after it has printed an error.
int exit_status(const Status& done, bool json) {
    return done ? *done : commands::fail(json, done.error());
}

Status run_there(const Place& place, bool json) {
    TRY(auto paths, paths_from_environment());
    Context context(std::move(paths), json);
    return commands::on_host(context, place.host, place.words, place.files);
}

/// Returns the command that the words name, if this version has it.
const Command* command_in(std::vector<std::string> words) {
    std::erase(words, "--json");
    if (words.empty()) return nullptr;
    if (const auto* command = arguments::find_command("", words.front())) return command;
    return words.size() > 1 ? arguments::find_command(words[0], words[1]) : nullptr;
}

/// Runs the command on a host. If this version cannot parse the words, the orange there decides, because it may be
/// newer.
Status run_on_host(const Command& command, CLI::App& app, std::vector<std::string> words, Place place, bool json) {
    bool parsed = true;
    try {
        app.parse(words);
    } catch (const CLI::ParseError&) {
        parsed = false;
    }
    if (parsed) TRY(arguments::take_hosts_of_tasks(command, app, place));
    arguments::take_files(app, place);
    return run_there(place, json);
}

/// Runs the action of a command whose words were parsed.
Status run_parsed(const Command& command, const CLI::App& app, const arguments::Action& action, Place place,
                  bool json) {
    if (command.people_only && connection::inside_agent()) {
        return {ErrorCode::forbidden, app.get_name() + " is for people, not for agents"};
    }
    TRY(arguments::take_hosts_of_tasks(command, app, place));
    if (!place.host.empty()) {
        arguments::take_files(app, place);
        return run_there(place, json);
    }
    TRY(auto paths, paths_from_environment());
    if (command.people_only) TRY(connection::check_daemon_socket(paths));
    Context context(std::move(paths), json);
    auto done = action(context);
    if (done || connection::inside_agent()) return done;
    return arguments::with_hosts_of_task(command, app, place, done.error());
}

/// `name` is the command as the user typed it, `words` are the arguments behind it.
int run(const Command& command, const std::string& name, std::vector<std::string> words, bool json, Place place) {
    if (arguments::is_for_this_machine(command)) {
        if (place.named) {
            return usage_error(name + " is about this machine, and takes no --host", name + " --help",
                               json || asks_for_json(words));
        }
        place.host.clear();
    }
    CLI::App app(command.summary, name);
    app.formatter(std::make_shared<Page>());
    app.get_formatter()->column_width(28);
    app.add_flag("--json", json, "Print the reply as one line of JSON");
    const arguments::Action action = command.build(app);
    json = json || asks_for_json(words);  // a line that cannot be parsed has set no flag
    const auto typed = words;
    attach_short_options(app, words);
    std::reverse(words.begin(), words.end());
    if (!place.host.empty()) {
        return exit_status(run_on_host(command, app, std::move(words), std::move(place), json), json);
    }
    try {
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        return put_help(fitted(app.help()), json);
    } catch (const CLI::ExtrasError&) {
        return refuse_extras(app, name, typed, json);
    } catch (const CLI::ParseError& error) {
        return usage_error(problem_of(error), name + " --help", json);
    }
    return exit_status(run_parsed(command, app, action, std::move(place), json), json);
}

/// `help merge` becomes `merge --help`.
void move_help(std::vector<std::string>& words) {
    const auto first = std::ranges::find_if(words, [](const auto& word) { return word != "--json"; });
    if (first == words.end() || *first != "help" || first + 1 == words.end()) return;
    words.erase(first);
    words.emplace_back("--help");
}

int dispatch(std::vector<std::string> words) {
    auto place = arguments::take_place(words);
    if (!place) return usage_error(place.error().message, "orange host list", asks_for_json(words));
    move_help(words);
    const bool is_short = arguments::add_task_group(words);
    place->words = words;
    const bool is_host_group = !words.empty() && words.front() == "host";
    if (!place->host.empty() && !command_in(words) && !is_host_group) {
        return exit_status(run_there(*place, asks_for_json(words)), asks_for_json(words));
    }
    bool json = false;
    const auto take_json = [&] {
        for (; !words.empty() && words.front() == "--json"; words.erase(words.begin())) json = true;
    };
    take_json();
    const auto take = [&] {
        std::string word = words.front();
        words.erase(words.begin());
        return word;
    };
    const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h" || word == "help"; };
    const bool wants_json = json || asks_for_json(words);
    if (words.empty() && !wants_json && commands::dashboard_instead_of_help()) return 0;
    if (words.empty() || is_help(words.front())) return put_help(arguments::overview(), wants_json);
    std::string first = take();
    if (first == "--version") first = "version";
    if (const auto* command = arguments::find_command("", first))
        return run(*command, arguments::full_name(*command), std::move(words), json, std::move(*place));
    const auto unknown = [&](const std::string& group, const std::string& word) {
        const auto in_group = group.empty() ? "" : group + " ";
        std::vector<std::string> corrections;
        for (const auto& meant : arguments::similar_commands(group, word)) {
            if (auto line = with_words("orange " + meant, words, json); !line.empty()) corrections.push_back(line);
        }
        return usage_error("there is no command \"" + in_group + word + "\"", "orange " + in_group + "--help",
                           wants_json, corrections);
    };
    if (!arguments::is_group(first)) return unknown("", first);
    take_json();
    if (wants_json && words.empty()) {
        return usage_error("orange " + first + " needs a command", "orange " + first + " --help", true);
    }
    if (words.empty() || is_help(words.front())) {
        const int status = put_help(arguments::group_page(first), wants_json);
        return words.empty() ? k_usage_error : status;
    }
    const auto second = take();
    if (const auto* command = arguments::find_command(first, second))
        return run(*command, is_short ? "orange " + second : arguments::full_name(*command), std::move(words), json,
                   std::move(*place));
    return unknown(first, second);
}

/// Opens standard descriptors that the caller has closed; otherwise a socket could get one of their numbers.
void open_standard_descriptors() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO) continue;
        ::close(fd);
        break;
    }
}

}  // namespace
}  // namespace orange

int main(int argc, char** argv) {
    orange::open_standard_descriptors();
    ::signal(SIGPIPE, SIG_IGN);
    try {
        return orange::output::finish(orange::dispatch({argv + 1, argv + argc}));
    } catch (const std::exception& bug) {
        orange::output::print_error(std::string("orange: this is a bug: ") + orange::printable(bug.what()) + "\n");
        return orange::output::finish(1);
    }
}
