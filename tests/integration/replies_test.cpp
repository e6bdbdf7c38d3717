#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/sandbox.hpp"

/// From a notification to a task that goes on, with the recipes of docs/notifications.md and stand-ins for the
/// services.
namespace orange::tests {
namespace {

/// The recipe of that heading, as the page has it.
std::string recipe(const std::string& heading) {
    const auto page = read_file(ORANGE_SOURCE_DIR "/docs/notifications.md");
    const auto section = page.find("\n### " + heading + "\n");
    REQUIRE(section != std::string::npos);
    const std::string fence = "\n```python\n";
    const auto begin = page.find(fence, section) + fence.size();
    return page.substr(begin, page.find("\n```", begin) + 1 - begin);
}

std::string with_name(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// A stand-in for ntfy and for Telegram. Messages that were sent are lines of `sent`; what a client of the service
/// would write is a line of `answers`.
constexpr const char* k_service = R"(
import http.server, json, pathlib, sys, time, urllib.parse

root = pathlib.Path(sys.argv[1])
answers, sent = root / "answers", root / "sent"
answers.touch()


def lines(after):
    while True:
        found = [each for each in answers.read_text().split("\n")[:-1]][after:]
        if found:
            return found
        time.sleep(0.01)


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path.endswith("/getUpdates"):
            offset = int(urllib.parse.parse_qs(data)["offset"][0])
            updates = [{"update_id": offset + n, "message": {"chat": {"id": 123456789}, "text": text}}
                       for n, text in enumerate(lines(offset))]
            return self.reply({"ok": True, "result": updates})
        if self.path.endswith("/sendMessage"):
            data = urllib.parse.parse_qs(data)["text"][0]
        with sent.open("a") as file:
            file.write(json.dumps(data) + "\n")
        self.reply({"ok": True, "result": {}})

    def do_GET(self):
        since = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["since"][0]
        at = int(since) if since.isdigit() else 0
        self.send_response(200)
        self.end_headers()
        self.event({"event": "open"})
        while True:
            for text in lines(at):
                at += 1
                self.event({"event": "message", "id": str(at), "message": text})

    def event(self, event):
        self.wfile.write(json.dumps(event).encode() + b"\n")
        self.wfile.flush()

    def reply(self, value):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
server.daemon_threads = True
(root / "port.new").write_text(str(server.server_address[1]))
(root / "port.new").rename(root / "port")
server.serve_forever()
)";

/// A daemon whose notifications go through a recipe, and come back through it.
struct Phone {
    /// `finish` puts the places of the stand-ins into the recipe.
    Phone(const std::string& heading, const std::function<std::string(Phone&, std::string)>& finish) {
        orange.add_project("shop");
        write_file(orange.root() / "service.py", k_service);
        service =
            std::stoi(orange.run({"sh", "-c", "\"$0\" service.py . >/dev/null 2>&1 & echo $!", python}, orange.root()));
        orange.eventually("the service listens", [&] { return std::filesystem::exists(orange.root() / "port"); });
        write_file(program, finish(*this, recipe(heading)));
        const auto words = python + ", " + program.string();
        write_file(orange.home() / "config.yml", "notify: [" + words + ", send]\nreply: [" + words + ", listen]\n");
        REQUIRE(orange.orange({"daemon", "reload"}).status == 0);
    }
    ~Phone() {
        orange.stop_daemon();  // ends the program, too
        ::kill(service, SIGKILL);
    }
    std::string address() const { return "http://127.0.0.1:" + read_file(orange.root() / "port"); }
    void writes(const std::string& text) {
        std::ofstream(orange.root() / "answers", std::ios::app) << text << "\n" << std::flush;
    }
    /// The token for that in the message that is about `text`, once it has come.
    std::string token(const std::string& does, const std::string& text) {
        std::string found;
        orange.eventually("the notification has come", [&] {
            const auto text_of_sent = read_file(sent);
            for (const auto line : split_lines(text_of_sent)) {
                const auto message = Json::parse(line).get<std::string>();
                const auto at = message.find("\n" + does + ": ");
                if (message.find(text) == std::string::npos || at == std::string::npos) continue;
                found = message.substr(at + does.size() + 3, 8);
            }
            return !found.empty();
        });
        return found;
    }
    std::size_t programs() const {
        std::size_t count = 0;
        for (const auto& process : std::filesystem::directory_iterator("/proc")) {
            const auto words = read_file(process.path() / "cmdline");
            count += words.find(program.string() + '\0' + "listen") != std::string::npos;
        }
        return count;
    }

