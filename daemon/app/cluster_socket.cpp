#include "daemon/app/cluster_socket.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/errors.hpp"
#include "daemon/agents/launcher.hpp"
#include "daemon/async/use_tuple.hpp"
#include "daemon/log/log.hpp"
#include "daemon/rpc/stream.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/shim/exit_record.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_longest_hello = 4096;  // a credential has some 200 bytes
/// A node has its hello before it connects, and sends it at once.
constexpr std::chrono::milliseconds k_hello_patience = 2s, k_decode_patience = 10s, k_without_room = 50ms;
constexpr std::chrono::milliseconds k_quiet = 1min;

Error refused(const std::string& why) {
    return {ErrorCode::forbidden, "the daemon refuses a call from another machine: " + why};
}

/// Returns the text behind "NAME:" in the output of unmunge.
std::string value_in(std::string_view output, std::string_view name) {
    for (const auto line : split_lines(output)) {
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return printable(trim(line.substr(name.size() + 1)));
        }
    }
    return {};
}

/// Returns the number at the end of "root (0)"; -1 if there is none.
std::int64_t number_in(const std::string& value) {
    std::int64_t number = -1;
    const auto at = value.rfind('(');
    if (at != std::string::npos) std::from_chars(value.data() + at + 1, value.data() + value.size(), number);
    return number;
}

Error no_address() {
    return {
        ErrorCode::unavailable,
        "agents on other machines could not call Orange, because config.yml has no cluster_address. Add the address "
        "of this machine that the nodes reach (hostname -I prints them), as\n  cluster_address: 10.0.0.1\nThen run:\n"
        "  orange daemon reload"};
}

}  // namespace

struct ClusterSocket::Greeted final : Newcomer {
    explicit Greeted(Socket accepted)
        : Newcomer(ClusterAddress::other_of(accepted.native_handle()).host()), socket(std::move(accepted)) {}

    bool is_silent() const override {
        asio::error_code error;
        return socket.available(error) == 0;
    }
    void close() override {
        asio::error_code ignored;
        socket.close(ignored);
    }

    Socket socket;
};

void ClusterSocket::start() {
    for (const auto& id : world_.tasks.runs().tasks()) follow(id);
    observer_ = world_.tasks.observe([this](const TaskId& id) { follow(id); });
}

void ClusterSocket::check() {
    if (!runs_.empty() && !stopped_) serve_all();
}

void ClusterSocket::stop() {
    stopped_ = true;
    close();
}

void ClusterSocket::close() {
    asio::error_code ignored;
    if (acceptor_) acceptor_->close(ignored);
    acceptor_.reset();
}

Result<void> ClusterSocket::serves(const RunId& run) const {
    const auto found = runs_.find(run);
    if (found == runs_.end() || (acceptor_ && found->second.told == address_)) return {};
    return Error(ErrorCode::unavailable, problem_);
}

void ClusterSocket::follow(const TaskId& id) {
    if (stopped_) return;
    const auto record = world_.tasks.awake(id);
    const auto lives = [&](const RunId& run) {
        return record && std::ranges::find(record->runs, run, &AgentRun::run) != record->runs.end();
    };
    const auto ended =
        std::erase_if(runs_, [&](const auto& entry) { return entry.second.task == id && !lives(entry.first); });
    if (ended > 0 && runs_.empty()) {
        close();
        problem_.clear();
    }
    if (record == nullptr) return;
    bool is_new = false;
    for (const auto& run : record->runs) {
        if (!run.place || !run.place->is_elsewhere()) continue;
        is_new = runs_.try_emplace(run.run, Served{id, {}}).second || is_new;
    }
    if (is_new) serve_all();
}

void ClusterSocket::serve_all() {
    auto done = listen();
    const bool listens = done.has_value();
    for (auto& [run, served] : runs_) {
        if (!listens || served.told == address_) continue;
        auto told = tell(served.task, run, served);  // one that fails keeps no other run from its address
        if (!told && done) done = std::move(told);
    }
    auto problem = done ? std::string() : done.error().message;
    if (problem != problem_ && !problem.empty()) log::warn("rpc", problem);
    problem_ = std::move(problem);
}

