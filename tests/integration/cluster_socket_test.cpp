#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <deque>
#include <set>
#include <thread>

#include "common/base/text.hpp"
#include "common/config/cluster_address.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/model/record.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/node_hello.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Agents on other machines (`socket: back`), which are on this one here, and stand-ins for munge and unmunge. The real
/// ones, and machines that share no socket, are in tests/campaigns/slurm.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// Keeps each payload in a file; its credential is the file's name. `munge-down`, `unmunge-down` and `uid` are files
/// with which a test changes what they do.
constexpr const char* k_munge = R"sh(cd "$(dirname "$0")" || exit 1
! test -e munge-down || { echo 'munge: Error: no munged here' >&2; exit 6; }
id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
cat >"$id"
echo "MUNGE:$id:"
)sh";
constexpr const char* k_unmunge = R"sh(cd "$(dirname "$0")" || exit 1
! test -e unmunge-down || { echo 'unmunge: Error: no munged here' >&2; exit 6; }
read -r line
id=${line#MUNGE:}
id=${id%:}
test -f "$id" || { echo 'unmunge: Error: Failed to match armor prefix' >&2; exit 8; }
status='Success (0)'
code=0
! test -e "$id.used" || { status='Replayed credential (17)'; code=17; }
touch "$id.used"
printf 'STATUS:          %s\nUID:             me (%s)\n\n' "$status" "$(cat uid 2>/dev/null || id -u)"
cat "$id"
exit $code
)sh";
/// Runs what a test puts into its folder, as an agent's program does.
constexpr const char* k_agent = R"sh(name: puppet
program: sh
argv:
  full:
    - -c
    - 'while :; do if test -e do; then mv do doing; sh doing >out.new 2>&1; echo $? >>out.new; mv out.new out; fi; sleep 0.02; done'
    - --
    - "{prompt}"
)sh";

