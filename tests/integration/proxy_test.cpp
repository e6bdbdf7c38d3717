#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/text.hpp"
#include "common/posix/fd.hpp"
#include "daemon/shim/proxy.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/integration/sandbox.hpp"

/// orange-agent --proxy and --through with the real squid: the places of a list, and nothing else.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_much = 50 * 1024 * 1024;

const std::string& much() {
    static const std::string text = [] {
        std::string made(k_much, '\0');
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>(i * 2654435761U >> 13);
        return made;
    }();
    return text;
}

/// Fails the test if the world does not come to it.
void wait_until(const std::string& what, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
        INFO(what);
        REQUIRE(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

bool send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool read_some(int socket, std::string& text) {
    char piece[64 * 1024];
    const auto got = ::read(socket, piece, sizeof piece);
    if (got > 0) text.append(piece, static_cast<std::size_t>(got));
    return got > 0;
}

/// A server of HTTP on the loopback. It answers with the request's first two lines; `/much` with much(); a POST with
/// the hash of its body. Each connection has one request.
class Origin {
  public:
    Origin() {
        sockaddr_in four{};
        four.sin_family = AF_INET;
        four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof four;
        auto* generic = reinterpret_cast<sockaddr*>(&four);
        REQUIRE(::bind(listener_.get(), generic, size) == 0);
        REQUIRE(::listen(listener_.get(), 256) == 0);
        REQUIRE(::getsockname(listener_.get(), generic, &size) == 0);
        port = std::to_string(ntohs(four.sin_port));
        // squid takes the last address that /etc/hosts has for localhost, which may be this one.
        sockaddr_in6 six{};
        six.sin6_family = AF_INET6;
        six.sin6_port = four.sin_port;
        six.sin6_addr = in6addr_loopback;
        (void)::bind(listener_of_six_.get(), reinterpret_cast<sockaddr*>(&six), sizeof six);
        (void)::listen(listener_of_six_.get(), 256);
        servers_.emplace_back([this] { accept_all(listener_.get()); });
        servers_.emplace_back([this] { accept_all(listener_of_six_.get()); });
    }
    ~Origin() {
        for (const int listener : {listener_.get(), listener_of_six_.get()}) ::shutdown(listener, SHUT_RDWR);
        for (auto& each : servers_) each.join();
        for (const auto& client : clients_) ::shutdown(client.get(), SHUT_RDWR);
        for (auto& each : threads_) each.join();
    }
    Origin(const Origin&) = delete;

    std::vector<std::string> asked() {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    /// As the list has it, with the addresses that its name may have.
    std::vector<std::string> place() const { return {"localhost:" + port, "127.0.0.1:" + port, "[::1]:9"}; }
    std::string at(const std::string& host, const std::string& path = "/") const {
        return "http://" + host + ":" + port + path;
    }

    std::string port;

  private:
    void accept_all(int listener) {
        for (;;) {
            UniqueFd client(::accept(listener, nullptr, nullptr));
            if (!client) return;
            const std::lock_guard lock(mutex_);
            const int fd = clients_.emplace_back(std::move(client)).get();
            threads_.emplace_back([this, fd] {
                answer(fd);
                ::shutdown(fd, SHUT_RDWR);
            });
        }
    }
    void answer(int client) {
        std::string text;
        while (text.find("\r\n\r\n") == std::string::npos) {
            if (!read_some(client, text)) return;
        }
        const auto head = text.substr(0, text.find("\r\n\r\n")), first = head.substr(0, head.find("\r\n"));
        {
            const std::lock_guard lock(mutex_);
            asked_.push_back(first);
        }
        auto body = first + " " + head.substr(std::min(head.size(), head.find("Host:")), 80) + "\n";
        if (first.find("/much") != first.npos) body = much();
        if (first.starts_with("POST")) {
            text.erase(0, head.size() + 4);
            while (text.size() < k_much) {
                if (!read_some(client, text)) return;
            }
            body = fast_hash(text);
        }
        send_all(client,
                 "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n");
        send_all(client, body);
    }

    UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    UniqueFd listener_of_six_{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::mutex mutex_;
    std::vector<std::string> asked_;
    std::list<UniqueFd> clients_;
    std::list<std::thread> threads_, servers_;
};

std::string request(const std::string& url, const std::string& method = "GET", const std::string& head = {}) {
    return method + " " + url + " HTTP/1.1\r\nHost: " + (method == "CONNECT" ? url : "other.invalid") + "\r\n" + head +
           "\r\n";
}

/// `orange-agent --proxy` with these places, and a command below it. Its files are in a folder of its own.
class Proxied {
  public:
    /// `script`: of sh, with the folder as its directory.
    explicit Proxied(const std::vector<std::string>& places, const std::string& script = k_wait,
                     const std::string& terminal = {}, const std::string& path = {}) {
        REQUIRE(::mkfifo((folder_ / "go").c_str(), 0600) == 0);
        std::vector<std::string> argv = {program("orange-agent").string(), std::string(k_proxy_option), socket(),
                                         (folder_ / "log").string()};
        argv.insert(argv.end(), places.begin(), places.end());
        argv.insert(argv.end(), {"--", "sh", "-c", script});
        start(argv, terminal, path);
    }
    ~Proxied() {
        if (pid_ > 0) ::kill(pid_, SIGKILL);
        if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    }
    Proxied(const Proxied&) = delete;

    void wait_for(const std::string& file) const {
        wait_until(file + ": " + read_file(folder_ / "err"), [&] { return fs::exists(folder_ / file); });
    }
    /// Returns the wait status.
    int status() {
        int status = 0;
        REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
        return status;
    }
    void go() const { write_file(folder_ / "go", "go\n"); }

    UniqueFd connect() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy_n(socket().c_str(), socket().size() + 1, address.sun_path);
        UniqueFd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const timeval patience{60, 0};
        ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
        return made;
    }
    /// Sends the text, and returns what comes until the other side ends.
    std::string say(const std::string& text) const {
        const auto socket = connect();
        std::string answer;
        send_all(socket.get(), text);
        while (read_some(socket.get(), answer)) {
        }
        return answer;
    }
    std::string get(const std::string& url, const std::string& method = "GET") const {
        return say(request(url, method, "Connection: close\r\n"));
    }
    /// Returns the number of the answer.
    std::string ask(const std::string& url, const std::string& method = "GET") const {
        return get(url, method).substr(9, 3);
    }
    /// Through a tunnel; the number of the answer to CONNECT and what follows it.
    std::string tunnel(const std::string& place, const std::string& text) const {
        const auto socket = connect();
        send_all(socket.get(), request(place, "CONNECT"));
        std::string answer;
        while (answer.find("\r\n\r\n") == std::string::npos && read_some(socket.get(), answer)) {
        }
        if (answer.substr(9, 3) != "200") return answer.substr(9, 3);
        send_all(socket.get(), text);
        while (read_some(socket.get(), answer)) {
        }
        return answer.substr(9);
    }
    std::string log() const { return read_file(folder_ / "log"); }
    /// The log comes a moment after the answer.
    void wait_for_log(const std::string& text) const {
        wait_until("the log has " + text, [&] { return log().find(text) != std::string::npos; });
    }
    std::string err() const { return read_file(folder_ / "err"); }
    std::string file(const std::string& name) const { return read_file(folder_ / name); }
    std::string socket() const { return (folder_ / "s").string(); }
    pid_t pid() const { return pid_; }

    static constexpr const char* k_wait = "echo >begun; read word <go; exit 7";

  private:
    void start(const std::vector<std::string>& argv, const std::string& terminal, const std::string& path) {
        std::vector<char*> words;
        for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        const auto folder = folder_.path().string();
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::setsid();
        if (!terminal.empty()) (void)::dup2(::open(terminal.c_str(), O_RDWR), STDIN_FILENO);
        (void)!::chdir(folder.c_str());
        if (!path.empty()) ::setenv("PATH", (path + ":" + std::getenv("PATH")).c_str(), 1);
        (void)::dup2(::open("out", O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
        (void)::dup2(::open("err", O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        ::execv(words[0], words.data());
        ::_exit(99);
    }

    testing::TemporaryFolder folder_;
    pid_t pid_ = -1;
};

struct ProxiedProcess {
    pid_t pid = 0;
    std::string name;
};

/// Returns the processes below `top`, as /proc has them. A process that has ended is none, though nobody has reaped it.
std::vector<ProxiedProcess> below(pid_t top) {
    std::vector<ProxiedProcess> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto pid = whole_number(entry.path().filename().string());
        const auto stat = pid ? read_file(entry.path() / "stat") : std::string();
        const auto end = stat.rfind(") ");
        if (end == std::string::npos || stat[end + 2] == 'Z') continue;
        const auto parent = static_cast<pid_t>(std::stol(stat.substr(end + 4)));
        if (parent != top) continue;
        const auto begin = stat.find('(') + 1;
        found.push_back({static_cast<pid_t>(*pid), stat.substr(begin, end - begin)});
        const auto deeper = below(found.back().pid);
        found.insert(found.end(), deeper.begin(), deeper.end());
    }
    return found;
}

bool is_alive(pid_t pid) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto end = stat.rfind(") ");
    return end != std::string::npos && stat[end + 2] != 'Z';
}

pid_t squid_below(pid_t top) {
    for (const auto& each : below(top)) {
        if (each.name == "squid") return each.pid;
    }
    return 0;
}

/// Returns the port of the loopback on which the process listens; 0 if it listens on none.
int port_of(pid_t pid) {
    std::vector<std::string> own;
    std::error_code error;
    for (const auto& fd : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
        const auto target = fs::read_symlink(fd.path(), error).string();
        if (target.starts_with("socket:[")) own.push_back(" " + target.substr(8, target.size() - 9) + " ");
    }
    for (const auto line : split_lines(read_file("/proc/net/tcp"))) {
        const auto port = line.find("0100007F:");
        const bool listens = line.find(" 0A ") != line.npos && port != line.npos;
        const auto is_of_line = [&](const std::string& inode) { return line.find(inode) != line.npos; };
        if (listens && std::ranges::any_of(own, is_of_line)) {
            return std::stoi(std::string(line.substr(port + 9, 4)), nullptr, 16);
        }
    }
    return 0;
}

}  // namespace

TEST_CASE("The proxy leads to the places of its list in every spelling, and nowhere else") {
    Origin listed, other;
    const Proxied proxy(listed.place());
    proxy.wait_for("begun");
    const auto place = "localhost:" + listed.port;
    CHECK_THAT(proxy.get(listed.at("localhost", "/one")), Holds("GET /one HTTP/1.1 Host: " + place));
    CHECK(proxy.ask(listed.at("LOCALHOST.", "/two")) == "200");
    CHECK(proxy.ask(listed.at("user:word@localhost", "/three")) == "200");
    CHECK(proxy.ask(listed.at("127.0.0.1", "/four")) == "200");
    CHECK(proxy.ask(listed.at("0x7f.1", "/five")) == "200");
    CHECK_THAT(proxy.tunnel(place, request("/six")), Holds("GET /six HTTP/1.1"));
    CHECK(listed.asked().size() == 6);

    const auto there = "localhost:" + other.port;
    CHECK(proxy.ask(other.at("localhost", "/secret?secret")) == "403");
    CHECK(proxy.tunnel(there, {}) == "403");
    CHECK(proxy.ask(listed.at("elsewhere.invalid")) == "403");
    CHECK(proxy.ask(listed.at("localhost@elsewhere.invalid")) == "403");
    CHECK(proxy.ask(listed.at("localhost.elsewhere.invalid")) == "403");
    CHECK(proxy.tunnel("elsewhere.invalid:443", {}) == "403");
    for (const char* literal : {"127.0.0.2", "127.2", "0x7f000002", "2130706434", "0177.0.0.2", "10.0.0.1", "[::2]",
                                "[::ffff:127.0.0.2]", "0.0.0.0", "0", "[::]", "169.254.169.254"}) {
        INFO(literal);
        CHECK(proxy.ask(listed.at(literal)) == "403");
        CHECK(proxy.tunnel(literal + (":" + listed.port), {}) == "403");
    }
    CHECK(proxy.ask("ftp://" + place + "/") == "403");
    CHECK(proxy.ask("https://" + place + "/") == "403");
    CHECK(proxy.ask("urn:" + place) == "403");
    CHECK(proxy.ask("http://" + place + "/squid-internal-mgr/info") == "403");
    CHECK(proxy.ask("http://orange-proxy/squid-internal-mgr/info") == "403");
    CHECK(proxy.ask("/", "GET") == "400");
    CHECK(proxy.ask(listed.at("")).starts_with("40"));
    const auto both = proxy.say(request(listed.at("localhost", "/seven")) +
                                request(other.at("localhost", "/eight"), "GET", "Connection: close\r\n"));
    CHECK_THAT(both, Holds("200 OK"));
    CHECK_THAT(both, Holds("403 Forbidden"));
    CHECK(listed.asked().size() == 7);
    CHECK(other.asked().empty());

    for (const auto& refused : {"GET " + there, "CONNECT " + there, std::string("CONNECT elsewhere.invalid:443"),
                                "GET [::2]:" + listed.port}) {
        proxy.wait_for_log("Z " + refused + "\n");
    }
    CHECK(proxy.log().find("secret") == std::string::npos);
}

TEST_CASE("A permitted name that leads to an address inside is refused, unless the list has that address") {
    Origin origin;
    const auto place = "localhost:" + origin.port;
    for (const std::string& beside : {std::string(), std::string("127.0.0.2"), std::string("128.0.0.0/1")}) {
        INFO(beside);
        std::vector<std::string> places = {place, ".invalid"};
        if (!beside.empty()) places.push_back(beside);
        const Proxied proxy(places);
        proxy.wait_for("begun");
        CHECK(proxy.ask(origin.at("localhost")) == "403");
        CHECK(proxy.tunnel(place, {}) == "403");
        proxy.wait_for_log("CONNECT " + place + " (its name leads to an address that is not in the list)");
    }
    CHECK(origin.asked().empty());
    const Proxied proxy({place, "127.0.0.0/8:9", "[::1]:9"});
    proxy.wait_for("begun");
    CHECK(proxy.ask(origin.at("localhost")) == "200");
    CHECK(proxy.ask(origin.at("127.0.0.1")) == "403");
}

TEST_CASE("Many connections through the proxy at once, and much in each direction, arrive whole") {
    Origin origin;
    const Proxied proxy(origin.place());
    proxy.wait_for("begun");
    const auto place = "localhost:" + origin.port;
    std::atomic<int> arrived = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 100; ++i) {
        clients.emplace_back([&, i] {
            const auto path = "/number-" + std::to_string(i);
            const auto answer = proxy.tunnel(place, request(path));
            if (answer.find("GET " + path + " ") != std::string::npos) ++arrived;
        });
    }
    for (auto& each : clients) each.join();
    CHECK(arrived == 100);

    const auto is_much = [](const std::string& answer) { return answer.ends_with("\r\n\r\n" + much()); };
    CHECK(is_much(proxy.get(origin.at("localhost", "/much"))));
    CHECK(is_much(proxy.tunnel(place, request("/much"))));
    const auto length = "Content-Length: " + std::to_string(k_much) + "\r\nConnection: close\r\n";
    const auto hash = fast_hash(much());
    CHECK_THAT(proxy.say(request(origin.at("localhost"), "POST", length) + much()).substr(0, 4096), Holds(hash));
    CHECK_THAT(proxy.tunnel(place, request("/", "POST", length) + much()).substr(0, 4096), Holds(hash));
}

TEST_CASE("A client that stops sending, and one that is gone, disturb no other one") {
    Origin origin;
    const Proxied proxy(origin.place());
    proxy.wait_for("begun");
    const auto squid = squid_below(proxy.pid());
    for (int i = 0; i < 20; ++i) {
        const auto half = proxy.connect(), gone = proxy.connect();
        for (const int socket : {half.get(), gone.get()}) {
            send_all(socket, i % 2 == 0 ? request(origin.at("localhost", "/half"))
                                        : request("localhost:" + origin.port, "CONNECT"));
        }
        ::shutdown(half.get(), SHUT_WR);
        std::string answer;
        while (read_some(half.get(), answer)) {
        }
    }
    CHECK(proxy.ask(origin.at("localhost", "/whole")) == "200");
    CHECK(squid_below(proxy.pid()) == squid);
    wait_until("no connection is left", [&] { return below(proxy.pid()).size() == 3; });
}

TEST_CASE("A place that was refused is written once, and not more than some are") {
    const Proxied proxy({"example.org"});
    proxy.wait_for("begun");
    const auto last = "Connection: close\r\n";
    std::string many;
    for (int i = 0; i < 1100; ++i) many += request("http://name" + std::to_string(i) + ".invalid/");
    for (int i = 0; i < 50; ++i) proxy.get("http://same.invalid/" + std::to_string(i));
    proxy.say(many + request("http://end.invalid/", "GET", last));
    proxy.wait_for_log("More is not written here");
    const auto log = proxy.log();
    CHECK(std::ranges::count(log, '\n') == 1000);
    const auto same = log.find("same.invalid:80");
    CHECK(same != std::string::npos);
    CHECK(log.find("same.invalid", same + 1) == std::string::npos);
    CHECK(log.find("end.invalid") == std::string::npos);
}

TEST_CASE("The exit status and the signals of a command are those of its proxy, which ends with it") {
    Origin origin;
    std::vector<ProxiedProcess> others;
    const auto remember = [&](const Proxied& proxy) {
        proxy.wait_for("begun");
        others = below(proxy.pid());
        CHECK(others.size() == 3);
        // NUL is between the words: squid -N -n NAME …
        auto words = read_file("/proc/" + std::to_string(squid_below(proxy.pid())) + "/cmdline");
        std::ranges::replace(words, '\0', ' ');
        const auto name = std::string(split(words, ' ').at(3));
        CHECK(name.starts_with("orange"));
        for (const auto& file : fs::directory_iterator("/dev/shm")) {
            CHECK_FALSE(file.path().filename().string().starts_with(name));
        }
        for (const auto& each : others) {
            INFO(each.name);
            CHECK(::getsid(each.pid) != ::getsid(proxy.pid()));
            for (const char* fd : {"0", "1", "2"}) {
                const auto link = "/proc/" + std::to_string(each.pid) + "/fd/" + fd;
                std::error_code error;
                const auto target = fs::read_symlink(link, error).string();
                CHECK((target == "/dev/null" || target.starts_with("pipe:")));
            }
        }
    };
    SECTION("it exits") {
        Proxied proxy(origin.place());
        remember(proxy);
        proxy.go();
        const int status = proxy.status();
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 7);
    }
    SECTION("it is killed") {
        Proxied proxy(origin.place());
        remember(proxy);
        ::kill(proxy.pid(), SIGKILL);
        CHECK(WTERMSIG(proxy.status()) == SIGKILL);
    }
    SECTION("a signal reaches it") {
        Proxied proxy(origin.place());
        remember(proxy);
        ::kill(proxy.pid(), SIGTERM);
        CHECK(WTERMSIG(proxy.status()) == SIGTERM);
    }
    for (const auto& each : others) {
        INFO(each.name);
        wait_until("it has ended", [&] { return !is_alive(each.pid); });
    }
}

TEST_CASE("Ctrl-C on the terminal reaches the command, and its proxy goes on") {
    Origin origin;
    const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(::grantpt(master.get()) == 0);
    REQUIRE(::unlockpt(master.get()) == 0);
    const Proxied proxy(origin.place(), "trap 'echo >interrupted' INT; echo >begun; while :; do read word <go; done",
                        ::ptsname(master.get()));
    proxy.wait_for("begun");
    REQUIRE(::write(master.get(), "\x03", 1) == 1);
    proxy.wait_for("interrupted");
    CHECK(proxy.ask(origin.at("localhost")) == "200");
}

TEST_CASE("A squid that ends is started again, and the log says so") {
    Origin origin;
    const Proxied proxy(origin.place());
    proxy.wait_for("begun");
    CHECK(proxy.ask(origin.at("localhost")) == "200");
    const auto squid = squid_below(proxy.pid());
    REQUIRE(squid > 0);
    const int port = port_of(squid);
    REQUIRE(port > 0);
    ::kill(squid, SIGKILL);
    wait_until("squid has ended", [&] { return !is_alive(squid); });
    // Another program takes its port, to which nothing must lead now.
    const UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(other.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(other.get(), 16) == 0);
    proxy.wait_for_log("squid has ended, and is started again");
    CHECK(proxy.ask(origin.at("localhost")) == "200");
    CHECK(squid_below(proxy.pid()) != squid);
    CHECK(::accept(other.get(), nullptr, nullptr) < 0);
}

TEST_CASE("Without its proxy no command begins") {
    const auto fails = [](std::vector<std::string> words) {
        Proxied proxy(std::move(words), "echo >begun");
        const int status = WEXITSTATUS(proxy.status());
        CHECK(proxy.file("begun").empty());
        return std::pair(status, proxy.err());
    };
    CHECK(fails({}).first == 2);
    const auto [status, err] = fails({"http://example.org"});
    CHECK(status == 126);
    CHECK_THAT(err, Tells("http://example.org"));
}

TEST_CASE("A squid without some of its parts begins without their settings, and one that fails says why") {
    const testing::TemporaryFolder folder;
    const auto begin = [&](const std::string& script) {
        write_file(folder / "squid", "#!/bin/sh\n" + script);
        fs::permissions(folder / "squid", fs::perms(0755));  // as root, another user runs it
        return std::make_unique<Proxied>(std::vector<std::string>{"example.org"}, Proxied::k_wait, std::string(),
                                         folder.path().string());
    };
    SECTION("parts") {
        const auto proxy = begin(
            "if grep -q pinger_enable; then echo \"conf: unrecognized: 'pinger_enable off'\" >&2; exit 1; fi\n"
            "echo '2026/12/01 12:00:00| Accepting HTTP Socket connections at conn1' >&2\nexec sleep 600\n");
        proxy->wait_for("begun");
    }
    SECTION("fails") {
        const auto proxy = begin("echo '2026/12/01 12:00:00| FATAL: no luck' >&2\nexit 1\n");
        CHECK(WEXITSTATUS(proxy->status()) == 126);
        CHECK_THAT(proxy->err(), Tells("squid") && Holds("started: FATAL: no luck\n"));
        CHECK(proxy->file("begun").empty());
    }
}

TEST_CASE("In a box without a network, programs reach the places by the proxy that their variables name",
          "[user-namespaces]") {
    Origin one, two;
    const auto in_box = [](const std::string& script) {
        return "exec bwrap --dev-bind / / --unshare-net --unshare-pid --die-with-parent '" +
               program("orange-agent").string() + "' " + std::string(k_through_option) + " \"$PWD/s\" -- sh -c '" +
               script + "'";
    };
    const auto script = in_box(
        "env | grep -i proxy >variables; "
        "for port in " +
        one.port + " " + two.port +
        "; do "
        "printf \"GET /tunnel HTTP/1.0\\r\\n\\r\\n\" | "
        "timeout 30 nc -X connect -x ${http_proxy#http://} localhost $port >$port 2>&1; "
        "nc -z -w 5 127.0.0.1 $port && echo direct; "
        "done; nc -z -w 5 -u 8.8.8.8 53 && echo outside; echo >begun; read word <go; exit 9");
    Proxied first(one.place(), script), second(two.place(), script);
    for (auto* proxy : {&first, &second}) {
        proxy->wait_for("begun");
        CHECK(proxy->file("out").empty());
        CHECK_THAT(proxy->file("variables"), Holds("https_proxy=http://127.0.0.1:3128\n"));
        CHECK_THAT(proxy->file("variables"), Holds("NO_PROXY=localhost,127.0.0.1,::1\n"));
    }
    CHECK_THAT(first.file(one.port), Holds("GET /tunnel HTTP/1.0"));
    CHECK(first.file(two.port).find("GET /tunnel") == std::string::npos);
    CHECK_THAT(second.file(two.port), Holds("GET /tunnel HTTP/1.0"));
    CHECK(second.file(one.port).find("GET /tunnel") == std::string::npos);
    CHECK(one.asked().size() == 1);
    CHECK(two.asked().size() == 1);
    first.wait_for_log("CONNECT localhost:" + two.port);
    for (auto* proxy : {&first, &second}) {
        proxy->go();
        CHECK(WEXITSTATUS(proxy->status()) == 9);
    }
}

}  // namespace orange::tests