    Sandbox orange;
    const std::string python = "/usr/bin/python3";
    const std::filesystem::path program = orange.root() / "recipe.py", sent = orange.root() / "sent";
    pid_t service = 0;
};

void check_answer(Phone& phone, const std::function<void(const std::string&)>& write) {
    auto& orange = phone.orange;
    const auto id = orange.create("shop", "Say hello demo:clarify");
    write(phone.token("reply", orange.short_id(id)) + " Good morning");
    orange.wait_for_status(id, "reviewing");
    const auto events = orange.history(id, "answer.accepted");
    REQUIRE(events.size() == 1);
    CHECK(events[0].at("does") == "reply");
    CHECK(events[0].at("evidence") == "via reply");
}

}  // namespace

TEST_CASE("Through ntfy a question is answered after a crash of the daemon, and work is sent back") {
    Phone phone("ntfy", [](Phone& its, std::string text) {
        return with_name(std::move(text), "https://ntfy.sh/a-topic-that-nobody-guesses", its.address() + "/topic");
    });
    auto& orange = phone.orange;
    const auto id = orange.create("shop", "Say hello demo:clarify");
    const auto token = phone.token("reply", orange.short_id(id));
    orange.eventually("the program runs", [&] { return phone.programs() == 1; });
    orange.kill_daemon();
    CHECK(phone.programs() == 1);
    orange.start_daemon();
    phone.writes(token + " Good morning");
    orange.wait_for_status(id, "reviewing");
    CHECK(phone.programs() == 1);  // the next daemon has ended that of the first
    phone.writes(phone.token("reject", "orange task diff") + " Once more, please");
    orange.eventually("the work goes back", [&] { return orange.history(id, "answer.accepted").size() == 2; });
    CHECK_THAT(orange.body(id), Holds("Once more, please"));
    bool is_said = false;
    for (const auto& event : orange.history(id, "status.changed")) {
        is_said = is_said ||
                  (event.at("from") == "reviewing" && event.at("by") == "human" && event.at("evidence") == "via reply");
    }
    CHECK(is_said);
}

TEST_CASE("Through Telegram a question is answered") {
    Phone phone("Telegram", [](Phone& its, std::string text) {
        return with_name(std::move(text), "https://api.telegram.org", its.address());
    });
    check_answer(phone, [&](const std::string& text) { phone.writes(text); });
}

TEST_CASE("By mail a question is answered") {
    Phone phone("Mail", [](Phone& its, std::string text) {
        const auto& root = its.orange.root();
        const auto sendmail = root / "sendmail.py";
        write_file(sendmail, "#!/usr/bin/python3\nimport json, sys\nwith open('" + its.sent.string() +
                                 "', 'a') as file:\n    file.write(json.dumps(sys.stdin.read()) + '\\n')\n");
        std::filesystem::permissions(sendmail, std::filesystem::perms::owner_all);
        for (const auto* folder : {"box/new", "box/cur"}) std::filesystem::create_directories(root / folder);
        text = with_name(std::move(text), "[\"sendmail\"", "[\"" + sendmail.string() + "\"");
        return with_name(std::move(text), "pathlib.Path.home() / \"Maildir/.orange\"",
                         "pathlib.Path(\"" + (root / "box").string() + "\")");
    });
    check_answer(phone, [&](const std::string& text) {
        const auto file = phone.orange.root() / "box/1";
        write_file(file, "From: me@example.org\nSubject: Re: Orange\nContent-Type: text/plain; charset=utf-8\n\n" +
                             text + "\n\n> Say hello\n");
        std::filesystem::rename(file, phone.orange.root() / "box/new/1");
    });
}

}  // namespace orange::tests
