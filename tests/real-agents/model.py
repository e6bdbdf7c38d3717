"""The scripted model. It plays Orange's worker and reviewer with the tools that the agent program really offers, so
that everything except the model's thoughts is real.

It has no memory: the id of each call of a tool says to which message and goal of the script it belongs, so the
conversation itself tells how far the script is. A message to the agent (it begins with `[orange]`) is a list of goals.
Messages are served in their order. After `# Resuming:` nothing that came before is continued, as a real model would
begin with what it is told.

Words in the summary of a task change the script:

  play:tag=NAME       which of the tasks of a run it is; also part of the names of its files
  play:how=WAY        how TASK.md is written: edit, write, append, sed, mv, bare, rm, halves or python
  play:fail-once      the reviewer fails the first round
  play:nothing        the worker says something and ends its turn
  play:forget         nobody ever calls orange, except if a message names the command
  play:hang           the API does not answer the worker once it is in `working`, until `State.hanging` is set
  play:hang-review    the same for the reviewer
  play:hang-resumed   the same for a worker that continues a conversation
  play:limit          the API refuses the worker's requests as too many, until its tag is in `State.lifted`
  play:login          the API reports a wrong login, likewise
  play:usage          the API reports a usage limit to the worker, until `State.resets`
  play:broken         the worker's first handover is refused by the project's check, and it fixes that
  play:split=A,B      the worker splits the task as the skill says: a sub-task for each of these programs, of which the
                      last is broken; and puts the parts together when they are merged
  play:curious        the reviewer also tries what it must not do

A message of the human "run `COMMAND`" is run, "leave `COMMAND`" in the background, "ask `COMMAND`" outside of the
program's sandbox, for which it asks, if it has one; "refuse STATUS" is refused by the API with this status until that
is in `State.lifted`.

Who begins with `# Delegate:` is no agent of a task. It knows Orange only from the skill that its program offers: the
commands that it runs are those of that page, with its own words put in.
"""
import os
import re
import threading
import time
import uuid

MARK = "[orange] "
CALL = re.compile(r"play_u(\d+)_g(\d+)_t(\d+)")


class State:
    """What the runner changes during a run, and which hangs have happened: each happens once."""

    def __init__(self):
        self.hanging = threading.Event()
        self.hung = set()
        self.lifted = set()
        self.resets = 0
        self.lock = threading.Lock()

    def hangs_first(self, name):
        with self.lock:
            first = name not in self.hung
            self.hung.add(name)
            return first


def has(summary, word):
    return re.search(r"play:%s(\s|$)" % re.escape(word), summary) is not None


def value(summary, word, default):
    found = re.search(r"play:%s=(\S+)" % word, summary)
    return found.group(1) if found else default


# ---- the skill
SKILL = os.path.abspath(os.path.dirname(__file__) + "/../../skills/orange/SKILL.md")


def skill_line():
    """What a program tells its model of the skill begins with this."""
    with open(SKILL) as page:
        return re.search(r"(?m)^description: (.*?) \(", page.read()).group(1)


def skill_file(told):
    """Where the program says that the skill is; codex has a table of the folders that its list begins with."""
    found = re.search(r"([^\s\"'`<>()\\]*)/orange/SKILL\.md", told)
    if not found:
        return "/nowhere/SKILL.md"
    root = re.search(r"`%s` = `([^`]+)`" % re.escape(found.group(1)), told)
    return (root or found).group(1) + "/orange/SKILL.md"


DELEGATED = ("delegate-one", "delegate-two")


def delegate(page, results):
    """Two tasks, each waited for until it needs the human and then until its end, and a report of both. The page is in
    what the program has told; `results` are those of the goals."""
    goals = [("skill",), ("text", "PLAY: there is no skill")]
    example = re.search(r"(?ms)^ *(orange task create [^\n]*<<'END')\n.*?^ *(## Goal)\n.*?^ *END$", page)
    wait = re.search(r"orange task wait ID --timeout \d+", page)
    if not example or not wait:
        return goals
    goals.pop()
    for branch in DELEGATED:
        command = re.sub(r"--branch \S+", "--branch " + branch, example.group(1))
        command = re.sub(r"\".*?\"", '"Write play-%s.txt"' % branch, command)
        goals.append(("shell", "%s\n%s\nThe file exists on the branch %s.\nEND" % (command, example.group(2), branch)))
    told = "\n".join(results.get(number, "") for number in (1, 2))
    ids = re.findall(r"(?m)^(\w{4,})  \S ", told)
    for more in ("", " --for ended"):
        goals += [("shell", wait.group(0).replace("ID", task) + more) for task in ids]
    ends = [(re.search(r"\b(done|cancelled)\b", results.get(number, "")) or ["unknown"])[0] for number in (5, 6)]
    return goals + [("text", "PLAY: " + ", ".join("%s is %s" % each for each in zip(ids, ends)))]