/// A line that a peer sends, and what the daemon answers until it closes the connection.
std::string answer_to(const ClusterAddress& address, const std::string& line) {
    UniqueFd socket(address.make_socket());
    REQUIRE(address.connect(socket.get()) == 0);
    REQUIRE(::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
    std::string answer;
    char piece[4096];
    while (answer.find('\n') == std::string::npos) {
        const auto size = ::recv(socket.get(), piece, sizeof piece, 0);
        if (size <= 0) break;
        answer.append(piece, static_cast<std::size_t>(size));
    }
    return answer;
}

class Cluster {
  public:
    Sandbox orange;

    explicit Cluster(const std::string& setting = "cluster_address: 127.0.0.1\n") {
        script("munge", k_munge);
        script("unmunge", k_unmunge);
        const char* path = std::getenv("PATH");
        write_file(orange.home() / "config.yml",
                   setting + "env: {PATH: '" + bin().string() + ":" + std::string(path ? path : "") + "'}\n");
        REQUIRE(orange.orange({"daemon", "reload"}).status == 0);
        orange.add_project("shop");
        fs::create_directories(orange.home() / "harnesses");
        fs::create_directories(orange.home() / "executors");
        write_file(orange.home() / "harnesses/puppet.yml", k_agent);
        define("run: [env, \"{inner}\"]\n");
    }

    fs::path bin() const { return orange.root() / "cluster"; }
    void set(const std::string& name, const std::string& text = {}) const { write_file(bin() / name, text); }
    void unset(const std::string& name) const { fs::remove(bin() / name); }
    std::string script(const std::string& name, const std::string& text) const {
        fs::create_directories(bin());
        write_file(bin() / name, "#!/bin/sh\n" + text);
        fs::permissions(bin() / name, fs::perms::owner_all);
        return (bin() / name).string();
    }
    void define(const std::string& text) {
        write_file(orange.home() / "executors/far.yml", "name: far\nseparates: [machine]\nsocket: back\n" + text);
    }

    std::string create(const std::string& executor = "far", const std::string& harness = "puppet") {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "Far away";
        create.harness = harness;
        create.executor = executor;
        return orange.call(create).task.fields.id.value;
    }
    std::string create_begun(const std::string& executor = "far", const std::string& harness = "puppet") {
        const auto id = create(executor, harness);
        orange.eventually("its agent begins", [&] {
            const auto places = show(id).places;
            return places.size() == 1 && places[0].state == "running";
        });
        return id;
    }
    rpc::TaskView show(const std::string& id) {
        rpc::TaskShow show;
        show.id = id;
        return orange.call(show).task;
    }
    void give(const std::string& id, const std::string& command) { give(orange.worktree(id), command); }
    void give(const fs::path& worktree, const std::string& command) {
        fs::remove(worktree / "out");
        write_file(worktree / "do.new", command + "\n");
        fs::rename(worktree / "do.new", worktree / "do");
    }
    /// What the agent's command prints, and its exit status in the last line.
    std::string play(const std::string& id, const std::string& command) { return play(orange.worktree(id), command); }
    std::string play(const fs::path& worktree, const std::string& command) {
        give(worktree, command);
        const auto out = worktree / "out";
        orange.eventually("the agent runs " + command, [&] { return fs::exists(out); });
        return read_file(out);
    }
    fs::path run_folder(const std::string& id) {
        return orange.folder(id) / "run" / orange.run_of(id, "worker").at("run").get<std::string>();
    }
    ClusterAddress address(const std::string& id) {
        auto text = read_file(run_folder(id) / "daemon");
        text.pop_back();
        return ClusterAddress::parse(text).value();
    }
    std::string token(const std::string& id) {
        return orange.run_of(id, "worker").at("place").at("token").get<std::string>();
    }
    /// A credential with that payload.
    std::string credential(const std::string& payload) {
        return orange.try_run({(bin() / "munge").string()}, {}, payload).out;
    }
    Error refusal(const ClusterAddress& to, const std::string& line) {
        const auto answer = answer_to(to, line);
        INFO(answer);
        const auto json = parse_json(answer);
        REQUIRE(json);
        REQUIRE(json->contains("error"));
        return rpc::error_from_json(json->at("error"));
    }
};

bool has_notice(const rpc::TaskView& task, NoticeKind kind) {
    return std::ranges::find(task.notices, kind, &Notice::kind) != task.notices.end();
}

std::string text_of(const rpc::TaskView& task, NoticeKind kind) {
    const auto found = std::ranges::find(task.notices, kind, &Notice::kind);
    return found == task.notices.end() ? std::string() : found->text + "\n" + found->command;
}

/// Makes `far` an executor that can be asked. `asks.runs`, `asks.state` and `asks.down` are files with which a test
/// changes what it answers.
void define_asked(Cluster& cluster, const std::string& stop = "\"true\"", const std::string& more = {}) {
    const auto asks = cluster.script("asks",
                                     "! test -e \"$0.down\" || exit 1\n"
                                     "for run in $(cat \"$0.runs\"); do\necho $run $(cat \"$0.state\") n1\ndone\n");
    cluster.define("run: [env, \"{inner}\"]\nstop: [" + stop + "]\nprobe: [" + asks +
                   "]\nended: [TIMEOUT, NODE_FAIL, CANCELLED]\n" + more);
    cluster.set("asks.runs");
    cluster.set("asks.state", "RUNNING");
}

/// Creates a task in that executor, which lists the run of its agent from then on.
std::string create_asked(Cluster& cluster, const std::string& harness) {
    const auto id = cluster.create_begun("far", harness);
    cluster.set("asks.runs", "orange-" + cluster.orange.run_of(id, "worker").at("run").get<std::string>());
    return id;
}

/// Starts what it is told in place of a pod. `pods/LABEL` has the name of the pod, `overrides` what was asked for it.
constexpr const char* k_kubectl = R"sh(cd_pods() { cd "$(dirname "$0")/pods" || exit 1; }
value() { printf '%s' "${1#*=}"; }
case "$1 $2" in
'auth can-i') exit 0 ;;
'get pods') cd_pods; for label in *; do test ! -e "$label" || echo "$label Running node-7"; done; exit 0 ;;
'delete pods') cd_pods; for word; do case $word in --selector=*) rm -f "$(value "$(value "$word")")" ;; esac; done; exit 0 ;;
esac
test "$1" = run || exit 64
name=$2
for word; do
    case $word in
    --labels=orange=*) label=$(value "$(value "$word")") ;;
    --overrides=*) value "$word" >"$(dirname "$0")/overrides" ;;
    --) break ;;
    esac
done
echo "$name" >"$(dirname "$0")/pods/$label"
while test "$1" != --; do shift; done
shift
exec "$@"
)sh";

