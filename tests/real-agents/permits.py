"""Requests of the programs that a human answers: the group `permits`, for the programs in DIALOGS."""
import os
import re
import signal
import time

import world

# What the program's own dialog shows, and the key that says yes to it.
DIALOGS = {
    "claude": ("Do you want to proceed?", "1"),
    "opencode": ("Permission required", "Enter"),
    "codex": ("Press enter to confirm or esc to cancel", "y"),
}
ONLY_IN_INBOX = {"codex": "waits for your answer in Orange"}  # instead of its dialog
REASON = 'Not now: use "the lock file" $(id) & <b>'


def command(name):
    """No program has a rule for it, and it leaves a file."""
    return "python3 -c 'open(\"%s\", \"w\")'" % name


class Asking:
    def __init__(self, life, w, tag):
        self.life, self.w, self.tag, self.step = life, w, tag, life.step
        self.dialog, self.yes = DIALOGS[life.worker]
        self.task = w.create("play:nothing play:tag=%s asks before it acts" % tag, life.worker, life.reviewer,
                             "--permissions", "reduced")
        life.told(w, self.task, "the agent begins", tag, "# Task:")
        self.rests()

    def rests(self):
        self.w.until(30, lambda: self.w.activity(self.task)["activity"] == "idle")

    def needs(self):
        return self.w.task(self.task).get("needs") or {}

    def asks(self, name, asked=None):
        """The agent wants to run the command; answers with the number of its request."""
        self.w.orange("task", "send", self.task, "ask `%s`" % (asked or command(name)))
        number = self.w.until(60, lambda: self.needs().get("permit"))
        self.step("%s: the task needs an answer" % name, number and self.needs().get("kind") == "answer", self.seen())
        return number

    def latest(self):
        return max([each["number"] for each in self.w.history(self.task, "permit.asked")] or [0])

    def answer(self, word, number, *more):
        done = self.w.orange(word, "%s.%d" % (self.task, number), *more)
        return done.returncode == 0, done.stdout + done.stderr

    def exists(self, name):
        return os.path.exists(self.w.worktree(self.task) + "/" + name)

    def is_told(self, name, number, kind, **fields):
        def events():
            return [each for each in self.w.history(self.task, kind) if each.get("number") == number]

        def fits():
            # A request may have a description behind its command.
            return events() and all(value in str(events()[0].get(key)) for key, value in fields.items())

        self.step("%s: the history has it" % name, self.w.until(20, fits), lambda: self.w.history(self.task)[-6:])

    def is_over(self, name):
        self.step("%s: nothing is needed any more" % name, self.w.until(20, lambda: not self.needs().get("permit")),
                  self.needs)

    def seen(self):
        def look():
            return "%s %s" % (self.needs(), self.w.seen(self.task)())

        return look

    def window(self, name):
        self.step("%s: its dialog stands in the window" % name,
                  self.w.until(20, lambda: self.dialog in self.w.screen(self.task)), self.seen())

    def press_yes(self, name):
        """A program that is still drawing its dialog may miss the key, so a person presses it again."""
        for _ in range(3):
            self.w.keys(self.task, self.yes)
            if self.w.until(5, lambda: self.exists(name)):
                return

    def attaches(self, name):
        """The request has become the program's own dialog, as it would be without Orange."""
        self.window(name)
        said = self.w.until(20, lambda: "attach" in self.needs().get("command", "") and not self.needs().get("permit"))
        self.step("%s: the task says where it is" % name, said, self.needs)
        self.press_yes(name)
        self.step("%s: the window's answer counts" % name, self.w.until(20, lambda: self.exists(name)), self.seen())
        self.rests()

    # ---- steps
    def allowed(self):
        number = self.asks("allowed")
        if not number:
            return False
        needs = self.needs()
        self.step("the need has the command line", command("allowed") in needs.get("text", ""), needs)
        listed = self.w.orange("inbox", "--json").stdout
        self.step("and the inbox lists it", '"permit":%d' % number in listed.replace(" ", ""), listed)
        self.is_told("asked", number, "permit.asked", request=command("allowed"))
        sign = ONLY_IN_INBOX.get(self.life.worker, self.dialog)
        shown = self.w.until(10, lambda: sign in self.w.screen(self.task))
        self.step("the window shows it as well", shown, self.seen())
        good, said = self.answer("allow", number)
        self.step("orange allow", good, said)
        begin = time.time()
        self.step("the command has run", self.w.until(20, lambda: self.exists("allowed")), self.seen())
        self.life.report.time("after", time.time() - begin)
        self.is_over("allowed")
        self.is_told("allowed", number, "permit.answered", decision="allow", by="human")
        good, said = self.answer("allow", number)
        self.step("it cannot be allowed twice", not good, said)
        self.rests()
        return True

    def denied(self):
        number = self.asks("denied")
        good, said = self.answer("deny", number, REASON)
        self.step("orange deny", good, said)

        def heard():  # codex puts it in quotes
            return [each for each in self.w.asked("ask `", tag=self.tag) if REASON[-12:] in each["result"]]

        self.step("the model gets the text", self.w.until(20, heard), self.seen())
        self.rests()
        self.step("the command has not run", not self.exists("denied"))
        self.is_told("denied", number, "permit.answered", decision="deny", text=REASON)

    def in_window(self):
        number = self.asks("window")
        if self.life.worker in ONLY_IN_INBOX:
            self.w.keys(self.task, "Escape")
        else:
            self.window("window")
            self.press_yes("window")
            self.step("the command has run", self.w.until(20, lambda: self.exists("window")), self.seen())
        self.is_over("answered in the window")
        self.is_told("answered in the window", number, "permit.over")
        good, said = self.answer("allow", number)
        self.step("a later orange allow is refused", not good, said)
        self.rests()

    def inside(self):
        """What the agent has started tries to answer its own request."""
        own = self.latest() + 2
        late = "setsid sh -c 'sleep 15; orange allow %s.%d --yes; echo $?' >inside 2>&1 &" % (self.task, own)
        self.answer("allow", self.asks("inside", late), "--yes")
        self.rests()
        number = self.asks("own")

        def said():
            told = open(self.w.worktree(self.task) + "/inside").read()
            return told if re.search(r"(?m)^\d+$", told) else None

        told = self.w.until(40, said)
        refused = told and "human" in told and not told.endswith("\n0\n")
        self.step("an agent cannot allow its own request", refused, told)
        waits = number == own and self.needs().get("permit") == number and not self.exists("own")
        self.step("which still waits", waits, self.seen())
        self.answer("deny", number)
        self.rests()

    def without_daemon(self):
        number = self.asks("daemon")
        pid = self.w.json("daemon", "status").get("pid")
        os.kill(pid, signal.SIGKILL)
        self.window("daemon")
        time.sleep(3)
        self.w.orange("daemon", "start", cwd="/")
        self.attaches("daemon")
        self.step("nothing was asked twice", self.latest() == number, lambda: self.w.history(self.task)[-6:])