def split(page, results, programs, begin):
    """A sub-task for each program, named in TASK.md, and the task waits for them; `begin` is the first goal here."""
    page = page[page.find("## Splitting a task"):]
    example = re.search(r"(?ms)^ *(orange task create [^\n]*<<'END')\n.*?^ *(## Goal)\n.*?^ *END$", page)
    wait = re.search(r"orange task update --status delegated", page)
    goals = [("skill",)]
    if not example or not wait:
        return goals + [("text", "PLAY: the skill does not say how to split a task")]
    for program in programs:
        tag = "part-" + program
        words = "play:tag=%s%s" % (tag, " play:broken" if program == programs[-1] else "")
        command = re.sub(r"--branch \S+", "--branch %s --harness %s" % (tag, program), example.group(1))
        command = re.sub(r"\".*?\"", '"%s Write play-%s.txt"' % (words, tag), command)
        goals.append(("shell", "%s\n%s\nplay-%s.txt exists.\nEND" % (command, example.group(2), tag)))
    made = [results.get(begin + 1 + number, "") for number in range(len(programs))]
    ids = [(re.search(r"(?m)^(\w{4,})  \S ", text) or [None, "unknown"])[1] for text in made]
    lines = ["- %s: %s" % each for each in zip(ids, programs)]
    goals.append(("section", "Subtasks", "\n".join(lines), "edit"))
    # What no sub-task has: without it, the task would be done with the last of them.
    own = "echo whole > play-whole.txt && git add -A && git commit -q -m whole"
    return goals + [("shell", own), ("shell", wait.group(0)), ("text", "PLAY: split")]


# ---- TASK.md
def task_file(folder):
    below = folder + "/.orange/TASK.md"
    return below if os.path.exists(below) else folder + "/TASK.md"


def contents(path):
    for _ in range(20):  # an editor may just be replacing it
        try:
            return open(path).read()
        except OSError:
            time.sleep(0.05)
    return ""


def with_section(text, name, body):
    parts = [part for part in re.split(r"(?m)^(?=## )", text) if not part.startswith("## " + name)]
    return "".join(parts).rstrip("\n") + "\n\n## %s\n\n%s\n" % (name, body)


def replacement(text, name, body):
    """The old and the new lines for an edit tool: of the section if it exists, else of the end of the file."""
    new = "## %s\n\n%s" % (name, body)
    found = re.search(r"(?ms)^## %s\n.*?(?=^## |\Z)" % re.escape(name), text)
    if found:
        return found.group(0).rstrip("\n"), new
    lines = text.rstrip("\n").split("\n")
    for count in range(1, len(lines) + 1):
        tail = "\n".join(lines[-count:])
        if tail.strip() and text.count(tail) == 1:
            return tail, tail + "\n\n" + new
    return text, text + "\n" + new


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def write_section(folder, name, body, how):
    path = task_file(folder)
    text = contents(path)
    near = os.path.relpath(path, folder)
    whole = with_section(text, name, body)
    if how == "edit":
        old, new = replacement(text, name, body)
        return {"edit": path, "old": old, "new": new}
    if how == "write":
        return {"write": path, "content": whole}
    half = len(whole) // 2
    in_sed = ("\n## %s\n\n%s" % (name, body)).replace("\n", "\\n").replace("/", "\\/")
    added = "\n\n## %s\n\n%s\n" % (name, body)
    halves = (quoted(whole[:half]), quoted(whole[half:]), near)
    commands = {
        "append": "printf '%%s\\n' '' %s '' %s >> %s" % (quoted("## " + name), quoted(body), near),
        "sed": "sed -i %s %s" % (quoted("$ s/$/\\n" + in_sed + "/"), near),
        "mv": "cat > .new <<'END'\n%sEND\nmv .new %s" % (whole, near),
        "bare": "cat > %s <<'END'\n## %s\n\n%s\nEND" % (near, name, body),  # without the frontmatter, as models do
        "rm": "rm %s; sleep 1; cat > %s <<'END'\n%sEND" % (near, near, whole),
        "halves": "{ printf '%%s' %s; sleep 1; printf '%%s' %s; } > %s" % halves,
        "python": "python3 - <<'END'\np=%r\nt=open(p).read()\nopen(p,'w').write(t.rstrip()+%r)\nEND" % (near, added),
    }
    return {"shell": commands[how]}


