#include "client/commands/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>

#include "client/connection/autostart.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/read.hpp"
#include "common/rpc/errors.hpp"

namespace orange::commands {
namespace {

/// The daemon's prefix of list items in a message, for example tasks that a name may mean. Other indented lines are
/// commands.
constexpr std::string_view k_list_item = "    ";

/// A request is repeated as long as no daemon lives this long with it: one that it ends itself must not go on for ever.
constexpr std::chrono::seconds k_daemons_that_end{30};

std::optional<std::string> current_directory() {
    std::error_code error;
    auto path = std::filesystem::current_path(error);
    if (error) return std::nullopt;
    return path.string();
}

/// Returns `text` below "error: ", wrapped if a person reads it.
std::string paragraph(std::string_view text, std::string_view label) {
    const std::string indent(7, ' ');
    auto lines = output::wrapped(printable(text), indent, output::width_of_errors());
    return lines.replace(0, label.size(), label);
}

/// Returns details that a person needs if the message does not contain them: a command's output, the files in conflict.
std::string shown_details(const Error& error) {
    std::string out;
    for (const char* key : {"files", "stderr"}) {
        const auto found = error.details.find(key);
        if (found == error.details.end()) continue;
        const auto text = trim(found->second);
        for (const auto line : split_lines(text)) {
            const auto bare = line.starts_with("fatal: ") ? line.substr(7) : line;
            const bool said = line.empty() || error.message.find(bare) != std::string::npos;
            if (!said) out += paragraph(line, "");
        }
    }
    return out;
}

/// Returns an error for people: "error: what failed, and why", the details, and then the commands, each complete and on
/// its own line.
std::string shown(const Error& error) {
    const auto message = output::with_short_ids(error.message, error);
    std::string text, hints;
    for (const auto line : split_lines(message)) {
        if (line.starts_with(k_list_item)) {
            text += "         " + printable(trim(line)) + "\n";
        } else if (line.starts_with("  ")) {
            hints += "hint:  " + printable(trim(line)) + "\n";
        } else if (!text.empty() && line.ends_with(':')) {
            hints += paragraph(line, "");
        } else if (!trim(line).empty()) {
            text += paragraph(line, text.empty() ? "error: " : "");
        }
    }
    return text + shown_details(error) + hints;
}

}  // namespace

Context::Context(Paths p, bool as_json)
    : paths(std::move(p)), json(as_json), style(output::style_of_stdout()), cwd(current_directory()) {}

Result<connection::Connection*> Context::daemon() {
    if (!connection_) {
        TRY(auto opened, connection::connect_or_start(paths));
        connection_.emplace(std::move(opened));
    }
    return &*connection_;
}

Result<Json> Context::call_json(const char* method, Json params) {
    TRY(auto connection, daemon());
    return connection->call_json(method, std::move(params));
}

Result<Json> Context::call_json_again(const char* method, const Json& params) {
    using std::chrono::steady_clock;
    std::optional<steady_clock::time_point> until;
    for (;;) {
        const auto began = steady_clock::now();
        auto reply = call_json(method, params);
        if (reply || !connection_ || !connection_->has_ended()) return reply;
        const auto ended = steady_clock::now();
        if (!until || ended - began >= k_daemons_that_end) until = ended + k_daemons_that_end;
        if (ended >= *until) return reply;
        connection_.reset();
        auto next = connection::connect_to_next(paths);
        if (!next) return reply;
        connection_.emplace(std::move(*next));
    }
}

Result<Json> call_with_caller(const std::function<Result<Json>(const Json&)>& call, Json params,
                              const std::vector<std::string>& also) {
    auto newer = also;
    newer.insert(newer.end(), {"path", "variables"});
    for (;;) {
        auto reply = call(params);
        if (reply || reply.error().code != ErrorCode::invalid_argument) return reply;
        const auto& said = reply.error().message;
        const auto unknown = std::ranges::find_if(newer, [&](const std::string& name) {
            return params.contains(name) && said.starts_with("unknown parameter \"" + name + "\"");
        });
        if (unknown == newer.end()) return reply;
        params.erase(*unknown);
    }
}

int fail(const Context& context, const Error& error) {
    if (context.about.empty()) return fail(context.json, error);
    auto told = error;
    told.message = context.about + ": " + error.message;
    return fail(context.json, told);
}

int fail(bool json, const Error& error) {
    if (json) {
        put_json({{"error", rpc::error_json(error)}});
    } else {
        output::print_error(shown(error));
    }
    return 1;
}

int put_json(const Json& json) {
    output::put(dump(json) + "\n");
    return 0;
}

Result<std::string> text_argument(const std::string& argument) {
    if (argument != "-") return argument;
    if (::isatty(STDIN_FILENO) == 1)
        output::print_error("Reading from the terminal; press Ctrl-D on an empty line to finish.\n");
    std::string text;
    const int error = posix::read_to_end(STDIN_FILENO, connection::k_max_request, text);
    if (error == EFBIG) {
        return {ErrorCode::invalid_argument, "standard input is larger than 1 MiB, the limit of a request"};
    }
    return error == 0 ? Result<std::string>(std::move(text)) : io_error("reading standard input", error);
}

}  // namespace orange::commands
