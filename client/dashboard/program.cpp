#include "client/dashboard/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <list>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "client/connection/caller_environment.hpp"
#include "client/connection/child.hpp"
#include "client/dashboard/background.hpp"
#include "client/dashboard/clipboard.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/file_sender.hpp"
#include "client/dashboard/foreground.hpp"
#include "client/dashboard/host_wire.hpp"
#include "client/dashboard/wire.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int signal_pipe[2] = {-1, -1};

extern "C" void orange_dashboard_signal(int number) {
    const int before = errno;
    const auto byte = static_cast<char>(number);
    (void)!::write(signal_pipe[1], &byte, 1);
    errno = before;
}

Result<void> catch_signals() {
    if (system::make_pipe(signal_pipe) != 0) return io_error("making a pipe", errno);
    for (const int end : signal_pipe) ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK);
    struct sigaction action {};
    action.sa_handler = orange_dashboard_signal;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT, SIGTSTP})
        ::sigaction(number, &action, nullptr);
    return {};
}

Moment moment() {
    return {steady_clock::now(), SystemClock().now()};
}

/// Returns the effect of a key for the trace.
std::string_view shown_by(const State& state) {
    if (state.question) return "question";
    if (state.prompt) return "prompt";
    if (state.form) return "form";
    if (state.permit) return "permit";
    if (state.overlay != Overlay::none) return "page";
    if (state.message) return state.message->bad ? "error" : "message";
    return "list";
}

class Program {
  public:
    Program(const Paths& paths, State initial, const std::vector<hosts::Host>& hosts)
        : paths_(paths), core_(with_hosts(std::move(initial), hosts)), wire_(paths, incoming_from(0)) {
        for (const auto& host : hosts) {
            const auto number = host_wires_.size() + 1;
            const auto greet = [this, number](const rpc::HelloNotification& hello) {
                core_.on_greeting(number, hello.read_only);
            };
            host_wires_.push_back(std::make_unique<HostWire>(host, incoming_from(number), greet));
            remember_list(number, hosts::answer_file(paths.home, host.name, "list"));
        }
        if (const char* file = std::getenv("ORANGE_DASHBOARD_TRACE"); file && *file) trace_.open(file, std::ios::app);
        core_.caller = connection::caller_environment();
    }

    Result<int> run(const TerminalOptions& options) {
        TRY(catch_signals());
        TRY(terminal_.open(options));
        recall();
        apply(core_.on_resize(terminal_.width(), terminal_.height(), moment()));
        draw();
        wire_.start();
        while (!ended_) {
            wire_.retry();
            core_.set_silent(wire_.is_silent());
            look_at_hosts();
            apply(core_.on_time(moment()));
            perform();
            draw();
            wait();
        }
        terminal_.leave();
        if (by_signal_ != 0) {
            ::signal(by_signal_, SIG_DFL);
            ::raise(by_signal_);
        }
        return 0;
    }

  private:
    static State with_hosts(State state, const std::vector<hosts::Host>& hosts) {
        for (const auto& host : hosts) state.hosts.push_back({host.name});
        return state;
    }

    /// Returns the functions that receive a daemon's messages; `host` is its number, as in Row::host.
    Incoming incoming_from(std::size_t host) {
        return {[this](const Request& request, Result<Answer> reply) {
                    apply(core_.on_reply(request, std::move(reply), moment()));
                },
                [this, host](const rpc::EventNotification& event) { apply(core_.on_event(event, moment(), host)); },
                [this](const std::string& task) { apply(core_.on_screen(task, moment())); },
                [this, host](Link::State state, std::string why) {
                    note("link " + std::to_string(host) + " " + std::to_string(static_cast<int>(state)));
                    if (state != Link::State::up && host == 0) sendings_.clear();
                    apply(core_.on_link(state, std::move(why), moment(), host));
                }};
    }

    /// Shows a host's tasks as of its last answer to `orange task list --everywhere`, until it answers.
    void remember_list(std::size_t host, const std::filesystem::path& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        const auto last = parse_json(text.str());
        if (!last || !last->is_object() || !last->contains("reply")) return;
        const auto at = last->find("at");
        const auto heard = at != last->end() && at->is_string() ? from_rfc3339(at->get<std::string>()) : std::nullopt;
        Answer list;
        const auto message = read_message(dump({{"result", (*last)["reply"]}}), list);
        if (heard && message) core_.remember_list(host, std::move(list), *heard);
    }

    void look_at_hosts() {
        for (std::size_t i = 0; i < host_wires_.size(); ++i) {
            auto& wire = *host_wires_[i];
            wire.retry();
            const auto now = moment();
            const auto heard = wire.heard();
            const auto ago = heard ? std::chrono::duration_cast<milliseconds>(now.steady - *heard) : milliseconds(0);
            core_.set_heard(i + 1, wire.is_silent(), heard ? std::optional(now.wall - ago) : std::nullopt);
        }
    }