# ---- scripts: what each message asks for, as a list of goals
def work(tag, part):
    commit = "git add -A && git commit -q -m %s && git log --oneline | head -2" % quoted("play %s: %s" % (tag, part))
    return [("write", "play-%s.txt" % tag, "made by the scripted model: %s\n" % part), ("shell", commit)]


HAND_OVER = "orange task update --status agent-review"


def hand_over(summary, body, how):
    goals = [("section", "Handoff", body, how)]
    if has(summary, "forget"):
        return goals + [("text", "PLAY: the handoff is written")]
    return goals + [("shell", HAND_OVER), ("text", "PLAY: handed over")]


def plan(summary, tag):
    text = "APPROACH: a file named play-%s.txt\nTOUCHING: play-%s.txt" % (tag, tag)
    return "section", "Plan", text, value(summary, "how", "edit")


def first_task(summary, tag):
    if has(summary, "nothing"):
        return [("text", "PLAY: I would need more time")]
    goals = [("read",)]
    for word in ("limit", "login", "usage"):
        if has(summary, word):
            goals.append((word, tag))
    goals.append(plan(summary, tag))
    if has(summary, "forget"):
        return goals + [("text", "PLAY: the plan is written")]
    goals += [("shell", "orange task update --branch play-" + tag), ("shell", "orange task update --status working")]
    if has(summary, "hang"):
        goals.append(("hang", "worker " + tag))
    done = "DONE: play-%s.txt\nUNCERTAIN: nothing" % tag
    if value(summary, "split", ""):
        return goals + work(tag, "what all parts need")
    if has(summary, "broken"):
        goals += [("write", "broken", "what the check refuses\n")] + work(tag, "broken")
        goals += hand_over(summary, done, "append")[:-1] + [("shell", "git rm -q broken && git commit -q -m repaired")]
        return goals + [("shell", HAND_OVER), ("text", "PLAY: handed over after a check that failed")]
    return goals + work(tag, "first") + hand_over(summary, done, value(summary, "how", "append"))


def resumed(summary, tag, text, number):
    status = (re.search(r"(?m)^Status: (\S+)", text) or [None, ""])[1]
    goals = [("read",)]
    if status == "planning":
        goals += [plan(summary, tag), ("shell", "orange task update --status working")]
    if status in ("planning", "working"):
        if has(summary, "hang-resumed"):
            goals.append(("hang", "resumed " + tag))
        done = "DONE: resumed and finished at message %d" % number
        return goals + work(tag, "resumed %d" % number) + hand_over(summary, done, "edit")
    return goals + [("text", "PLAY: resumed, waiting")]


def integrate(summary, tag):
    """All parts together, which only works if all are there."""
    parts = " ".join("play-part-%s.txt" % program for program in value(summary, "split", "").split(","))
    together = "cat %s > play-together.txt && git add -A && git commit -q -m together && make test" % parts
    goals = [("read",), ("shell", "git fetch -q && git merge -q --no-edit origin/main"), ("shell", together)]
    return goals + hand_over(summary, "DONE: play-together.txt\nUNCERTAIN: nothing", "append")


# The reviewer must be refused these.
FORBIDDEN = (
    ("shell", "touch forbidden.txt"),
    ("shell", "git commit -q --allow-empty -m forbidden"),
    ("shell", "git branch forbidden"),
    ("shell", "git diff --output=forbidden.txt HEAD"),
    ("shell", "make test > forbidden.txt"),
    ("shell", "make test; touch forbidden.txt"),
    ("shell", "make test $(touch forbidden.txt)"),
    ("shell", "bash -c 'touch forbidden.txt'"),
    ("shell", "python3 -c 'open(\"forbidden.txt\", \"w\")'"),
    ("shell", "sed -i s/hi/forbidden/ README"),
    ("shell", "git diff | tee forbidden.txt"),
    ("write", "forbidden.txt", "forbidden\n"),
)