/// Binds only the address of the setting: other networks of this machine do not reach the socket.
Result<void> ClusterSocket::listen() {
    const auto& wanted = world_.settings.cluster_address;
    if (acceptor_ && configured_ == wanted) return {};
    close();
    if (wanted.empty()) return no_address();
    TRY(const auto address, ClusterAddress::parse(wanted));
    UniqueFd socket(address.make_socket());
    if (!socket || address.bind(socket.get()) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
        auto error = io_error("listening at cluster_address " + wanted + " for agents on other machines", errno);
        error.code = ErrorCode::unavailable;
        return error;
    }
    address_ = ClusterAddress::own_of(socket.get()).text();
    configured_ = wanted;
    acceptor_ = std::make_shared<Acceptor>(world_.executor);
    const bool is_v6 = address_.starts_with('[');
    acceptor_->assign(is_v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), socket.release());
    log::info("rpc", "listening for agents on other machines", {{"address", address_}});
    async::spawn(world_.executor, "cluster accept", accept_loop(acceptor_));
    return {};
}

/// Writes the address for the shim of the run, which reads it for each connection.
Result<void> ClusterSocket::tell(const TaskId& task, const RunId& run, Served& served) {
    const auto record = world_.tasks.awake(task);
    if (record == nullptr) return {};
    const auto folder = agents::Launcher::inner_folder(world_.tasks.folder(*record) / "run", run);
    TRY(world_.files.replace(folder / k_inner_daemon, address_ + "\n", Durability::atomic));
    served.told = address_;
    return {};
}

/// Never pauses for those that have proved nothing: everybody on the network could make the agents wait.
Awaitable<void> ClusterSocket::accept_loop(std::shared_ptr<Acceptor> acceptor) {
    while (acceptor->is_open()) {
        auto [error, socket] = co_await acceptor->async_accept(use_tuple);
        if (error == asio::error::operation_aborted) break;
        if (error == asio::error::connection_aborted) continue;  // it has gone before it was accepted
        if (error) {
            if (!make_room(Error(ErrorCode::io, "accepting agents on other machines: " + error.message()))) {
                const auto pause = k_without_room;
                co_await async::sleep(pause);
            }
            continue;
        }
        ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        const auto greeted = std::make_shared<Greeted>(std::move(socket));
        if (!newcomers_.admit(greeted)) continue;  // the node reads the end of the connection, and tries again
        async::spawn(world_.executor, "cluster hello", greet(greeted));
    }
}

/// A connection that was closed for another one gives its descriptor back at once.
bool ClusterSocket::make_room(const Error& why) {
    warn_of_refusal(why, address_);
    return newcomers_.close_oldest();
}

Awaitable<Result<std::string>> ClusterSocket::read_hello(std::shared_ptr<Greeted> greeted) {
    const auto end_later = [](std::shared_ptr<Greeted> late) -> Awaitable<void> {
        const auto patience = k_hello_patience;
        const bool slept = co_await async::sleep(patience);
        if (slept && !late->is_checked) late->close();
    };
    const auto patience = async::spawn_stoppable(world_.executor, "cluster patience", end_later(greeted));
    std::string line;
    char piece[1024];
    while (line.size() < k_longest_hello) {
        const auto into = asio::buffer(piece);
        const auto [error, size] = co_await greeted->socket.async_read_some(into, use_tuple);
        if (error) co_return Error(ErrorCode::io, "the connection ended");
        line.append(piece, size);
        if (line.ends_with('\n')) co_return line;  // a node sends nothing more before it is welcome
    }
    co_return refused("it does not begin with a credential of MUNGE");
}