def play(life):
    if life.worker not in DIALOGS:
        return life.note("no step", "Orange does not ask through " + life.worker)
    settings = {"permits": "inbox"} if life.worker in ONLY_IN_INBOX else {}
    w = life.enter(idle_after=3600, **settings)
    asking = Asking(life, w, "permits")
    if not asking.allowed():
        return
    asking.denied()
    asking.in_window()
    asking.inside()
    asking.without_daemon()

    w = life.enter(idle_after=3600, **settings)
    with open(world.ROOT + "/harnesses/%s.yml" % life.worker) as shipped:
        text = shipped.read()
    w.write("orange/harnesses/%s.yml" % life.worker, text.replace("deadline: 55m", "deadline: 1m"))
    asking = Asking(life, w, "deadline")
    number = asking.asks("deadline")
    w.until(60, lambda: not asking.needs().get("permit"))
    asking.attaches("deadline")
    asking.is_told("deadline", number, "permit.over")

    if life.worker == "claude":  # it would ask for trust in the scratch repository
        return
    words = ["harness", "test", life.worker, "--permissions", "reduced", "--trust", "--yes"]
    done = w.orange(*words)
    life.step("orange harness test --permissions reduced", "permits: it asks" in done.stdout.replace("\n", " "),
              done.stdout + done.stderr)