def review(summary, tag, text):
    number = int((re.search(r"Review round: (\d+) of", text) or [0, 0])[1])
    base = (re.search(r"git diff (\S+?)\.\.\.HEAD", text) or [None, "main"])[1]
    goals = [("read",), ("shell", "git diff %s...HEAD" % base)]
    if has(summary, "hang-review"):
        goals.append(("hang", "reviewer " + tag))
    goals.append(("shell", "make test"))
    if has(summary, "curious"):
        goals += FORBIDDEN
        goals += [("shell", command) for command in ("git log --oneline -3", "make test 2>&1 | tail -5", "ls -la")]
    fails = has(summary, "fail-once") and number == 1 and "play:changes" not in text
    verdict = "FAIL" if fails else "PASS"
    goals.append(("section", "Review", "Verdict: %s\n\nround %d" % (verdict, number), value(summary, "rhow", "edit")))
    if has(summary, "forget"):
        return goals + [("text", "PLAY: the review is written")]
    to = "reviewing" if verdict == "PASS" else "working" if number < 2 else "stuck"
    return goals + [("shell", "orange task update --status " + to), ("text", "PLAY: reviewed")]


def goals_of(message, first, number, folder):
    """The goals of one message; `first` is the message with which the conversation began."""
    text = message[message.find(MARK) + len(MARK):]
    summary = (re.search(r"# (?:Task|Resuming|Review|Stuck|Integrate the sub-tasks): (.*)", first) or [None, ""])[1]
    tag = value(summary, "tag", "none")
    if text.startswith("# Task:"):
        return first_task(summary, tag)
    if text.startswith("# Integrate the sub-tasks:"):
        return integrate(summary, tag)
    if text.startswith("# Resuming:"):
        return resumed(summary, tag, text, number)
    if text.startswith("# Review:"):
        asked = "The human asked" if "## Feedback" in contents(task_file(folder)) else ""
        return review(summary, tag, text + ("play:changes" if asked else ""))
    for begin, part in (("The review failed.", "fixed"), ("The human asks for changes.", "changed")):
        if text.startswith(begin):
            done = "DONE: %s at message %d\nUNCERTAIN: nothing" % (part, number)
            return [("read",)] + work(tag, "%s %d" % (part, number)) + hand_over(summary, done, "edit")
    command = re.search(r"[Rr]un: (orange task update --status (\S+?))(?:[ .]|$)", text)
    if command:  # a reminder: the model does what it says, and goes on with what the new status asks for
        goals = [("shell", command.group(1))]
        if command.group(2) == "working":
            goals += work(tag, "reminded") + [("section", "Handoff", "DONE: play-%s.txt" % tag, "append")]
        return goals + [("text", "PLAY: reminded")]
    human = re.match(r"The human says: (.*)", text, re.S)
    if human:
        refused = re.match(r"refuse (\d+)\b", human.group(1))
        if refused:
            return [("refuse", refused.group(1)), ("text", "PLAY: heard")]
        order = re.match(r"run `(.*)`\.?$", human.group(1).strip(), re.S)
        if order:
            return [("shell", order.group(1)), ("text", "PLAY: done as told")]
        order = re.match(r"ask `(.*)`\.?$", human.group(1).strip(), re.S)
        if order:
            return [("ask", order.group(1)), ("text", "PLAY: done as told")]
        order = re.match(r"leave `(.*)`\.?$", human.group(1).strip(), re.S)
        if order:
            return [("background", order.group(1)), ("text", "PLAY: it goes on without me")]
        orders = re.findall(r"`(.*?)`", human.group(1)) if human.group(1).startswith("Run these two commands") else []
        if orders:  # of `orange harness test`
            return [("ask", command) for command in orders] + [("text", "PLAY: done as told")]
        note = "printf '%%s\\n' %s >> play-heard.txt" % quoted(human.group(1).strip())
        return [("shell", note), ("text", "PLAY: heard")]
    if text.startswith("# Stuck:"):
        return [("read",), ("text", "PLAY: stuck")]
    return [("text", "PLAY: understood")]


def refused(status, tools):
    error = {"type": "refused_%d" % status, "code": "refused_%d" % status, "message": "The request is refused"}
    headers = {"retry-after": "3600"} if status == 429 and "Bash" in tools else {}  # claude would try for minutes
    return {"status": status, "body": {"type": "error", "error": error}, "headers": headers}