    void note(const std::string& line) {
        if (trace_.is_open()) trace_ << line << std::endl;
    }

    void apply(Effects effects) {
        for (auto& each : effects.outside) outside_.push_back(std::move(each));
        for (auto& request : effects.requests) {
            note("request " + request.method);
            if (request.files.empty()) {
                send(request);
            } else {
                send_with_files(std::move(request));
            }
        }
    }

    /// Sends the request's files, and the request behind them (take_uploads()).
    void send_with_files(Request request) {
        const auto files = std::exchange(request.files, {});
        auto& sending = sendings_.emplace_back(std::move(request), Uploads());
        const auto begun = sending.second.start([paths = paths_, files] { return send_files(paths, files); });
        if (begun) return;
        const auto refused = std::move(sending.first);
        sendings_.pop_back();
        apply(core_.on_reply(refused, begun.error(), moment()));
    }

    void take_uploads() {
        for (auto at = sendings_.begin(); at != sendings_.end();) {
            auto uploads = at->second.take();
            if (!uploads) {
                ++at;
                continue;
            }
            auto request = std::move(at->first);
            at = sendings_.erase(at);
            if (*uploads) {
                request.params["files"] = **uploads;
                send(request);
            } else {
                apply(core_.on_reply(request, uploads->error(), moment()));
            }
        }
    }

    void send(const Request& request) {
        if (request.host == 0) {
            wire_.send(request);
        } else {
            host_wires_[request.host - 1]->send(request);
        }
    }

    void draw() {
        core_.prepare();
        const auto frame = dashboard::draw(core_.state(), moment().wall);
        if (terminal_.draw(frame)) note("frame tasks=" + std::to_string(frame.tasks_drawn));
    }

    void wait() {
        const auto now = steady_clock::now();
        auto until = now + std::chrono::hours(1);
        const auto no_later_than = [&](const auto& due) {
            if (due) until = std::min(until, *due);
        };
        for (const auto& due : {core_.next_time(), wire_.next_time(), decoder_.deadline()}) no_later_than(due);
        for (const auto& wire : host_wires_) no_later_than(wire->next_time());
        std::vector<pollfd> ready = {{STDIN_FILENO, POLLIN, 0}, {signal_pipe[0], POLLIN, 0}, waits_for(wire_)};
        for (const auto& wire : host_wires_) ready.push_back(waits_for(*wire));
        ready.push_back({picture_.descriptor(), POLLIN, 0});
        for (const auto& [request, uploads] : sendings_) ready.push_back({uploads.descriptor(), POLLIN, 0});
        const auto left = std::chrono::ceil<milliseconds>(until - now).count();
        ::poll(ready.data(), ready.size(), static_cast<int>(std::max<long>(0, left)));
        if (ready[1].revents != 0) take_signals();
        if (ready[2].revents != 0) wire_.receive();
        if (ready[0].revents != 0) read_keys();
        for (std::size_t i = 0; i < host_wires_.size(); ++i) {
            if (ready[i + 3].revents != 0) host_wires_[i]->receive();
        }
        for (const auto& input : decoder_.expire(steady_clock::now())) handle(input);
        if (auto picture = picture_.take()) apply(core_.on_picture(std::move(*picture), moment()));
        take_uploads();
        reap_children();
    }

    template <class AnyWire>
    static pollfd waits_for(const AnyWire& wire) {
        return {wire.descriptor(), static_cast<short>(wire.has_unsent() ? POLLIN | POLLOUT : POLLIN), 0};
    }

    void handle(const Input& input) {
        note("input " + (input.what == Input::What::key ? input.text : "other"));
        apply(core_.on_input(input, moment()));
        perform();
        note("shows " + std::string(shown_by(core_.state())));
    }

    void read_keys() {
        char bytes[4096];
        const auto n = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {  // the terminal was closed
            ended_ = true;
            by_signal_ = by_signal_ ? by_signal_ : SIGHUP;
            return;
        }
        if (n <= 0) return;
        for (const auto& input : decoder_.decode({bytes, static_cast<std::size_t>(n)}, steady_clock::now())) {
            if (!ended_) handle(input);
        }
    }

    void take_signals() {
        char numbers[64];
        const auto n = ::read(signal_pipe[0], numbers, sizeof numbers);
        for (long i = 0; i < n; ++i) {
            const int number = numbers[i];
            if (number == SIGWINCH) {
                if (terminal_.resize()) apply(core_.on_resize(terminal_.width(), terminal_.height(), moment()));
            } else if (number == SIGTSTP) {
                suspend();
            } else if (number != SIGCONT) {
                ended_ = true;
                by_signal_ = number;
            }
        }
    }

    void suspend() {
        terminal_.leave();
        ::kill(0, SIGSTOP);  // stops the whole job, which its shell continues later
        come_back();
    }