/// The definition of that name in the page.
std::string example_of(const std::string& name) {
    const auto page = read_file(fs::path(ORANGE_SOURCE_DIR) / "docs/executors.md");
    const auto at = page.find("\nname: " + name + "\n");
    REQUIRE(at != std::string::npos);
    const auto begin = page.rfind("```yaml\n", at) + 8;
    return page.substr(begin, page.find("```", at) - begin);
}

}  // namespace

TEST_CASE("The example for Kubernetes is a definition that works, as far as a stand-in for kubectl can tell") {
    Cluster cluster;
    auto& orange = cluster.orange;
    cluster.script("kubectl", k_kubectl);
    fs::create_directory(cluster.bin() / "pods");
    write_file(orange.home() / "executors/kubectl.yml", example_of("kubectl"));
    CHECK(orange.orange({"executor", "show", "kubectl"}).status == 0);
    const auto id = cluster.create_begun("kubectl");
    const auto label = "orange-" + orange.run_of(id, "worker").at("run").get<std::string>();
    auto pod = label;
    std::ranges::transform(pod, pod.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    CHECK(read_file(cluster.bin() / "pods" / label) == pod + "\n");
    const auto overrides = parse_json(read_file(cluster.bin() / "overrides"));
    REQUIRE(overrides);
    CHECK(overrides->at("spec").at("containers").at(0).at("name") == pod);
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    CHECK(orange.fields(id).at("summary") == "Mine");
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    orange.eventually("its pod is deleted", [&] { return !fs::exists(cluster.bin() / "pods" / label); });
}

TEST_CASE("An agent on another machine calls as its run and as nothing more, also after the daemon was replaced") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto said = cluster.play(id, "printf %s \"$ORANGE_SOCKET\"");
    const fs::path socket = said.substr(0, said.rfind('s') + 1);
    struct stat folder {};
    REQUIRE(::stat(socket.parent_path().c_str(), &folder) == 0);
    CHECK((folder.st_mode & 0777) == 0700);
    CHECK(socket.string().find(orange.home().string()) == std::string::npos);
    for (const char* summary : {"One", "Two", "Three"}) {
        CHECK_THAT(cluster.play(id, std::string("orange task update --summary ") + summary), Catch::EndsWith("\n0\n"));
        CHECK(orange.fields(id).at("summary") == summary);
        orange.kill_daemon();
        orange.start_daemon();
    }
    // While there is no daemon, it is told so, and where to look.
    const auto worktree = orange.worktree(id);
    orange.kill_daemon();
    CHECK_THAT(cluster.play(worktree, "orange task update --summary Lost"),
               Tells("orange daemon status") && Catch::EndsWith("\n1\n"));
    orange.start_daemon();
    CHECK(orange.fields(id).at("summary") == "Three");
    // What only a human may do, and another task.
    CHECK_THAT(cluster.play(id, "orange task merge " + id + " --force --yes"), !Catch::EndsWith("\n0\n"));
    const auto other = orange.create("shop", "Other", true);
    CHECK_THAT(cluster.play(id, "orange task update " + other + " --summary Mine"), !Catch::EndsWith("\n0\n"));
    CHECK(orange.fields(other).at("summary") == "Other");
    const auto who = cluster.play(id, "orange --json task update --status done");
    CHECK_THAT(who, Holds("127.0.0.1"));

    // The socket goes with the run, and the daemon listens no longer.
    const auto address = cluster.address(id);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    orange.eventually("its folder is removed", [&] { return !fs::exists(socket.parent_path()); });
    const UniqueFd late(address.make_socket());
    CHECK(address.connect(late.get()) != 0);
}