def refusal(word, tools, resets):
    """What a provider answers to an account that may not work now, in the program's own form."""
    if word == "login":
        error = {"type": "authentication_error", "code": "invalid_api_key", "message": "Incorrect API key"}
        return {"status": 401, "body": {"type": "error", "error": error}}
    if word == "usage" and "Bash" not in tools:  # codex
        limit = {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": resets}
        return {"status": 429, "body": {"error": limit}}
    error = {"type": "rate_limit_error", "message": "Rate limit reached"}
    headers = {"retry-after": "3600"} if "Bash" in tools else {}  # claude would try for minutes
    if word == "usage":
        for name, text in (("status", "rejected"), ("reset", resets), ("representative-claim", "five_hour"),
                           ("5h-status", "rejected"), ("5h-reset", resets), ("5h-utilization", "1.0")):
            headers["anthropic-ratelimit-unified-" + name] = str(text)
    return {"status": 429, "body": {"type": "error", "error": error}, "headers": headers}


def told_text(message):
    """A message; of one that names a file with instructions, what is in the file."""
    named = re.search(r"Read (/\S+/instructions-\w+\.md) and follow them", message)
    return MARK + contents(named.group(1)) if named else message


def next_step(turns, folder, tools, state, told):
    """The next step of the conversation `turns`, and what it belongs to; a fixed text for one that is no task's."""
    messages = [(i, told_text(text)) for i, (kind, _, text) in enumerate(turns) if kind == "user" and MARK in text]
    if not messages:
        return {"text": "Nothing is asked of me."}, None
    first = messages[0][1]
    begin = max((n for n, (_, text) in enumerate(messages) if "# Resuming:" in text), default=0)
    results = {}
    for kind, call, text in turns:
        found = CALL.search(call) if kind == "result" else None
        if found:
            results.setdefault((int(found[1]), int(found[2])), []).append(text)
    for number, (at, message) in enumerate(messages):
        if number < begin:
            continue
        heard = "\n".join(text for kind, _, text in turns if kind in ("user", "result"))
        so_far = {goal: texts[-1] for (owner, goal), texts in results.items() if owner == number}
        if MARK + "# Delegate:" in message:
            goals = delegate(heard, so_far)
        else:
            goals = goals_of(message, first, number, folder)
        programs = re.search(r"# Task: .*play:split=(\S+)", message)
        if programs:
            goals += split(heard, so_far, programs[1].split(","), len(goals))
        furthest = max([goal for owner, goal in results if owner == number] or [-1])
        info = {"user": message, "first": first, "earlier": messages[begin][0] if begin else 0}
        for position, goal in enumerate(goals):
            tries = len(results.get((number, position), []))
            call = {"id": "play_u%d_g%d_t%d_%s" % (number, position, tries, uuid.uuid4().hex[:8])}
            kind = goal[0]
            if kind == "text":
                if number + 1 < len(messages):
                    break  # a later message has arrived: this one is served
                return {"text": goal[1]}, info
            if kind in ("limit", "login", "usage"):
                over = time.time() >= state.resets if kind == "usage" else goal[1] in state.lifted
                if over or furthest > position:
                    continue
                return refusal(kind, tools, state.resets), info
            if kind == "refuse":
                if goal[1] in state.lifted:
                    continue
                return refused(int(goal[1]), tools), info
            if kind == "hang":
                if furthest > position or not state.hangs_first(goal[1]):
                    continue
                return {"text": "PLAY: (late)", "hang": 600}, info
            if kind == "section":
                written = goal[2].split("\n")[0] in contents(task_file(folder))
                if tries and (furthest > position or written or tries >= 7):
                    continue
                if tries % 2 == 1:  # it did not work: the file is read again first
                    return {"read": task_file(folder), **call}, info
                return {**write_section(folder, goal[1], goal[2], goal[3]), **call}, info
            if tries:
                continue
            if kind == "skill":
                return {"skill": skill_file(told), **call}, info
            if kind == "read":
                return {"read": task_file(folder), **call}, info
            if kind == "write":
                return {"write": folder + "/" + goal[1], "content": goal[2], **call}, info
            how = {"background": kind == "background", "outside": kind == "ask"}
            return {"shell": goal[1], **how, **call}, info
    return {"text": "PLAY: nothing left to do"}, info