    /// Takes the terminal back. Keys that were typed meanwhile are dropped, because they were meant for the other
    /// program.
    void come_back() {
        ::tcflush(STDIN_FILENO, TCIFLUSH);
        terminal_.enter();
        terminal_.resize();
        apply(core_.on_resize(terminal_.width(), terminal_.height(), moment()));
        terminal_.redraw();
    }

    /// Performs the actions that the core has requested, in order.
    void perform() {
        while (!outside_.empty()) {
            const auto each = std::move(outside_.front());
            outside_.pop_front();
            switch (each.what) {
                case Outside::What::run:
                    run_program(each);
                    break;
                case Outside::What::edit:
                    edit(each.text);
                    break;
                case Outside::What::copy:
                    terminal_.copy(each.text);
                    copy_to_desktop(each.text);
                    break;
                case Outside::What::open:
                    if (!open_in_browser(each.text))
                        core_.say("No browser can be started here: " + each.text, true, moment());
                    break;
                case Outside::What::remember:
                    remember(each.text);
                    break;
                case Outside::What::take_picture:
                    take_picture();
                    break;
                case Outside::What::suspend:
                    suspend();
                    break;
                case Outside::What::redraw:
                    terminal_.redraw();
                    break;
                case Outside::What::quit:
                    ended_ = true;
                    break;
                case Outside::What::reconnect:
                    if (core_.state().link.state != Link::State::up) wire_.start();
                    for (const auto& wire : host_wires_) wire->start();
                    break;
            }
        }
    }

    /// Begins to read the clipboard, unless it is read already.
    void take_picture() {
        if (picture_.is_running()) return;
        if (const auto begun = picture_.start(clipboard_picture); !begun) {
            apply(core_.on_picture(begun.error(), moment()));
        }
    }

    void run_program(const Outside& asked) {
        if (trace_.is_open()) note("run " + join(asked.argv, " "));
        auto argv = asked.argv;
        if (argv.front() == "orange") argv.front() = connection::find_program("orange").value_or("orange").string();
        if (argv.front() == "$EDITOR") {
            auto words = editor();
            if (!words) return core_.say(words.error().message, true, moment());
            argv.erase(argv.begin());
            argv.insert(argv.begin(), words->begin(), words->end());
        }
        terminal_.leave();
        const auto began = steady_clock::now();
        const auto status = run_in_foreground(argv);
        const bool failed = !status || *status != 0;
        const bool unread = asked.pauses && steady_clock::now() - began < milliseconds(700);
        if ((failed && asked.argv.front() == "orange" && asked.argv[2] != "shell") || unread) wait_for_key();
        if (!status) core_.say(status.error().message, true, moment());
        come_back();
        for (const auto& wire : host_wires_) wire->come_back();
        apply(core_.on_returned(moment()));
    }

    static void wait_for_key() {
        constexpr std::string_view k_text = "\nPress a key to return to the dashboard. ";
        (void)!::write(STDOUT_FILENO, k_text.data(), k_text.size());
        termios lines{};
        if (::tcgetattr(STDIN_FILENO, &lines) != 0) return;
        auto keys = lines;
        keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys);
        char byte = 0;
        (void)!::read(STDIN_FILENO, &byte, 1);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &lines);
        // Erase the line; otherwise it would look like output of the next program.
        constexpr std::string_view k_taken_back = "\r\033[K";
        (void)!::write(STDOUT_FILENO, k_taken_back.data(), k_taken_back.size());
    }

    void edit(const std::string& text) {
        terminal_.leave();
        auto changed = edited(text);
        come_back();
        apply(core_.on_edited(std::move(changed.text), moment(), changed.error));
    }

    std::filesystem::path memory() const { return paths_.home / "dashboard.json"; }
    /// Restores the last values of the form. A failure to read or write them does no harm.
    void recall() {
        std::ostringstream text;
        text << std::ifstream(memory()).rdbuf();
        if (const auto json = parse_json(text.str())) core_.set_last_choices(*json);
    }
    void remember(const std::string& text) {
        const auto next = memory().string() + ".new";
        {
            std::ofstream out(next);
            out << text << "\n";
            if (!out) return;
        }
        std::error_code error;
        std::filesystem::permissions(next, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                                     error);
        std::filesystem::rename(next, memory(), error);
    }

    const Paths& paths_;
    Core core_;
    std::deque<Outside> outside_;
    Terminal terminal_;
    Decoder decoder_;
    Wire wire_;
    std::vector<std::unique_ptr<HostWire>> host_wires_;
    using Uploads = Background<Result<std::vector<std::string>>>;
    std::list<std::pair<Request, Uploads>> sendings_;  ///< requests whose files are on their way
    Background<Result<std::string>> picture_;
    std::ofstream trace_;
    bool ended_ = false;
    int by_signal_ = 0;
};

}  // namespace

Result<int> run(const Paths& paths, State initial, const TerminalOptions& options,
                const std::vector<hosts::Host>& hosts) {
    Program program(paths, std::move(initial), hosts);
    return program.run(options);
}

}  // namespace orange::dashboard