TEST_CASE("More than fits into one packet passes both ways, and each request is answered once") {
    constexpr int k_requests = 2000;
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    std::string requests;
    for (int n = 0; n < k_requests; ++n) {
        requests +=
            R"({"jsonrpc":"2.0","id":)" + std::to_string(n) + R"(,"method":"daemon.caller","params":{}})" + "\n";
    }
    write_file(orange.worktree(id) / "requests", requests);
    const auto wire = (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string();
    CHECK_THAT(cluster.play(id, wire + " \"$ORANGE_SOCKET\" requests replies"), Catch::EndsWith("0\n"));
    std::set<int> answered;
    const auto replies = read_file(orange.worktree(id) / "replies");
    for (const auto line : split_lines(replies)) {
        if (line.empty()) continue;
        const auto reply = parse_json(line);
        REQUIRE(reply);
        REQUIRE(reply->at("result").at("role") == "worker");
        answered.insert(reply->at("id").get<int>());
    }
    CHECK(answered.size() == k_requests);
}

TEST_CASE("A client that stops waiting on another machine is gone for the daemon") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto before = orange.call(rpc::DaemonStatus{}).connections;
    cluster.give(id, "orange task wait " + id + " --for done & echo $! >waiter; wait");
    orange.eventually("it waits", [&] { return orange.call(rpc::DaemonStatus{}).connections > before; });
    auto waiter = std::stoi(read_file(orange.worktree(id) / "waiter"));
    ::kill(waiter, SIGKILL);
    orange.eventually("it is gone", [&] { return orange.call(rpc::DaemonStatus{}).connections == before; });
}

TEST_CASE("A connection that does not prove a living run of this user is refused with the reason") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto address = cluster.address(id);
    const auto hello = [&](const std::string& token) {
        return rpc::NodeHello{token, "nonce", address.text()}.payload();
    };
    // The right one, once.
    const auto good = cluster.credential(hello(cluster.token(id)));
    CHECK(answer_to(address, good) == rpc::NodeHello::welcome("nonce") + "\n");
    const auto replayed = cluster.refusal(address, good);
    CHECK(replayed.code == ErrorCode::unavailable);
    CHECK_THAT(replayed.message, Holds("Replayed credential (17)"));

    CHECK_THAT(cluster.refusal(address, "GET / HTTP/1.1\r\n").message, Holds("Failed to match armor prefix"));
    CHECK(cluster.refusal(address, std::string(5000, 'x')).code == ErrorCode::forbidden);
    CHECK(cluster.refusal(address, cluster.credential(hello("invented"))).code == ErrorCode::not_found);
    // A credential that was sent to another process, which passes it on.
    const auto passed_on = rpc::NodeHello{cluster.token(id), "nonce", "127.0.0.1:1"}.payload();
    CHECK(cluster.refusal(address, cluster.credential(passed_on)).code == ErrorCode::forbidden);
    cluster.set("uid", "4711");
    const auto stranger = cluster.refusal(address, cluster.credential(hello(cluster.token(id))));
    CHECK(stranger.code == ErrorCode::forbidden);
    CHECK_THAT(stranger.message, Tells("4711"));
    CHECK_THAT(cluster.play(id, "orange task update --summary Stolen"), Holds("4711") && Catch::EndsWith("\n1\n"));
    cluster.unset("uid");
    // What the agent reads of a MUNGE that does not run, here or there.
    for (const char* which : {"munge-down", "unmunge-down"}) {
        INFO(which);
        cluster.set(which);
        CHECK_THAT(cluster.play(id, "orange task update --summary Stolen"),
                   Holds("no munged here") && Tells("MUNGE") && Catch::EndsWith("\n1\n"));
        cluster.unset(which);
    }
    CHECK(orange.fields(id).at("summary") == "Far away");
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    CHECK(orange.fields(id).at("summary") == "Mine");

    const auto token = cluster.token(id);
    const auto second = cluster.create_begun();
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    const auto ended = cluster.refusal(cluster.address(second), cluster.credential(hello(token)));
    CHECK(ended.code == ErrorCode::not_found);
}

TEST_CASE("Callers on the network that prove nothing use up no descriptors of the daemon") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto address = cluster.address(id);
    const auto descriptors = [&] {
        const fs::directory_iterator all("/proc/" + std::to_string(orange.daemon_pid()) + "/fd");
        return std::distance(begin(all), end(all));
    };
    const auto before = descriptors();
    for (int n = 0; n < 600; ++n) {
        const UniqueFd caller(address.make_socket());
        REQUIRE(address.connect(caller.get()) == 0);
    }
    // The daemon accepts in turn: when it answers this caller, it has met the others.
    CHECK(cluster.refusal(address, "GET / HTTP/1.1\r\n").code == ErrorCode::unavailable);
    CHECK(descriptors() < before + 100);
    // Nor do they fill the log.
    CHECK(cluster.refusal(address, "GET / HTTP/1.1\r\n").code == ErrorCode::unavailable);
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    const auto log = read_file(orange.home() / "orange.log");
    CHECK(std::ranges::count_if(split_lines(log), [](std::string_view line) {
              return line.find("cannot check the credential") != std::string_view::npos;
          }) == 1);
}