Awaitable<Result<rpc::NodeHello>> ClusterSocket::decoded(std::string line) {
    const auto slot = co_await decoders_.take();
    Command command;
    command.argv = {"unmunge", "--keys", "STATUS,UID"};
    command.env = executor_environment(world_, {});
    command.input = std::move(line);
    command.deadline = k_decode_patience;
    auto done = co_await world_.processes.run(std::move(command));
    const auto failed = [](const std::string& why) {
        return Error(ErrorCode::unavailable,
                     "the daemon cannot check the credential of a call from another machine: " + why +
                         ". MUNGE has to run on both machines with the same key, and their "
                         "clocks have to agree");
    };
    if (!done) co_return failed(first_line(done.error().message));
    const auto status = value_in(done->out, "STATUS");
    if (!done->ok()) co_return failed(status.empty() ? printable(first_line(trim(done->err))) : status);
    const auto user = value_in(done->out, "UID");
    if (number_in(user) != static_cast<std::int64_t>(::geteuid())) {
        co_return refused("its credential is of the user " + user + ", and the daemon's user is " +
                          std::to_string(::geteuid()));
    }
    const auto payload = done->out.find("\n\n");
    if (payload == std::string::npos) co_return refused("its credential is empty");
    co_return rpc::NodeHello::from_payload(done->out.substr(payload + 2));
}

Result<rpc::Peer> ClusterSocket::peer_of(const rpc::NodeHello& hello) const {
    if (hello.address != address_) return refused("its credential is for " + printable(hello.address));
    for (const auto& [run, served] : runs_) {
        const auto record = world_.tasks.awake(served.task);
        if (record == nullptr) continue;
        const auto found = std::ranges::find(record->runs, run, &AgentRun::run);
        if (found == record->runs.end() || !found->place || found->place->token != hello.token) continue;
        rpc::Peer peer;
        peer.uid = ::geteuid();
        peer.task = served.task;
        peer.run = run;
        return peer;
    }
    return {ErrorCode::not_found, "the agent's run has ended. If you are the agent, stop"};
}

Awaitable<Result<std::pair<rpc::Peer, std::string>>> ClusterSocket::introduced(std::shared_ptr<Greeted> greeted) {
    auto line = co_await read_hello(greeted);
    greeted->is_checked = true;
    if (!line) co_return line.error();
    CO_TRY(const auto hello, co_await decoded(std::move(*line)));
    CO_TRY(auto peer, peer_of(hello));
    co_return std::pair(std::move(peer), hello.nonce);
}

/// Everybody on the network can cause refusals, and must not fill the log.
void ClusterSocket::warn_of_refusal(const Error& error, const std::string& from) {
    auto& quiet_until = quiet_until_[error.code];
    if (async::now() < quiet_until) return;
    quiet_until = async::now() + k_quiet;
    log::warn("rpc", first_line(error.message), {{"from", from}});
}

Awaitable<void> ClusterSocket::greet(std::shared_ptr<Greeted> greeted) {
    // Its place limits the descriptors only if the socket is closed before the place is free.
    const std::shared_ptr<void> has_place(nullptr, [this, greeted](void*) {
        greeted->close();  // a socket that is served has moved away
        newcomers_.remove(*greeted);
    });
    auto met = co_await introduced(greeted);
    if (stopped_ || !greeted->socket.is_open() || (!met && met.error().code == ErrorCode::io)) co_return;
    if (met && !server_.has_place()) {
        met = Error(ErrorCode::unavailable, "the daemon has " + std::to_string(server_.connections()) +
                                                " connections already, and takes no more; close some, and try again");
    }
    auto answer = met ? rpc::NodeHello::welcome(met->second)
                      : dump({{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", rpc::error_json(met.error())}});
    answer += "\n";
    asio::error_code error;
    greeted->socket.non_blocking(true, error);
    const auto sent = greeted->socket.write_some(asio::buffer(answer), error);  // fits into an empty buffer
    if (!met) warn_of_refusal(met.error(), greeted->from());
    if (!met || error || sent != answer.size()) co_return;
    met->first.from = greeted->from();
    server_.serve(rpc::stream_over(std::move(greeted->socket)), std::move(met->first));
}

}  // namespace orange
