#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/sandbox.hpp"
#include "tests/machine.hpp"

/// A person's machine, an sshd on this one, and the homes of other machines behind it.
namespace orange::tests {

/// A port of 127.0.0.1 at which nobody listens.
inline int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(fd);
    if (!bound) throw std::runtime_error("no free port");
    return ntohs(address.sin_port);
}

inline bool listens(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool taken = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return taken;
}

inline std::string user_name() {
    const auto* user = ::getpwuid(::geteuid());
    return user ? user->pw_name : "";
}

/// sshd on a port of its own, for the user who runs the test. Its files are in `folder`.
class Sshd {
  public:
    Sshd(Sandbox& box, std::filesystem::path folder) : box_(box), folder_(std::move(folder)) {
        std::filesystem::create_directories(folder_);
        for (const char* key : {"host_key", "key", "other_key"}) {
            box_.run({ORANGE_TEST_SSH_KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", (folder_ / key).string()});
        }
        std::filesystem::copy_file(folder_ / "key.pub", folder_ / "authorized_keys");
        // The package's own folder, which sshd wants to see when root starts it; a service manager makes it elsewhere.
        if (::geteuid() == 0) ::mkdir("/run/sshd", 0755);
        for (int tries = 0; !start(); ++tries) {
            if (tries == 5) box_.fail("sshd does not start:\n" + read_file(folder_ / "sshd.log"));
        }
    }
    ~Sshd() {
        for (const auto pid : sessions()) ::kill(pid, SIGKILL);
        if (pid_ > 0) end();
    }
    Sshd(const Sshd&) = delete;
    Sshd& operator=(const Sshd&) = delete;

    int port() const { return port_; }
    pid_t pid() const { return pid_; }
    std::filesystem::path file(const std::string& name) const { return folder_ / name; }
    /// The processes that serve the connections: one for each connection of root, two for one of another user.
    std::vector<pid_t> sessions() const {
        std::vector<pid_t> all = {pid_};
        for (std::size_t next = 0; next < all.size(); ++next) {
            const auto pid = std::to_string(all[next]);
            std::istringstream list(read_file("/proc/" + pid + "/task/" + pid + "/children"));
            for (pid_t child = 0; list >> child;) {
                if (read_file("/proc/" + std::to_string(child) + "/comm").starts_with("sshd")) all.push_back(child);
            }
        }
        all.erase(all.begin());
        return all;
    }
    void signal(int number) const {
        for (const auto pid : sessions()) ::kill(pid, number);
    }

  private:
    bool start() {
        port_ = free_port();
        write_file(file("sshd_config"), "ListenAddress 127.0.0.1\nPort " + std::to_string(port_) + "\nHostKey " +
                                            file("host_key").string() + "\nAuthorizedKeysFile " +
                                            file("authorized_keys").string() +
                                            "\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
                                            "PasswordAuthentication yes\nKbdInteractiveAuthentication no\n"
                                            "PrintMotd no\nMaxStartups 100\n");
        const auto config = file("sshd_config").string(), log = file("sshd.log").string();
        std::vector<std::string> words = {ORANGE_TEST_SSHD, "-D", "-f", config, "-E", log};
        std::vector<char*> argv;
        for (auto& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        char* environment[] = {nullptr};
        if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environment) != 0) return false;
        for (int i = 0; i < 1000; ++i) {
            if (listens(port_)) return true;
            if (::waitpid(pid_, nullptr, WNOHANG) == pid_) break;  // another program has taken the port
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        if (pid_ > 0) end();
        return false;
    }
    void end() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

    Sandbox& box_;
    std::filesystem::path folder_;
    int port_ = 0;
    pid_t pid_ = -1;
};

/// A program that runs orange for the home of `there`, as a host's own would.
inline std::filesystem::path program_of(Sandbox& there, const std::string& before = {}) {
    const auto path = there.root() / ("orange-there" + std::string(before.empty() ? "" : "-noisy"));
    write_file(path, "#!/bin/sh\n" + before + "exec env -i HOME='" + there.root().string() + "' ORANGE_HOME='" +
                         there.home().string() + "' ORANGE_NO_AUTOSTART=1 ORANGE_SHARE='" ORANGE_SOURCE_DIR "' PATH='" +
                         program("orange").parent_path().string() + ":" + tools() +
                         "' LANG=C.UTF-8 TERM=\"$TERM\" SSH_CONNECTION=\"$SSH_CONNECTION\" orange \"$@\"\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
}

/// The machine of a person who has other machines.
class HostsDesk {
  public:
    HostsDesk() : sshd(here, here.root() / "sshd") {
        const auto ssh = here.root() / "ssh-bin" / "ssh";
        std::filesystem::create_directories(ssh.parent_path());
        use_ssh("");
        std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
        const auto port = std::to_string(sshd.port());
        write_file(sshd.file("known_hosts"), "[127.0.0.1]:" + port + " " + read_file(sshd.file("host_key.pub")));
        write_file(sshd.file("changed_hosts"), "[127.0.0.1]:" + port + " " + read_file(sshd.file("other_key.pub")));
        const auto file = [&](const char* name) { return sshd.file(name).string(); };
        write_file(here.root() / "ssh_config",
                   "Host gone\n  Port " + std::to_string(free_port()) + "\nHost stranger\n  UserKnownHostsFile " +
                       file("no_hosts") + "\nHost changed\n  UserKnownHostsFile " + file("changed_hosts") +
                       "\nHost locked\n  IdentityFile " + file("other_key") +
                       "\nHost *\n  HostName 127.0.0.1\n  Port " + port + "\n  User " + user_name() +
                       "\n  UserKnownHostsFile " + file("known_hosts") +
                       "\n  IdentitiesOnly yes\n  IdentityAgent none\n  GlobalKnownHostsFile /dev/null\n"
                       "  StrictHostKeyChecking yes\nHost * !locked\n  IdentityFile " +
                       file("key") + "\n");
    }

    /// Runs sh's text before ssh, with ssh's arguments as its own.
    void use_ssh(const std::string& before) {
        write_file(here.root() / "ssh-bin" / "ssh", "#!/bin/sh\n" + before + "exec " ORANGE_TEST_SSH " -F '" +
                                                        (here.root() / "ssh_config").string() + "' \"$@\"\n");
    }
    std::string path() const {
        return "PATH=" + (here.root() / "ssh-bin").string() + ":" + program("orange").parent_path().string() + ":" +
               tools();
    }
    Ran orange(std::vector<std::string> words, const std::string& input = {},
               const std::vector<std::string>& variables = {}) {
        words.insert(words.begin(), program("orange").string());
        words.insert(words.begin(), variables.begin(), variables.end());
        words.insert(words.begin(), {"env", path()});
        return here.try_run(words, {}, input);
    }
    std::string out_of(const std::vector<std::string>& words, const std::string& input = {}) {
        const auto ran = orange(words, input);
        if (ran.status != 0) here.fail(join(words, " ") + ": " + ran.out + ran.err);
        return ran.out;
    }
    void add(const std::string& name, const std::filesystem::path& program, const std::string& ssh = {},
             const std::string& deadline = "1") {
        out_of({"host", "add", name, ssh.empty() ? name : ssh, "--program", program.string(), "--deadline", deadline});
    }
    /// Makes ssh connect to another sshd under that name.
    void reach(const std::string& name, const Sshd& other) {
        const auto config = here.root() / "ssh_config";
        write_file(other.file("known_hosts"),
                   "[127.0.0.1]:" + std::to_string(other.port()) + " " + read_file(other.file("host_key.pub")));
        write_file(config, "Host " + name + "\n  Port " + std::to_string(other.port()) + "\n  IdentityFile " +
                               other.file("key").string() + "\n  UserKnownHostsFile " +
                               other.file("known_hosts").string() + "\n" + read_file(config));
    }
    /// The error of a command with --json.
    Json error_of(const std::vector<std::string>& words) {
        const auto ran = orange(words);
        INFO(ran.out + ran.err);
        CHECK(ran.status != 0);
        return Json::parse(ran.out).at("error");
    }

    Sandbox here;
    Sshd sshd;
};

/// The name of the error that a reply, or the state of a host, has.
inline std::string code_of(const Json& holder) {
    return holder.at("error").at("data").at("name").get<std::string>();
}

inline std::size_t count_tasks(Sandbox& box) {
    rpc::TaskList list;
    list.all = true;
    return box.call(list).tasks.size();
}

inline std::string message_of(const Json& error) {
    return error.at("message").get<std::string>();
}

}  // namespace orange::tests