TEST_CASE("Connections of strangers that stay open and silent shut no agent out, and are closed") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto address = cluster.address(id);
    std::vector<UniqueFd> strangers;
    for (int n = 0; n < 600; ++n) {
        strangers.emplace_back(address.make_socket());
        REQUIRE(address.connect(strangers.back().get()) == 0);
        if (n % 2 == 0) REQUIRE(::send(strangers.back().get(), "M", 1, MSG_NOSIGNAL) == 1);  // half of a line
    }
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    CHECK(orange.fields(id).at("summary") == "Mine");
    char piece = 0;
    for (const auto& stranger : strangers) CHECK(::recv(stranger.get(), &piece, 1, 0) <= 0);
}

/// Opens connections as long as it is there, and keeps the last ones.
class Flood {
  public:
    explicit Flood(const ClusterAddress& address)
        : thread_([this, address] {
              std::deque<UniqueFd> open;
              while (!over_) {
                  const auto& last = open.emplace_back(address.make_socket());
                  if (address.connect(last.get()) == 0) ++connected_;
                  if (open.size() > 300) open.pop_front();
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
          }) {}
    ~Flood() {
        over_ = true;
        thread_.join();
    }
    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;
    int connected() const { return connected_; }

  private:
    std::atomic<bool> over_{false};
    std::atomic<int> connected_{0};
    std::thread thread_;
};

TEST_CASE("A flood of connections that goes on while an agent calls does not shut it out") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const Flood flood(cluster.address(id));
    orange.eventually("no more may be open", [&] { return flood.connected() > 300; });
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    CHECK(orange.fields(id).at("summary") == "Mine");
}

