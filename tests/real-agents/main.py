"""Plays Orange's default life with one real agent program, group by group. Started by scripts/test-real-agents."""
import argparse
import datetime
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import api
import model
import permits
import tokens
import world

WINDOW, COMMAND = "in the window", "by the command"
# How the question of a program that asks for trust can be answered. copilot keeps its answers in a file that only it
# writes.
ANSWERS_TO_TRUST = {
    "claude": (WINDOW, COMMAND),
    "codex": (WINDOW, COMMAND),
    "pi": (WINDOW, COMMAND),
    "copilot": (WINDOW,),
}
NEVER_ASKS = ("gemini",)  # it would end if it were answered in its window, so without consent no task is created
FORGETS_CLEARED = ("gemini",)  # it tells nobody the id of a conversation that /clear begins
ALL = ("claude", "codex", "opencode", "pi")
TRY_SILENTLY = ("gemini", "qwen")  # for minutes, if their provider refuses: Orange sees only that nothing happens
HAVE_USAGE_LIMITS = ("claude", "codex")
HAVE_NO_LISTS = ("codex", "pi")  # of what a reviewer may do
ALONE = {  # outside of Orange, for one turn
    "claude": ["claude", "-p", "--dangerously-skip-permissions"],
    "codex": ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox"],
    "opencode": ["opencode", "run", "--auto"],
    "pi": ["pi", "-p", "--approve"],
    "gemini": ["gemini", "--approval-mode=yolo", "--skip-trust", "--prompt"],
    "qwen": ["qwen", "--approval-mode=yolo", "--prompt"],
    "copilot": ["copilot", "--allow-all", "--prompt"],
}
# The menus of each program that change something, and what they show.
MENUS = {
    "claude": {"/permissions": "to navigate", "/model": "Select model", "/resume": "Resume session", "/rewind": "Rewind"},
    "codex": {"/permissions": "Full Access", "/model": "Select Model", "/resume": "enter resume",
              "/fork": "forked conversation run"},
    "opencode": {"/models": "Connect provider", "/sessions": "pin/unpin", "/agents": "plan native"},
    "pi": {"/model": "Enter to select", "/tree": "user: [orange]", "/resume": "Resume Session", "/fork": "Fork from"},
    "gemini": {"/model": "Select Model", "/resume": "Chat Sessions", "/rewind": "Stay at current"},
    "qwen": {"/model": "Select Model", "/approval-mode": "Use Enter to select", "/resume": "to navigate"},
    "copilot": {"/model": "Search models", "/permissions": "Select Permission Mode", "/resume": "enter open"},
}
# Who continues a copy of a conversation in another worktree, and the files that outside of Orange have the conversations.
COPY = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "gemini": ".gemini/tmp/*/chats/session-*.jsonl",
    "pi": ".pi/agent/sessions/*/*.jsonl",
}
NAME_NO_COPY = ("gemini",)  # a respawned agent begins a new conversation
RUN_IN_BACKGROUND = ("claude", "codex")  # after a turn, and say so
NEW = {"opencode": "/new", "pi": "/new"}  # else /clear
WAYS = ("edit", "write", "append", "sed", "mv", "bare", "rm", "halves", "python")


class Report:
    def __init__(self):
        self.passed, self.failed = 0, []

    def step(self, name, good, why=""):
        """Prints PASS or FAIL, and for a FAIL what there was instead; `why` may be a function that finds it out."""
        if good:
            self.passed += 1
        else:
            self.failed.append(name)
        print("%s  %s" % ("PASS" if good else "FAIL", name), flush=True)
        if not good:
            self.note("instead", why() if callable(why) else why)
        return good

    def note(self, name, told):
        print("      %s: %s" % (name, re.sub(r"\s+", " ", str(told)).strip()[-1500:]), flush=True)

    def time(self, name, seconds):
        if seconds is not None:
            self.note(name, "%.1f s" % seconds)