TEST_CASE("A call whose connection is closed before it is looked at is tried again, and says so in the end") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto id = cluster.create_begun();
    const auto file = cluster.run_folder(id) / "daemon";
    const auto real = read_file(file);
    const auto parsed = ClusterAddress::parse("127.0.0.1:0").value();
    const UniqueFd busy(parsed.make_socket());
    REQUIRE(parsed.bind(busy.get()) == 0);
    REQUIRE(::listen(busy.get(), 16) == 0);
    write_file(file, ClusterAddress::own_of(busy.get()).text() + "\n");
    const auto accepted = [&] {
        pollfd waiting{busy.get(), POLLIN, 0};
        REQUIRE(::poll(&waiting, 1, 60'000) == 1);
        return UniqueFd(::accept(busy.get(), nullptr, nullptr));
    };
    cluster.give(id, "orange task update --summary Mine");
    const auto ran = [&] { return fs::exists(orange.worktree(id) / "out"); };
    SECTION("the daemon looks at a later one") {
        {
            const auto closed = accepted();
            write_file(file, real);
        }
        orange.eventually("the call is made", ran);
        CHECK(orange.fields(id).at("summary") == "Mine");
    }
    SECTION("all are closed") {
        for (int n = 0; n < 6; ++n) (void)accepted();
        orange.eventually("the call ends", ran);
        CHECK_THAT(read_file(orange.worktree(id) / "out"),
                   Tells("refused") && Tells("orange daemon status") && Catch::EndsWith("\n1\n"));
    }
}

TEST_CASE("An agent on another machine has a socket, although TMPDIR names a folder that is not there") {
    Cluster cluster;
    cluster.define("run: [env, TMPDIR=/not/there, \"{inner}\"]\n");
    const auto id = cluster.create_begun();
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    CHECK(cluster.orange.fields(id).at("summary") == "Mine");
}

TEST_CASE("An agent on another machine does not start while it could not call Orange from there") {
    const auto setting = GENERATE(std::string(), std::string("cluster_address: 192.0.2.1\n"));
    Cluster cluster(setting);
    auto& orange = cluster.orange;
    const auto id = cluster.create();
    REQUIRE(has_notice(cluster.show(id), NoticeKind::start_failed));
    CHECK_THAT(text_of(cluster.show(id), NoticeKind::start_failed), Tells("cluster_address"));
    CHECK(orange.run_of(id, "worker").is_null());
    CHECK_FALSE(cluster.show(id).fields.workspace);
    CHECK(orange.history(id, "agent.spawned").empty());
    // The human corrects the setting.
    auto config = read_file(orange.home() / "config.yml").substr(setting.size());
    write_file(orange.home() / "config.yml", "cluster_address: 127.0.0.1\n" + config);
    REQUIRE(orange.orange({"daemon", "reload"}).status == 0);
    rpc::TaskRespawn respawn;
    respawn.id = id;
    orange.call(respawn);
    CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    // A name would have to be resolved on both sides.
    write_file(orange.home() / "config.yml", "cluster_address: login.example.org\n" + config);
    const auto refused = orange.orange({"daemon", "reload"});
    CHECK(refused.status != 0);
    CHECK_THAT(refused.err, Tells("config.yml:1:18") && Holds("hostname -I"));
}

TEST_CASE("A run that its executor has ended, as at a limit of time, is no crash and can be started again") {
    Cluster cluster;
    auto& orange = cluster.orange;
    define_asked(cluster);
    const auto id = create_asked(cluster, "puppet");
    const auto end = [&](const std::string& command) {
        cluster.give(id, command);
        orange.eventually("its end is seen", [&] { return !orange.history(id, "agent.exited").empty(); });
    };
    SECTION("a limit of time") {
        cluster.set("asks.state", "TIMEOUT");
        end("kill -TERM $PPID");
        const auto task = cluster.show(id);
        CHECK(task.fields.crash_count() == 0);
        CHECK(orange.history(id, "agent.crashed").empty());
        CHECK(orange.history(id, "agent.exited").at(0).at("state") == "TIMEOUT");
        REQUIRE(has_notice(task, NoticeKind::agent_ended));
        CHECK_THAT(text_of(task, NoticeKind::agent_ended), Tells("TIMEOUT") && Tells("orange task respawn " + id));
        rpc::TaskRespawn respawn;
        respawn.id = id;
        orange.call(respawn);
        CHECK_THAT(cluster.play(id, "orange task update --summary Mine"), Catch::EndsWith("\n0\n"));
    }
    SECTION("a node that fails, which writes nothing") {
        cluster.set("asks.state", "NODE_FAIL");
        end("kill -KILL $(ps -o ppid= -p $PPID)");
        CHECK(cluster.show(id).fields.crash_count() == 0);
        CHECK_THAT(text_of(cluster.show(id), NoticeKind::agent_ended), Tells("NODE_FAIL"));
    }
    SECTION("a limit of time, while the executor does not answer") {
        cluster.set("asks.state", "TIMEOUT");
        cluster.set("asks.down");
        cluster.give(id, "kill -TERM $PPID");
        orange.eventually("it is unknown", [&] { return cluster.show(id).worker == "unknown"; });
        CHECK(orange.history(id, "agent.exited").empty());
        cluster.unset("asks.down");
        orange.eventually("its end is seen", [&] { return !orange.history(id, "agent.exited").empty(); });
        CHECK(cluster.show(id).fields.crash_count() == 0);
        CHECK(orange.history(id, "agent.exited").at(0).at("state") == "TIMEOUT");
    }
    SECTION("an end of its own") {
        cluster.set("asks.state", "FAILED");
        end("kill -TERM $PPID");
        orange.eventually("it is counted", [&] { return cluster.show(id).fields.crash_count() == 1; });
    }
}

TEST_CASE("A cancel answers while the executor does not, and its run is ended when it does") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto stops = cluster.script(
        "stops", "cd \"$(dirname \"$0\")\" || exit 1\ntouch stopping\nwhile test -e hold; do sleep 0.05; done\n");
    define_asked(cluster, stops);
    const auto id = create_asked(cluster, "puppet");
    cluster.set("hold");
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    orange.eventually("it is told to end", [&] { return fs::exists(cluster.bin() / "stopping"); });
    CHECK(orange.fields(id).at("status") == "cancelled");
    CHECK_FALSE(has_notice(cluster.show(id), NoticeKind::executor_stop));  // it has not failed yet
    CHECK(orange.history(id, "executor.stopped").empty());
    cluster.unset("hold");
    orange.eventually("its run is ended", [&] { return !orange.history(id, "executor.stopped").empty(); });
}

TEST_CASE("A run in a state that its executor's definition does not know has not ended") {
    Cluster cluster;
    auto& orange = cluster.orange;
    define_asked(cluster, "\"true\"", "over: [COMPLETED]\n");
    const auto id = create_asked(cluster, "puppet");
    rpc::TaskCancel cancel;
    cancel.id = id;
    SECTION("unknown") {
        cluster.set("asks.state", "SPECIAL_EXIT");
        orange.call(cancel);
        CHECK(orange.history(id, "executor.stopped").empty());
        cluster.set("asks.runs");
        orange.eventually("its run has ended", [&] { return !orange.history(id, "executor.stopped").empty(); });
    }
    SECTION("of an end") {
        cluster.set("asks.state", GENERATE("COMPLETED", "CANCELLED"));
        orange.call(cancel);
        CHECK_FALSE(has_notice(cluster.show(id), NoticeKind::executor_stop));
        CHECK_FALSE(Json::parse(read_file(orange.folder(id) / "state.json")).contains("left"));
    }
}

TEST_CASE("A job that the executor had ended, and shows again, is ended again, and the history says so") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto stops = cluster.script("stops", "cd \"$(dirname \"$0\")\" || exit 1\necho $1 >>stopped\n: >asks.runs\n");
    define_asked(cluster, stops + ", \"orange-{run}\"", "over: [COMPLETED]\n");
    const auto id = create_asked(cluster, "puppet");
    const auto runs = read_file(cluster.bin() / "asks.runs");
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(read_file(cluster.bin() / "stopped") == runs + "\n");
    cluster.set("asks.runs", runs);  // its controller started again with an older state
    orange.eventually("it is noticed", [&] { return !orange.history(id, "executor.returned").empty(); });
    orange.eventually("it is ended again",
                      [&] { return read_file(cluster.bin() / "stopped") == runs + "\n" + runs + "\n"; });
    orange.eventually("its notice is gone", [&] { return !has_notice(cluster.show(id), NoticeKind::executor_stop); });
}

TEST_CASE("An executor of other machines is refused while MUNGE does not run here, and its agents give signs") {
    Cluster cluster;
    cluster.set("munge-down");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Far away";
    create.harness = "puppet";
    create.executor = "far";
    const auto refused = cluster.orange.try_call(create);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Holds("no munged here"));
    cluster.unset("munge-down");
    const auto id = cluster.create_begun();
    cluster.orange.eventually("it gives a sign", [&] { return fs::exists(cluster.run_folder(id) / "alive"); });
}

TEST_CASE("A limit of time is no crash of an agent whose program ends in order when it is told to") {
    Cluster cluster;
    auto& orange = cluster.orange;
    std::string orderly = k_agent;
    orderly.replace(orderly.find("puppet"), 6, "orderly");
    orderly.replace(orderly.find("while :"), 7, "trap \"exit 3\" TERM; while :");
    write_file(orange.home() / "harnesses/orderly.yml", orderly);
    define_asked(cluster);
    const auto id = create_asked(cluster, "orderly");
    cluster.set("asks.state", "TIMEOUT");
    cluster.give(id, "kill -TERM $(ps -o ppid= -p $PPID)");
    orange.eventually("its end is seen", [&] { return !orange.history(id, "agent.exited").empty(); });
    const auto exited = orange.history(id, "agent.exited").at(0);
    CHECK(exited.at("exit_status") == 3);
    CHECK(exited.at("state") == "TIMEOUT");
    CHECK(cluster.show(id).fields.crash_count() == 0);
}

TEST_CASE("A job that Orange itself has cancelled does not count as ended by the executor, also for the next daemon") {
    Cluster cluster;
    auto& orange = cluster.orange;
    const auto stops = cluster.script("stops",
                                      "cd \"$(dirname \"$0\")\" || exit 1\necho CANCELLED >asks.state\ntouch stopped\n"
                                      "while test -e hold; do sleep 0.05; done\n");
    define_asked(cluster, stops);
    const auto id = create_asked(cluster, "puppet");
    cluster.set("asks.state", "FAILED");
    cluster.set("hold");
    cluster.give(id, "kill -TERM $PPID");
    orange.eventually("Orange cancels the job", [&] { return fs::exists(cluster.bin() / "stopped"); });
    orange.kill_daemon();
    cluster.unset("hold");
    orange.start_daemon();
    orange.eventually("its end is seen", [&] { return !orange.history(id, "agent.exited").empty(); });
    CHECK_FALSE(orange.history(id, "agent.exited").at(0).contains("state"));
    orange.eventually("it is counted", [&] { return cluster.show(id).fields.crash_count() == 1; });
}

}  // namespace orange::tests