class Life:
    def __init__(self, worker, reviewer, report, make_world):
        self.worker, self.reviewer, self.report, self.make_world = worker, reviewer, report, make_world
        self.step, self.note = report.step, report.note

    def enter(self, trusted=True, subscribed=False, **settings):
        """A new world with settings of the project, in which the programs are trusted or not."""
        w = self.make_world(trusted, subscribed)
        for key, value in settings.items():
            w.orange("project", "update", "--set", "%s=%s" % (key, value), check=True)
        if trusted:
            for name in {self.worker, self.reviewer}:
                w.orange("harness", "trust", name, "--yes")
        return w

    def create(self, w, summary):
        return w.create(summary, self.worker, self.reviewer)

    def reaches(self, w, task, name, status, seconds, role="worker"):
        return self.step(name, w.until(seconds, lambda: w.status(task) == status), w.seen(task, role))

    def told(self, w, task, name, tag, text):
        """The agent gets a message that contains the text."""
        found = w.until(60, lambda: w.asked(text, tag=tag))
        self.step(name, found, w.seen(task))
        return found

    def once(self, w, name, tag, text):
        def twice(request):
            return sum(text in message for message in request["messages"]) > 1

        again = [request["messages"][-2:] for request in w.asked(tag=tag) if twice(request)]
        self.step(name, not again, again[-1:])

    def verified(self, w, task, name="no verdict is unverified"):
        wrong = [move for move in w.history(task, "status.changed") if move.get("attested") is False]
        self.step(name, not wrong, wrong)

    def notice(self, w, task, name, kind, seconds):
        """The task gets the notice; answers with how long that took."""
        begin = time.time()
        good = self.step(name, w.until(seconds, lambda: kind in w.notices(task)), w.seen(task))
        return time.time() - begin if good else None

    def ran_tests(self, w, tag):
        results = [request["result"] for request in w.asked("# Review:", tag=tag)]
        self.step("the reviewer could run make test", [text for text in results if "all tests pass" in text], results)

    def hangs(self, w, task, name, tag, message, role="worker"):
        """The agent waits for an answer that the model does not give."""

        def waiting():
            return [request for request in w.asked(message, tag=tag) if request["step"].get("hang")]

        return self.step(name, w.until(90, waiting), w.seen(task, role))

    def dies(self, w, task, count):
        w.kill(task)
        return w.until(45, lambda: w.task(task)["fields"].get("crash_count") == count)

    # ---- groups
    def trust(self):
        summary = "play:nothing play:tag=trust an agent in a repository that is not trusted"
        if self.worker in NEVER_ASKS:
            w = self.enter(trusted=False)
            reply = w.json("run", summary, "--harness", self.worker, "--review-harness", self.reviewer)
            self.step("without consent no task is created", "task" not in reply, reply)
            done = w.orange("harness", "trust", self.worker, "--yes")
            self.step("orange harness trust", done.returncode == 0, done.stdout + done.stderr)
            self.told(w, self.create(w, summary), "with consent the agent begins", "trust", "# Task:")
            return
        if self.worker not in ANSWERS_TO_TRUST:
            w = self.enter(trusted=False)
            done = w.orange("harness", "trust", self.worker)
            said = done.stdout + done.stderr
            self.step("%s asks for no trust, and Orange says so" % self.worker, "trust" in said, said)
            return
        for answer in ANSWERS_TO_TRUST[self.worker]:
            w = self.enter(trusted=False)
            begin = time.time()
            task = self.create(w, summary)
            self.step("the program asks for trust", w.until(30, lambda: "rust" in w.screen(task)), w.seen(task))
            self.report.time("dialog shown after", time.time() - begin)
            took = self.notice(w, task, "the task needs its human", "agent_dialog", 30)
            self.report.time("noticed after that", took)
            w.orange("task", "send", task, "hello there, y")
            time.sleep(3)  # long enough for a message that would wrongly be typed
            untouched = "rust" in w.screen(task) and "hello there" not in w.screen(task)
            self.step("a message is not typed into the dialog", untouched, w.seen(task))
            begin = time.time()
            if answer == WINDOW:
                if self.worker == "claude":  # the answer that it offers first is "No, exit"
                    w.keys(task, "Down")
                    time.sleep(0.5)
                w.keys(task, "Enter")
            else:
                if self.worker == "claude":  # reads the answer only from a file that the human writes
                    known = json.load(open(w.home + "/.claude.json"))
                    known.setdefault("projects", {}).setdefault(w.repo, {})["hasTrustDialogAccepted"] = True
                    w.write(".claude.json", json.dumps(known))
                done = w.orange("harness", "trust", self.worker, "--yes")
                self.step("orange harness trust", done.returncode == 0, done.stdout + done.stderr)
            self.told(w, task, "answered %s: the agent begins" % answer, "trust", "# Task:")
            self.report.time("begins after the answer", time.time() - begin)
            self.told(w, task, "the message that waited arrives", "trust", "The human says: hello there")
            gone = w.until(15, lambda: "agent_dialog" not in w.notices(task))
            self.step("the notice is gone", gone, w.seen(task))

    def life(self):
        w = self.enter()
        summary = "play:fail-once play:tag=life Write a \"greeting\" $(id) `x` & <b> 漢 é"
        task = self.create(w, summary)
        argv = w.until(10, lambda: w.argv(task))
        first = self.told(w, task, "the prompt arrives", "life", "# Task: " + summary)
        if not first:
            return
        sent = argv[-1][argv[-1].index(model.MARK):] if argv else ""
        intact = sent and sent.rstrip("\n") in first[0]["user"]  # qwen removes line breaks at the end
        self.step("the prompt is intact, byte for byte", intact, first[0]["user"])
        self.reaches(w, task, "the worker plans, works and hands over", "agent-review", 120)
        asked = w.until(60, lambda: w.asked("# Review: " + summary))
        self.step("the reviewer (%s) gets its prompt" % self.reviewer, asked, w.seen(task, "reviewer"))
        back = w.until(120, lambda: "agent-review->working/reviewer" in w.moves(task))
        self.step("its verdict FAIL leads back to work", back, w.seen(task, "reviewer"))
        self.told(w, task, "the worker is told of it", "life", "The review failed.")
        self.reaches(w, task, "fixed, reviewed again, PASS: reviewing", "reviewing", 240, "reviewer")
        self.ran_tests(w, "life")
        self.verified(w, task)
        sections = re.findall(r"(?m)^## (\w+)", w.text(task))
        whole = all(sections.count(name) == 1 for name in ("Plan", "Handoff", "Review"))
        self.step("TASK.md has Plan, Handoff and Review once", whole, sections)
        faults = ("body.conflict", "frontmatter.restored", "hook.failed")
        strange = [event for event in w.history(task) if event["type"] in faults]
        self.step("nothing conflicted and nothing failed", not strange, strange)

        self.says(w, task, "a message", "Say hi to Ann, at home, and mail a@b.c")
        self.says(w, task, "a message with $, quotes and Markdown", "Say hi to $HOME `id` \"x\" *now*")
        w.orange("task", "send", task, "run `sleep 10; echo slept`")
        w.until(20, lambda: w.asked("sleep 10", tag="life"))
        self.says(w, task, "a message to a busy agent", "second while busy")
        feedback = "Name the columns\n## Plan\nnot a heading"
        done = w.orange("task", "update", task, "--status", "working", "--feedback", feedback)
        self.step("the human asks for changes", done.returncode == 0, done.stdout + done.stderr)
        self.told(w, task, "the worker is told of them", "life", "The human asks for changes")
        w.until(120, lambda: len(w.history(task, "review.started")) >= 3)
        self.reaches(w, task, "third review: reviewing again", "reviewing", 150, "reviewer")
        w.shell("git add -A && git commit -q -m heard", cwd=w.worktree(task))
        done = w.orange("task", "merge", task, "--force")
        self.step("merged", done.returncode == 0 and w.status(task) == "done", done.stdout + done.stderr)
        files = w.shell("git -C ../origin.git ls-tree --name-only main").stdout
        self.step("origin has the file", "play-life.txt" in files, files)
        workspaces = w.orange_home + "/workspaces"
        self.step("no agent is left", w.until(20, lambda: not w.living(workspaces)), lambda: w.living(workspaces))

    def says(self, w, task, name, text):
        def seen():
            shown = w.json("task", "show", task)["messages"]
            return [message for message in shown if text in message["text"] and message["state"] == "seen"]

        sent = time.time()
        w.orange("task", "send", task, text)
        arrived = self.told(w, task, "%s reaches the model exactly" % name, "life", "The human says: " + text)
        if arrived:
            self.report.time("on the way", arrived[0]["at"] - sent)
        self.step("%s is shown as seen" % name, w.until(30, seen), w.seen(task))
        heard = w.until(30, lambda: text in open(w.worktree(task) + "/play-heard.txt").read())
        self.step("%s is acted on" % name, heard, w.seen(task))
        self.once(w, "%s arrives once" % name, "life", text)

    def crash(self):
        w = self.enter()
        task = self.create(w, "play:hang play:hang-review play:tag=crash die twice")
        if not self.hangs(w, task, "the worker waits for its model in working", "crash", "# Task:"):
            return
        children = w.processes(task)
        begin = time.time()
        self.step("kill -9: one crash is counted", self.dies(w, task, 1), w.seen(task))
        self.report.time("counted after", time.time() - begin)
        gone = w.until(5, lambda: not any(alive(pid) for pid in children))
        self.step("its children have ended, too", gone, children)
        done = w.orange("task", "respawn", task)
        self.step("respawn", done.returncode == 0, done.stdout + done.stderr)
        again = self.told(w, task, "the agent is told that it resumes", "crash", "# Resuming:")
        if again:
            self.step("its model sees its earlier turns", again[0]["earlier"] > 3, again[0]["earlier"])
        if not self.reaches(w, task, "the resumed worker hands over", "agent-review", 150):
            return
        self.hangs(w, task, "the reviewer waits for its model", "crash", "# Review:", "reviewer")
        w.kill(task, "reviewer")

        def returned():
            return [event for event in w.history(task, "agent.respawned") if event["role"] == "reviewer"]

        self.step("kill -9 of the reviewer: it comes back by itself", w.until(45, returned), w.seen(task, "reviewer"))
        self.reaches(w, task, "the second reviewer finishes: reviewing", "reviewing", 150, "reviewer")
        before = w.history(task, "agent.crashed")  # crash_count becomes 0 only after the transition's actions
        w.kill(task, sign=signal.SIGTERM)
        ended = w.until(30, lambda: w.task(task)["worker"] in ("dead", "none"))
        same = w.history(task, "agent.crashed") == before
        self.step("a worker that is ended in reviewing is no crash", ended and same, w.seen(task))
        done = w.orange("task", "merge", task)
        self.step("merged after both crashes", done.returncode == 0, done.stdout + done.stderr)

    def resume(self):
        w = self.enter()
        task = self.create(w, "play:hang play:hang-resumed play:tag=twice killed again as soon as it resumes")
        if not self.hangs(w, task, "the worker waits for its model in working", "twice", "# Task:"):
            return
        self.dies(w, task, 1)
        w.orange("task", "respawn", task)
        begin = time.time()
        self.hangs(w, task, "the resumed agent waits for its model", "twice", "# Resuming:")
        w.kill(task)
        age = time.time() - begin
        ended = w.until(45, lambda: len(w.history(task, "agent.crashed")) == 2)
        crashed = ended and not w.history(task, "agent.resume_failed")
        self.step("killed %.0f s after its start: a crash, not a lost conversation" % age, crashed, w.seen(task))
        task = self.create(w, "play:hang play:tag=lost its conversation is lost")
        self.hangs(w, task, "the next worker waits for its model", "lost", "# Task:")
        self.dies(w, task, 1)
        for below in (".claude/projects", ".codex/sessions", ".local/share/opencode"):
            shutil.rmtree(w.home + "/" + below, ignore_errors=True)
        shutil.rmtree(w.path(task) + "/run/talk", ignore_errors=True)
        w.orange("task", "respawn", task)
        again = w.until(60, lambda: w.asked("# Resuming:", tag="lost"))
        self.step("a lost conversation: a new one begins", again and again[0]["earlier"] == 0, w.seen(task))
        self.step("that is no crash", w.task(task)["fields"].get("crash_count") == 1, w.seen(task))
        self.reaches(w, task, "and it finishes", "reviewing", 240)

    def fork(self):
        w = self.enter()
        task = self.create(w, "play:nothing play:tag=fork the work that is forked")
        if not self.step("the first agent has begun", w.until(120, lambda: w.asked("# Task:", tag="fork")), w.seen(task)):
            return
        self.fork_of(w, task)
        w.cancel_all()
        self.take_over(w)

    def state(self, w, folder):
        """What a fork must not change."""
        return w.shell("git status --porcelain=v2 --branch; git ls-files --stage; cat not-committed.txt", cwd=folder).stdout

    def fork_of(self, w, task):
        tree = w.worktree(task)
        w.shell("echo new > not-committed.txt", cwd=tree, check=True)
        before, known = self.state(w, tree), len(w.asked("# Task:", tag="fork"))
        reply = w.json("fork", task)
        if not self.step("it is forked", "task" in reply, reply):
            return
        made, notes = reply["task"]["fields"]["id"], " ".join(reply.get("notes", []))
        copies = self.worker in COPY
        says_so = ("did not come along" in notes) != copies and self.worker in notes
        self.step("the command says whether the conversation comes along", says_so, notes)
        if copies:
            told = w.until(120, lambda: w.asked("The conversation so far was in", tag="fork"))
            whole = told and sum("# Task:" in message for message in told[0]["messages"]) == 2
            self.step("the new agent's model sees the conversation, and the new worktree",
                      whole and w.worktree(made) in told[0]["user"] and tree in told[0]["user"], w.seen(made))
        else:
            told = w.until(120, lambda: len(w.asked("# Task:", tag="fork")) > known)
            self.step("the new agent begins a conversation", told, w.seen(made))
        copy = w.worktree(made)
        self.step("it has the file that is not committed", os.path.exists(copy + "/not-committed.txt"), copy)
        w.orange("task", "send", made, "run `pwd > where.txt`")
        w.until(90, lambda: os.path.exists(copy + "/where.txt"))
        where = w.shell("cat where.txt", cwd=copy).stdout.strip()
        self.step("its program works in its own worktree", where == copy, where)
        self.step("nothing of the first task has changed", self.state(w, tree) == before, self.state(w, tree))
        w.orange("task", "send", task, "run `true first`")
        heard = w.until(90, lambda: w.asked("run `true first`", tag="fork"))
        alone = heard and not any("The conversation so far was in" in text for text in heard[0]["messages"])
        self.step("the first conversation goes on by itself", alone, w.seen(task))
        if not copies or self.worker in NAME_NO_COPY:
            return
        w.orange("task", "restart", made)
        again = w.until(120, lambda: w.asked("# Resuming:", tag="fork"))
        whole = again and any("The conversation so far was in" in text for text in again[0]["messages"])
        self.step("restarted, it goes on with the copy", whole, w.seen(made))

    def own_talk(self, w):
        """The id of the conversation that was begun outside of Orange."""
        for path in glob.glob(w.home + "/" + COPY[self.worker]):
            text = open(path).read()
            if "play:tag=own" not in text:
                continue
            stem = os.path.basename(path)[:-len(".jsonl")]
            return json.loads(text.split("\n")[0])["sessionId"] if self.worker == "gemini" else stem[-36:]
        return "none"

    def take_over(self, w):
        words = ("create", "--harness", self.worker, "--review-harness", self.reviewer, "--from-session")
        w.shell("echo new > not-committed.txt", check=True)
        summary = "play:nothing play:tag=own my own talk"
        if self.worker not in COPY:
            reply = w.json(*words, "9ef2943c-0000-4000-8000-000000000001", summary)
            self.step("a conversation of one's own is refused, by name",
                      "task" not in reply and self.worker in str(reply), reply)
            return
        done = w.login_shell(ALONE[self.worker] + ["[orange] # Task: " + summary])
        self.step("a conversation of one's own", w.asked("# Task:", tag="own"), done.stdout + done.stderr)
        before = self.state(w, w.repo)
        reply = w.json(*words, "9ef2943c-0000-4000-8000-000000000001", summary)
        self.step("another id is refused", "task" not in reply, reply)
        reply = w.json(*words, self.own_talk(w), summary)
        if not self.step("it goes on in a task", "task" in reply, reply):
            return
        made = reply["task"]["fields"]["id"]
        told = w.until(120, lambda: w.asked("The conversation so far was in", tag="own"))
        whole = told and sum("# Task:" in message for message in told[0]["messages"]) == 2
        self.step("the agent's model sees the conversation", whole, w.seen(made))
        self.step("it has the file that is not committed", os.path.exists(w.worktree(made) + "/not-committed.txt"),
                  w.worktree(made))
        self.step("nothing of the folder has changed", self.state(w, w.repo) == before, self.state(w, w.repo))

    def edit(self):
        w = self.enter()
        for how in WAYS:
            task = self.create(w, "play:how=%s play:tag=by-%s save TASK.md" % (how, how))
            w.until(150, lambda: w.status(task) in ("reviewing", "stuck"))
            text = w.text(task)
            sections = set(re.findall(r"(?m)^## (\w+)", text))
            whole = text.startswith("---\n") and ({"Plan", "Handoff", "Review"} <= sections or how == "bare")
            same = w.until(5, lambda: open(w.worktree(task) + "/TASK.md").read() == w.text(task))
            good = w.status(task) == "reviewing" and whole and same
            self.step("TASK.md saved by %s" % how, good, w.seen(task))
            self.verified(w, task)
            w.orange("task", "cancel", task, "--yes")

    def oneshot(self):
        w = self.enter()
        for name in {self.worker, self.reviewer}:
            with open(world.ROOT + "/harnesses/%s.yml" % name) as shipped:
                text = shipped.read()
            text = re.sub(r"(?m)^name: .*", "name: once-" + name, text)
            w.write("orange/harnesses/once-%s.yml" % name, re.sub(r"(?m)^mode: persistent", "mode: oneshot", text))
        summary = "play:fail-once play:tag=once each turn is a process"
        task = w.create(summary, "once-" + self.worker, "once-" + self.reviewer)
        if not self.reaches(w, task, "one-shot: the whole life to reviewing", "reviewing", 300):
            self.note("log", w.orange("task", "log", task).stdout)
        self.verified(w, task)
        self.step("no crash", not w.history(task, "agent.crashed"), lambda: w.history(task, "agent.crashed"))

    def forget(self):
        w = self.enter(idle_after=5, remind_again=20)
        task = self.create(w, "play:forget play:tag=forget nobody calls orange")
        self.reaches(w, task, "who forgets every call still gets to reviewing", "reviewing", 400, "reviewer")
        reminded = w.history(task, "agent.reminded")
        roles = [event["role"] for event in reminded]
        self.step("by three reminders", roles == ["worker", "worker", "reviewer"], reminded)
        self.verified(w, task)
        finished = [request["done"] for request in w.asked("# Task:", tag="forget") if "text" in request["step"]]
        if finished and reminded:
            self.report.time("reminded after the end of the turn (idle_after: 5 s)", at(reminded[0]) - finished[0])

        task = self.create(w, "play:nothing play:tag=silent says something and stops")
        w.until(60, lambda: [request for request in w.asked("# Task:", tag="silent") if request["done"]])
        idle = w.until(30, lambda: w.activity(task)["activity"] == "idle" and w.activity(task))
        if self.step("the agent is shown as idle", idle, w.seen(task)):
            done = w.asked("# Task:", tag="silent")[0]["done"]
            self.report.time("idle told after the end of the turn", at(idle, "since") - done)
        self.notice(w, task, "two reminders, then the human is told", "agent_idle", 120)
        reminded = w.history(task, "agent.reminded")
        self.step("it was reminded twice", len(reminded) == 2, reminded)

    def limit(self):
        w = self.enter(hung_after=20)
        for word in ("limit", "login"):
            task = self.create(w, "play:%s play:tag=%s the provider refuses" % (word, word))
            w.until(60, lambda: [request for request in w.asked("# Task:", tag=word) if "status" in request["step"]])
            kind = "agent_hung" if word == "limit" and self.worker in TRY_SILENTLY else "agent_cannot_work"
            took = self.notice(w, task, "%s: the task gets a notice" % word, kind, 60)
            self.report.time("noticed after the first refusal", took)
            self.note("notices", [notice["text"] for notice in w.task(task)["notices"]])
            needs = w.task(task).get("needs", {}).get("kind")
            self.step("%s: it needs help" % word, needs == "help", w.seen(task))
            w.api.state.lifted.add(word)
            w.orange("task", "send", task, "go on")
            self.reaches(w, task, "%s: a message afterwards, and the agent goes on" % word, "reviewing", 240)
            gone = w.until(10, lambda: kind not in w.notices(task))
            self.step("%s: the notice is gone" % word, gone, w.seen(task))
        task = self.create(w, "play:hang play:tag=hangs the provider does not answer")
        self.hangs(w, task, "the worker waits for its model", "hangs", "# Task:")
        took = self.notice(w, task, "an API that hangs is noticed", "agent_hung", 60)
        self.report.time("noticed after (hung_after: 20 s)", took)

    def usage(self):
        if self.worker not in HAVE_USAGE_LIMITS:
            return self.note("no step", "Orange knows no usage limit of " + self.worker)
        w = self.enter(subscribed=True)
        resets = w.api.state.resets = (int(time.time() + 45 * w.patience) // 60 + 1) * 60  # the programs show minutes
        task = self.create(w, "play:usage play:tag=usage at its limit")
        took = self.notice(w, task, "a usage limit becomes a notice", "usage_limit", 40)
        self.report.time("noticed after the start", took)
        until = w.json("task", "show", task)["task"]["notices"]
        self.note("notices", [notice["text"] for notice in until])
        clock = time.strftime("%H:%M", time.localtime(resets))
        self.step("which says when it resets", clock in str(until), (clock, w.seen(task)()))
        later = self.create(w, "play:tag=later starts after the limit")
        wait = w.task(later).get("start_wait") or {}
        self.step("the next task waits for it", wait.get("reason") == "usage_limit", (wait, w.seen(later)()))
        w.orange("task", "send", task, "a message for later")
        time.sleep(3)
        self.step("a message waits for it", time.time() > resets or not w.asked("for later", tag="usage"), w.seen(task))
        w.until(max(1, resets - time.time()) / w.patience, lambda: time.time() > resets)
        self.told(w, task, "after the reset the agent is told to go on", "usage", "should have reset")
        self.report.time("told after the reset", time.time() - resets)
        self.told(w, task, "and gets the message", "usage", "a message for later")
        self.reaches(w, task, "and finishes", "reviewing", 120)
        self.reaches(w, later, "the next task has started by itself", "reviewing", 120)
        gone = w.until(10, lambda: "usage_limit" not in w.notices(task))
        self.step("the notice is gone", gone, w.seen(task))

    def messages(self):
        w = self.enter()
        task = self.create(w, "play:tag=early a message comes at once")
        sent = time.time()
        w.orange("task", "send", task, "this comes early")
        name = "a message that is sent right after the start arrives"
        arrived = self.told(w, task, name, "early", "The human says: this comes early")
        if arrived:
            self.report.time("on the way", arrived[0]["at"] - sent)
        self.reaches(w, task, "and disturbs nothing", "reviewing", 240)
        self.told(w, task, "the worker is told of its review", "early", "The review passed")
        self.once(w, "it arrives once", "early", "this comes early")
        for state in ("idle", "busy"):
            self.unsent(w, task, state)

    def unsent(self, w, task, state):
        """No Enter follows the message, so that it stands in the program's prompt."""
        text = "unsent to the %s agent" % state

        def shown():
            messages = w.json("task", "show", task).get("messages", [])
            return [message["state"] for message in messages if text in message["text"]][-1:]

        def stands():
            return text in re.sub(r"[\s│┃]+", " ", w.screen(task))

        if state == "busy":  # for longer than Orange follows a message
            w.orange("task", "send", task, "run `sleep 45; echo slept`")
            w.until(30, lambda: w.activity(task)["activity"] == "busy" and w.asked("sleep 45", tag="early"))
        w.hold_enter(True)
        w.orange("task", "send", task, text)
        self.step("%s: the text stands in the prompt" % state, w.until(20, stands), w.seen(task))
        took = self.notice(w, task, "%s: it becomes a notice" % state, "message_undelivered", 45)
        self.report.time("noticed after", took)
        self.step("%s: and is not shown as seen" % state, shown() == ["typed"], shown)
        w.hold_enter(False)
        w.keys(task, "Enter")
        self.told(w, task, "%s: Enter sends it" % state, "early", text)

    def typing(self):
        """Nothing is typed beside what a person writes, and nothing into a menu; every message arrives afterwards, once."""
        w = self.enter(idle_after=5)
        task = self.create(w, "play:fail-once play:tag=typing a person is at the window")
        rows = self.rows = []
        if not self.reaches(w, task, "the worker hands over", "agent-review", 240):
            return
        # Nobody sends this message: it is Orange's own.
        self.held(w, task, "half a line, and the review fails", "before you go on: never touch the folder",
                  lambda: w.until(150, lambda: "agent-review->working/reviewer" in w.moves(task)), "The review failed.")
        self.reaches(w, task, "the worker goes on, and its work passes", "reviewing", 300, "reviewer")
        w.until(60, lambda: w.asked("The review passed", tag="typing"))
        for name, line, attached in (("half a line, attached", "half a line of a person", True),
                                     ("half a line, just left", "the other half of a line", False),
                                     ("half a command, just left", "!touch typed-by-mistake", False)):
            text = "after " + re.sub(r"\W+", " ", name)
            self.held(w, task, name, line, lambda: w.orange("task", "send", task, text), text, attached)
        ran = os.path.exists(w.worktree(task) + "/typed-by-mistake")
        self.step("the half command was not run", not ran, w.seen(task))
        for command, shown in MENUS[self.worker].items():
            text = "after the menu " + command[1:]
            self.held(w, task, "the menu " + command, command, lambda: w.orange("task", "send", task, text), text,
                      menu=shown)
        for status in ("400", "401", "429", "500"):
            self.refuses(w, task, status)
        if self.worker in RUN_IN_BACKGROUND:
            self.leaves(w, task)
        self.clears(w, task)
        print("      %-38s %-10s %-10s %s" % ("situation", "typed", "left alone", "arrived"))
        for row in rows:
            print("      %-38s %-10s %-10s %s" % row, flush=True)

    def times(self, w, text):
        """How often the model was given the text: the most in one of its requests."""
        return max([sum(text in message for message in request["messages"]) for request in w.asked(text)] or [0])

    def empties(self, w, task, menu):
        """As the person would: closes what is open, and removes what was written."""
        for _ in range(3 if menu else 0):
            if menu not in w.screen(task):
                break
            w.keys(task, "Escape")
            time.sleep(1.5)
        # At once: these keys are not a person's for tmux, and a message may come as soon as the prompt is empty.
        w.keys(task, "C-u", "BSpace", "C-u", "BSpace")
        time.sleep(0.5)
        if "esc to disable" in w.screen(task):  # the mode of commands, after a "!"
            w.keys(task, "Escape")

    def held(self, w, task, name, line, send, text, attached=False, menu=None):
        """A person writes the line, or opens the menu; then something sends the message."""
        window = world.Window(w, task)
        time.sleep(1)
        window.type(line)
        if menu:
            time.sleep(1.5)
            window.type("\r")
        sign = menu or line.lstrip("!")
        if not self.step("%s: it is on the screen" % name, w.until(15, lambda: sign in w.screen(task)), w.seen(task)):
            window.leave()
            return self.empties(w, task, menu)
        if not attached:
            window.leave()
        before = w.typed(task)
        send()
        time.sleep(12)  # longer than idle_after, and several looks
        typed, alone = w.typed(task) - before, sign in w.screen(task)
        self.step("%s: nothing is typed" % name, not typed, lambda: "%d times: %s" % (typed, w.seen(task)()))
        self.step("%s: it is left alone" % name, alone, w.seen(task))
        if attached:
            window.leave()
        self.empties(w, task, menu)
        self.arrives(w, task, name, text, typed, alone)

    def arrives(self, w, task, name, text, typed="-", alone="-"):
        arrived = w.until(60, lambda: w.asked(text))
        self.step("%s: the message arrives afterwards" % name, arrived, w.seen(task))
        w.until(30, lambda: w.activity(task)["activity"] == "idle")
        times = self.times(w, text)
        self.step("%s: once" % name, times == 1 or not arrived, times)
        self.rows.append((name, typed, alone, "%d times" % times))

    def refuses(self, w, task, status):
        """The API refuses a turn; what comes afterwards arrives."""
        asked, name = "refuse " + status, "the API refuses with " + status
        w.orange("task", "send", task, asked)
        refused = w.until(60, lambda: [request for request in w.asked(asked) if request["step"].get("status")])
        self.step(name, refused, w.seen(task))
        w.until(15, lambda: w.activity(task)["activity"] != "busy")
        w.api.state.lifted.add(status)
        text = "after error " + status
        w.orange("task", "send", task, text)
        self.arrives(w, task, name, text)

    def leaves(self, w, task):
        """A command goes on after the turn: the agent is busy until it ends, and a message arrives meanwhile."""
        w.orange("task", "send", task, "leave `sleep 40; touch background-ended`")
        ended = w.worktree(task) + "/background-ended"
        w.until(30, lambda: w.asked("leave `sleep 40"))
        w.until(30, lambda: "on without me" in w.screen(task))
        time.sleep(5)
        busy = w.until(15, lambda: w.activity(task)["activity"] == "busy")
        self.step("busy while a command runs in the background", busy and not os.path.exists(ended),
                  lambda: "%s %s" % (w.activity(task), w.seen(task)()))
        w.orange("task", "send", task, "beside the background")
        self.arrives(w, task, "a command in the background", "beside the background")
        self.step("idle when it has ended", w.until(90, lambda: os.path.exists(ended) and
                  w.activity(task)["activity"] == "idle"), w.seen(task))

    def type_new(self, w, task):
        window = world.Window(w, task)
        time.sleep(1)
        window.type(NEW.get(self.worker, "/clear"))
        time.sleep(1.5)
        window.type("\r")
        time.sleep(5)
        window.leave()

    def clears(self, w, task):
        """A person begins a new conversation, which has its own id."""
        self.type_new(w, task)
        w.orange("task", "send", task, "in the new conversation")
        self.arrives(w, task, "a new conversation", "in the new conversation")

    def tokens(self):
        """A life with a cleared, a killed and a continued conversation: Orange shows what the program has recorded."""
        w = self.enter()
        spent = w.api.spent
        first = len(spent)
        programs = {self.worker, self.reviewer}
        task = self.create(w, "play:fail-once play:tag=tokens what does it cost?")
        self.reaches(w, task, "a life with two reviews", "reviewing", 300, "reviewer")
        if self.worker not in FORGETS_CLEARED:
            self.type_new(w, task)
            w.orange("task", "send", task, "run `echo cleared`")
            self.told(w, task, "a new conversation", None, "The human says: run `echo cleared`")
            self.rests(spent)
        w.kill(task)
        w.until(30, lambda: w.task(task)["worker"] in ("dead", "none"))
        done = w.orange("task", "respawn", task)
        self.step("a worker that was killed is started again", done.returncode == 0, done.stdout + done.stderr)
        self.told(w, task, "and continues", None, "# Resuming:")
        self.rests(spent)

        def shown():
            reply = w.json("usage", task)
            return tuple(reply["total"]["tokens"].get(name, 0) for name in tokens.NAMES)

        def is_equal():
            return shown() == tokens.total(tokens.recorded(programs, w))

        w.until(60, is_equal)
        api_told = [tokens.answered(each) for each in spent[first:]]
        recorded = tokens.recorded(programs, w)
        strange = [record for record in recorded if record not in api_told]
        self.step("the program records only requests that were answered", not strange, strange)

        def why():
            return shown(), tokens.total(recorded), w.json("harness", "explain", task).get("usage")

        self.step("Orange shows the sums of the %d requests that it records" % len(recorded), is_equal(), why)
        for line in (tokens.head(), tokens.row("answered", tokens.total(api_told)),
                     tokens.row("recorded", tokens.total(recorded)), tokens.row("Orange", shown())):
            print("      " + line, flush=True)
        for each in spent[first:]:
            if tokens.answered(each) not in recorded:
                self.note("not recorded", "%s: %s" % (each["model"], each["asks"].strip()[:100]))
        names = {group["name"] for group in w.json("usage", task, "--by", "model").get("groups", [])}
        asked = {each["model"] for each in spent[first:] if tokens.answered(each) in recorded}
        self.step("it names the models", names == asked, (names, asked))
        if self.worker == "codex":
            windows = w.json("usage").get("windows", [])
            told = [each.get("percent") for each in windows if each.get("harness") == "codex"]
            self.step("and how much of the account's window is used", told == [api.WINDOW_USED], windows)
        w.orange("task", "cancel", task, "--yes")
        w.until(30, lambda: not w.living(w.orange_home + "/workspaces"))
        self.step("the sums are the same when all has ended", w.until(30, is_equal), why)
        w.orange("daemon", "restart", cwd="/")
        self.step("and with the next daemon", w.until(30, is_equal), why)

    def rests(self, spent):
        """Waits until no request has come for some seconds."""
        end = time.time() + 60
        while time.time() < end and time.time() - spent[-1]["at"] < 4:
            time.sleep(0.5)

    def review(self):
        w = self.enter()
        for number in range(3):
            tag = "review%d" % number
            task = self.create(w, "play:curious play:fail-once play:tag=%s the reviewer tries more than it may" % tag)
            self.reaches(w, task, "two verdicts without a question", "reviewing", 300, "reviewer")
            self.ran_tests(w, tag)
            self.verified(w, task)
            look = "git log --format=%s; git branch; ls; cat README"
            left = w.shell(look, cwd=w.worktree(task)).stdout
            if self.reviewer not in HAVE_NO_LISTS:
                self.step("nothing is left of what the reviewer must not do", "forbidden" not in left, left)
            results = [request["result"] for request in w.asked("# Review:", tag=tag)]
            ran = [text for text in results if "Makefile" in text]
            self.step("and it may look around", ran, results)

    def verdicts(self):
        """Of reviewers alone: of work that exists already."""
        w = self.enter()
        w.shell("git checkout -q -b work && git commit -q --allow-empty -m work && git checkout -q main", check=True)
        words = ["--harness", self.reviewer, "--review-harness", self.reviewer, "--status", "agent-review"]
        good, took = 0, []
        for first in range(0, VERDICTS, TOGETHER):
            begin, tasks = time.time(), []
            for number in range(first, first + TOGETHER):
                summary = "play:tag=verdict%d a verdict" % number
                w.shell("git branch -q verdict%d work" % number, check=True)
                reply = w.json("task", "create", summary, "--branch", "verdict%d" % number, *words)
                if "task" not in reply:
                    raise RuntimeError("orange task create: %s" % reply)
                tasks.append(reply["task"]["fields"]["id"])
            for task in tasks:
                w.until(90, lambda: "->reviewing/" in w.moves(task))  # the history has it later than the status
                moves = [move for move in w.history(task, "status.changed") if move["to"] == "reviewing"]
                if moves and moves[-1]["by"] == "reviewer" and moves[-1].get("attested") is not False:
                    good += 1
                else:
                    self.note("no verdict, or an unverified one", w.seen(task, "reviewer")())
                w.orange("task", "cancel", task, "--yes")
            took.append(time.time() - begin)
        self.step("%d verdicts, none unverified" % VERDICTS, good == VERDICTS, "%d" % good)
        self.report.time("%d together took at most" % TOGETHER, max(took))

    def permits(self):
        permits.play(self)

    def skill(self):
        w = self.enter()
        w.orange("project", "update", "--harness", "demo", check=True)

        def asks(text):
            return w.login_shell(ALONE[self.worker] + ["[orange] " + text])

        def listed(text):
            asks("# Hello: " + text)
            return [request["lists"] for request in w.asked("# Hello: " + text)]

        before = listed("before")
        self.step("a program without the skill tells its model nothing of it", before and not any(before), before)
        done = w.orange("install", "--harness", self.worker)
        self.step("orange install", done.returncode == 0, done.stdout + done.stderr)
        after = listed("after")
        self.step("the program lists the skill", after and all(after), after)

        ended = threading.Event()

        def human():
            """Merges what waits for a review."""
            while not ended.wait(0.5):
                for view in w.json("task", "list").get("tasks", []):
                    if view["fields"]["status"] == "reviewing":
                        w.orange("task", "merge", view["fields"]["id"])

        merging = threading.Thread(target=human)
        merging.start()
        try:
            done = asks("# Delegate: two files")
        finally:
            ended.set()
            merging.join()
        views = w.json("task", "list", "--all").get("tasks", [])
        branches = sorted(view["fields"].get("branch", "") for view in views)
        told = done.stdout + done.stderr
        self.step("who has only the skill creates two tasks", branches == sorted(model.DELEGATED), (branches, told))
        contexts = [w.text(view["fields"]["id"]) for view in views]
        good = all("# Goal\nThe file exists" in text for text in contexts)
        self.step("each with a context", contexts and good, contexts)
        ends = [view["fields"]["status"] for view in views]
        self.step("both are done", ends == ["done", "done"], (ends, told))
        reported = {view["fields"]["id"] for view in views for task in re.findall(r"(\w+) is done", told)
                    if view["fields"]["id"].startswith(task)}
        self.step("and it reports their ends", len(reported) == 2, told)
        w.orange("uninstall")
        gone = listed("gone")
        self.step("orange uninstall: the skill is not listed any more", gone and not any(gone), gone)


    def delegation(self):
        """The worker splits its task among the other programs, and puts their parts together."""
        w = self.enter()
        others = [name for name in ALL if name != self.worker]
        for name in others:
            w.orange("harness", "trust", name, "--yes")
        w.orange("install", "--harness", self.worker, check=True)
        task = self.create(w, "play:split=%s play:tag=split three parts" % ",".join(others))
        self.reaches(w, task, "the worker splits its task and waits", "delegated", 150)
        parts = {view["fields"].get("branch", ""): view["fields"] for view in w.json("task", "list").get("tasks", [])
                 if view["fields"].get("parent") == task}
        programs = sorted(fields.get("harness", "") for fields in parts.values())
        if not self.step("a sub-task for each of %s" % ", ".join(others), programs == sorted(others), parts):
            self.note("instead", w.seen(task)())
            return
        ended = w.until(30, lambda: not w.agent(task))
        self.step("its session has ended", ended, lambda: w.agent(task))
        for fields in parts.values():
            part = fields["id"]
            name = fields["harness"]
            self.reaches(w, part, "the part of %s passes its review" % name, "reviewing", 240)
            self.verified(w, part)
            failed = w.history(part, "checks.failed")
            expected = 1 if name == others[-1] else 0
            self.step("%s: its check failed %d times" % (name, expected), len(failed) == expected, failed)
            if expected:
                told = [request["result"] for request in w.asked("# Task:", tag="part-" + name)]
                self.step("it is told which check failed", any("make test" in text for text in told), told)
            done = w.orange("task", "merge", part)
            self.step("the part of %s is merged" % name, w.status(part) == "done", done.stdout + done.stderr)
        asked = self.told(w, task, "a worker is asked to put the parts together", "split", "# Integrate the sub-tasks:")
        if asked:
            self.step("in a new conversation", asked[0]["earlier"] == 0, asked[0]["earlier"])
        self.reaches(w, task, "it merges, connects, and passes its review", "reviewing", 240)
        self.verified(w, task)
        moves = w.moves(task)
        order = "planning->working/worker working->delegated/worker delegated->working/system working->agent-review"
        self.step("the task went through delegated", order in moves, moves)
        done = w.orange("task", "merge", task)
        self.step("the task is merged", w.status(task) == "done", done.stdout + done.stderr)
        files = w.shell("git -C ../origin.git ls-tree --name-only main").stdout.split()
        wanted = {"play-part-%s.txt" % name for name in others}
        wanted |= {"play-split.txt", "play-whole.txt", "play-together.txt"}
        self.step("origin has the parts and the whole", wanted <= set(files) and "broken" not in files, files)
        workspaces = w.orange_home + "/workspaces"
        self.step("no agent is left", w.until(20, lambda: not w.living(workspaces)), lambda: w.living(workspaces))


def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def address_of_api(given):
    """An address at which the agents find the API, and behind a limited network only by the proxy."""
    if given.network:
        return "127.0.0.2"  # programs ask no proxy for 127.0.0.1
    if not given.image:
        return "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # the loopback of a container is its own
        probe.connect(("192.0.2.1", 9))  # sends nothing
        return probe.getsockname()[0]


def settings_of(given, server):
    """The settings of each project."""
    settings = {"executor": given.executor}
    if given.network:
        settings["network"] = server.place
    if given.image:
        packages = os.path.abspath(given.programs + "/../..")
        settings.update(image=world.IMAGE, executor_options="--volume=%s:%s:ro" % (packages, packages))
    return {name: text for name, text in settings.items() if text}


def at(event, key="timestamp"):
    return datetime.datetime.fromisoformat(event[key].replace("Z", "+00:00")).timestamp()


VERDICTS, TOGETHER = 20, 4
GROUPS = ("trust", "life", "crash", "resume", "fork", "edit", "oneshot", "forget", "limit", "usage", "tokens", "messages",
          "typing", "review", "verdicts", "permits", "skill", "delegation")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--folder", required=True)
    options.add_argument("--orange", required=True)
    options.add_argument("--programs", required=True)
    options.add_argument("--only", default=",".join(GROUPS))
    options.add_argument("--reviewer")
    options.add_argument("--executor")
    options.add_argument("--image")
    options.add_argument("--network", choices=["list"])
    options.add_argument("--patience", type=float, default=2)
    options.add_argument("--keep", action="store_true")
    options.add_argument("names", nargs="+")
    given = options.parse_args()
    groups = given.only.split(",")
    unknown = [name for name in groups if name not in GROUPS]
    if unknown:
        sys.exit("there is no group %s; the groups are %s" % (unknown[0], ", ".join(GROUPS)))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda given, _: sys.exit(128 + given))

    person, server, worlds, failed = world.Person(given.image), api.Api(address_of_api(given)), [], []
    folder = "%s/run-%d" % (given.folder, os.getpid())
    os.makedirs(folder)

    def make_world(trusted, subscribed):
        place = "%s/%d" % (folder, len(worlds))
        made = world.World(place, person, server, given.programs, given.orange, given.patience, trusted, subscribed,
                           given.image)
        worlds.append(made)
        for each in settings_of(given, server).items():
            made.orange("project", "update", "--set", "%s=%s" % each, check=True)
        return made

    def close():
        for made in worlds:
            if os.path.exists(made.folder):
                made.close(given.keep)

    try:
        for name in given.names:
            report = Report()
            reviewer = given.reviewer or name
            path = {**os.environ, "PATH": given.programs + ":" + os.environ["PATH"]}  # their node is there, too
            done = subprocess.run([given.programs + "/" + name, "--version"], env=path, capture_output=True, text=True,
                                  input="")
            version = (done.stdout or done.stderr).strip().split("\n")[0]
            print("# %s %s, reviewer %s" % (name, version, reviewer), flush=True)
            life = Life(name, reviewer, report, make_world)
            for group in groups:
                print("## %s: %s, %s" % (name, group, time.strftime("%H:%M:%S")), flush=True)
                try:
                    getattr(life, group)()
                except Exception:  # a fault of this script or of Orange; the other groups are still of interest
                    report.step("group %s came to its end" % group, False, traceback.format_exc())
                close()
            print("# %s: %d PASS, %d FAIL" % (name, report.passed, len(report.failed)), flush=True)
            for each in report.failed:
                print("#   " + each, flush=True)
            failed += report.failed
    finally:
        for made in worlds:
            made.api.state.hanging.set()
        close()
        if given.keep:
            print("kept: %s, with its daemons and agents, of user %s" % (folder, person.name))
        else:
            shutil.rmtree(folder, ignore_errors=True)
            person.leave()
    sys.exit(1 if failed else 0)


main()
