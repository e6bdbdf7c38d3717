"""A world for one group of steps: a HOME with the configuration that lets the agent programs talk to the scripted API,
a repository with a bare origin, and an Orange of its own.
"""
import fcntl
import glob
import json
import os
import pty
import pwd
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time

import model

ROOT = os.path.abspath(os.path.dirname(__file__) + "/../..")
KEY = "sk-test-local"
# pi asks for trust only in a repository that configures it. gemini's commands ignore ~/.gitconfig.
REPOSITORY = """
set -e
git init -q --bare origin.git
git clone -q origin.git shop 2>/dev/null
cd shop
git checkout -q -B main
git config user.name Ada
git config user.email ada@example.org
echo hi > README
mkdir .pi
echo '{}' > .pi/settings.json
printf 'test:\\n\\t@test ! -e broken\\n\\t@echo all tests pass\\n' > Makefile
git add .
git commit -q -m Begin
git push -q -u origin main
git remote set-head origin -a >/dev/null
"""
# Of every login shell. claude would try again for minutes when its API refuses.
PROFILE = """
export PATH={path}
export ANTHROPIC_BASE_URL={url} {login} LOCAL_API_KEY={key}
export CLAUDE_CODE_MAX_RETRIES=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 PI_OFFLINE=1
export OPENAI_API_KEY={key} OPENAI_BASE_URL={url}/v1 OPENAI_MODEL=scripted
export GEMINI_API_KEY={key} GOOGLE_GEMINI_BASE_URL={url}
export COPILOT_PROVIDER_BASE_URL={url}/v1 COPILOT_PROVIDER_API_KEY={key} COPILOT_MODEL=scripted
export COPILOT_OFFLINE=true COPILOT_AUTO_UPDATE=false
"""
CODEX = """
model = "gpt-5-scripted"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "LOCAL_API_KEY"
wire_api = "responses"
"""
# Of an executor with an image: the worlds of a run share podman's storage.
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/runtime/containers"
"""
IMAGE = "real-agents"
# The tmux of this world's Orange: what Orange sends into a window is recorded. While Enter is held, its windows get none.
TMUX = """#!/bin/sh
case " $* " in
    *" send-keys "* | *" paste-buffer "*) printf '%s\\n' "$*" >>"{folder}/typed" ;;
esac
if [ -e "{folder}/no-enter" ]; then
    case " $* " in *" Enter "*) exit 0 ;; esac
fi
exec {tmux} "$@"
"""


class Person:
    """Who runs the programs. claude refuses to work without permissions as root, so root makes a user for the run."""

    def __init__(self, has_containers):
        self.made = os.geteuid() == 0
        self.name = "orange-test-%d" % os.getpid() if self.made else pwd.getpwuid(os.geteuid()).pw_name
        if self.made:
            kind = [] if has_containers else ["--system"]  # a user of the system has no numbers for users in containers
            subprocess.run(["useradd", *kind, "--no-create-home", "--shell", "/bin/bash", self.name], check=True)
        record = pwd.getpwnam(self.name)
        self.uid, self.gid = record.pw_uid, record.pw_gid
        self.start = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.made else {}

    def own(self, folder):
        if self.made:
            subprocess.run(["chown", "-R", "%d:%d" % (self.uid, self.gid), folder], check=True)

    def leave(self):
        if self.made:
            subprocess.run(["userdel", self.name], check=False, stderr=subprocess.DEVNULL)


class Window:
    """A person's terminal that is attached to the window of an agent."""

    def __init__(self, world, task):
        session = world.tmux("display-message", "-p", "-t", world.agent(task)["pane_id"], "#{session_name}").stdout.strip()
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        argv = [shutil.which("tmux"), "-S", world.orange_home + "/tmux.sock", "attach-session", "-t", "=" + session]
        os.fchown(slave, world.person.uid, world.person.gid)
        how = {"stdin": slave, "stdout": slave, "stderr": slave, "env": world.env, "cwd": "/", "start_new_session": True}
        self.client = subprocess.Popen(argv, **how, **world.person.start)
        os.close(slave)
        self.drained = threading.Thread(target=self.drain, daemon=True)
        self.drained.start()

    def drain(self):
        try:
            while os.read(self.master, 65536):
                pass
        except OSError:
            pass  # it has left

    def type(self, text, each=0.02):
        for character in text:
            os.write(self.master, character.encode())
            time.sleep(each)

    def leave(self):
        self.client.terminate()
        self.client.wait()
        self.drained.join()  # else it would read from whatever gets the number of the closed file
        os.close(self.master)


class World:
    def __init__(self, folder, person, api, programs, orange, patience, trusted=True, subscribed=False, archive=None):
        self.folder, self.person, self.api, self.patience = folder, person, api, patience
        api.state = model.State()
        self.home, self.repo, self.orange_home = folder + "/home", folder + "/shop", folder + "/home/orange"
        path = ":".join([folder + "/bin", orange, programs, "/usr/local/bin:/usr/bin:/bin"])
        self.env = {"HOME": self.home, "USER": person.name, "LOGNAME": person.name, "SHELL": "/bin/bash", "PATH": path}
        self.env.update(LANG="C.UTF-8", TERM="xterm-256color", ORANGE_SHARE=ROOT)
        os.makedirs(folder + "/bin")
        self.configure(trusted, subscribed, path)
        person.own(folder)
        self.shell(REPOSITORY, cwd=folder, check=True)
        if archive:
            self.import_image(archive)
        self.orange("project", "add", self.repo, "--pool-size", "12", check=True)
        self.orange("project", "update", "--check", "make test", "--set", "limits.worker=0", "--set", "limits.reviewer=0",
                    check=True)

    def configure(self, trusted, subscribed, path):
        url = "http://" + self.api.place
        login = "" if subscribed else "ANTHROPIC_API_KEY=" + KEY
        self.write(".profile", PROFILE.format(path=path, url=url, key=KEY, login=login))
        if subscribed:  # claude has usage limits only with such a login; the scripted API accepts every token
            token = {"accessToken": "sk-ant-oat01-test", "refreshToken": "sk-ant-ort01-test", "subscriptionType": "max"}
            token.update(expiresAt=int(time.time() + 86400) * 1000, scopes=["user:inference", "user:profile"])
            self.write(".claude/.credentials.json", json.dumps({"claudeAiOauth": token}))
        claude = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [KEY], "rejected": []}}
        if trusted:
            claude["projects"] = {self.repo: {"hasTrustDialogAccepted": True}}
        self.write(".claude.json", json.dumps(claude))
        self.write(".codex/config.toml", CODEX.format(url=url))
        models = {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 128000, "output": 8000}}}
        local = {"npm": "@ai-sdk/openai-compatible", "name": "local", "models": models}
        local["options"] = {"baseURL": url + "/v1", "apiKey": KEY}
        opencode = {"model": "local/scripted", "small_model": "local/scripted", "autoupdate": False}
        self.write(".config/opencode/opencode.json", json.dumps({**opencode, "provider": {"local": local}}))
        local = {"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": KEY}
        local["models"] = [{"id": "scripted", "reasoning": True}]
        self.write(".pi/agent/models.json", json.dumps({"providers": {"local": local}}))
        self.write(".pi/agent/settings.json", json.dumps({"defaultProvider": "local", "defaultModel": "scripted"}))
        general = {"enableAutoUpdate": False}
        qwen = {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "scripted"}, "general": general}
        self.write(".qwen/settings.json", json.dumps(qwen))
        gemini = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"name": "gemini-2.5-pro"}}
        self.write(".gemini/settings.json", json.dumps({**gemini, "general": general}))
        folders = [self.repo] if trusted else []
        self.write(".copilot/config.json", json.dumps({"trusted_folders": folders, "trustedFolders": folders}))
        self.write(".gitconfig", "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
        wrapper = self.folder + "/bin/tmux"
        with open(wrapper, "w") as out:
            out.write(TMUX.format(folder=self.folder, tmux=shutil.which("tmux")))
        os.chmod(wrapper, 0o755)

    def import_image(self, archive):
        """Writes podman's configuration, and imports the file system if no world before has. The first container copies
        it, which takes longer than a check of the executor may."""
        shared = os.path.dirname(self.folder) + "/podman"
        runtime = {"XDG_RUNTIME_DIR": shared + "/runtime"}
        if "CONTAINERS_CONF" in os.environ:
            runtime["CONTAINERS_CONF"] = os.environ["CONTAINERS_CONF"]
        self.env.update(runtime)
        with open(self.home + "/.profile", "a") as profile:
            profile.writelines("export %s='%s'\n" % each for each in runtime.items())
        os.makedirs(shared + "/runtime", mode=0o700, exist_ok=True)
        if not os.path.exists(shared + "/images"):
            self.person.own(shared)
        self.write(".config/containers/storage.conf", STORAGE.format(folder=shared))
        first = "podman run --rm --userns=keep-id --network=none $1 true"
        command = "podman image exists $1 || { podman import --quiet $2 $1 && %s; }" % first
        self.run(["sh", "-c", command, "sh", IMAGE, archive], cwd="/", check=True)

    def write(self, name, text):
        path = self.home + "/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        self.person.own(self.home)

    # ---- programs
    def run(self, argv, cwd=None, check=False):
        how = {"cwd": cwd or self.repo, "env": self.env, "umask": 0o022, **self.person.start}
        how.update(capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        try:
            done = subprocess.run(argv, timeout=120 * self.patience, **how)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(argv, 124, "", "no end after %d s" % (120 * self.patience))
        if check and done.returncode:
            raise RuntimeError("%s: %s" % (" ".join(argv), done.stdout + done.stderr))
        return done

    def shell(self, command, **options):
        return self.run(["bash", "-c", command], **options)

    def login_shell(self, argv):
        """As a person would start a program: with the settings of a login."""
        return self.run(["bash", "-lc", 'exec "$@"', "bash", *argv])

    def orange(self, *words, **options):
        return self.run(["orange", *words], **options)

    def json(self, *words):
        done = self.orange(*words, "--json")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"error": done.stdout + done.stderr}

    def tmux(self, *words):
        return self.run([shutil.which("tmux"), "-S", self.orange_home + "/tmux.sock", *words], cwd="/")

    # ---- tasks
    def create(self, summary, worker, reviewer=None, *more):
        reply = self.json("run", summary, "--harness", worker, "--review-harness", reviewer or worker, *more)
        if "task" not in reply:
            raise RuntimeError("orange run: %s" % reply)
        return reply["task"]["fields"]["id"]

    def task(self, task):
        return self.json("task", "show", task).get("task", {})

    def status(self, task):
        return self.task(task).get("fields", {}).get("status")

    def notices(self, task):
        return [notice["kind"] for notice in self.task(task).get("notices", [])]

    def path(self, task):
        return (glob.glob(self.orange_home + "/tasks/*/" + task) or [self.orange_home + "/tasks/none"])[0]

    def worktree(self, task):
        return self.task(task).get("worktree") or "/nowhere"

    def text(self, task):
        try:
            return open(self.path(task) + "/TASK.md").read()
        except OSError:
            return ""

    def history(self, task, kind=None):
        events = []
        try:
            for line in open(self.path(task) + "/history.jsonl"):
                if line.endswith("\n"):
                    events.append(json.loads(line))
        except OSError:
            pass
        return [event for event in events if kind in (None, event.get("type"))]

    def moves(self, task):
        moves = self.history(task, "status.changed")
        return " ".join("%s->%s/%s" % (move["from"], move["to"], move["by"]) for move in moves)

    def seen(self, task, role="worker"):
        """What there is instead of what a step expects, found out when it is needed."""

        def look():
            events = [(event["timestamp"][11:19], event["type"]) for event in self.history(task)[-8:]]
            messages = self.json("task", "show", task).get("messages", [])[-1:]
            facts = (self.moves(task), events, self.notices(task), messages, self.screen(task, role)[-600:])
            return " | ".join(str(fact) for fact in facts)

        return look

    def activity(self, task):
        return self.task(task)["worker_activity"]

    def argv(self, task):
        """The command line of the first agent, which ends with its prompt."""
        folder = self.path(task) + "/run"
        for name in os.listdir(folder):
            if name.endswith(".json"):
                spec = json.load(open(folder + "/" + name))
                inner = spec.get("inner_folder")  # of an executor, whose command line the first one is
                return json.load(open(inner + "/spec.json"))["argv"] if inner else spec["argv"]

    def agent(self, task, role="worker"):
        with open(self.path(task) + "/state.json") as state:
            return next((run for run in json.load(state).get("runs", []) if run["role"] == role), None)

    def screen(self, task, role="worker"):
        agent = self.agent(task, role)
        shown = self.tmux("capture-pane", "-p", "-t", agent["pane_id"]).stdout if agent else ""
        return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())

    def keys(self, task, *keys):
        return self.tmux("send-keys", "-t", self.agent(task)["pane_id"], *keys)

    def processes(self, task, role="worker"):
        """The agent's program and its children; the first process is Orange's shim, which is left out."""
        found = [self.agent(task, role)["pid"]]
        for pid in found:
            try:
                found += [int(child) for child in open("/proc/%d/task/%d/children" % (pid, pid)).read().split()]
            except OSError:
                pass
        return found[1:]

    def hold_enter(self, held):
        """While Enter is held, no window gets one from Orange: a message stands unsent in the program's prompt."""
        if held:
            open(self.folder + "/no-enter", "w").close()
        else:
            os.unlink(self.folder + "/no-enter")

    def typed(self, task):
        """How often Orange has sent something into the window of the task's worker."""
        pane = self.agent(task)["pane_id"]
        try:
            return sum(pane in line.split() for line in open(self.folder + "/typed"))
        except OSError:
            return 0

    def kill(self, task, role="worker", sign=signal.SIGKILL):
        os.kill(self.processes(task, role)[0], sign)

    # ---- what the model was asked
    def asked(self, *parts, tag=None):
        """Requests of this world whose message has all parts; `tag`: of the task with this tag."""
        of_task = re.compile(r"play:tag=%s(\s|$)" % re.escape(tag or ""))

        def fits(request):
            here = request["folder"].startswith(self.folder + "/") and (tag is None or of_task.search(request["first"]))
            return here and all(part in request["user"] for part in parts)

        return [request for request in list(self.api.served) if fits(request)]

    def until(self, seconds, condition):
        end = time.time() + seconds * self.patience
        while time.time() < end:
            try:
                found = condition()
            except (OSError, ValueError, TypeError, KeyError):
                found = None  # not there yet, or just being written
            if found:
                return found
            time.sleep(0.25)
        return None

    # ---- the end
    def living(self, below=None):
        """The processes of this world, or those that work in a folder of it."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                env = open("/proc/%s/environ" % entry, "rb").read().split(b"\0")
                place = os.readlink("/proc/%s/cwd" % entry)
            except OSError:
                continue
            if ("HOME=" + self.home).encode() in env and (below is None or place.startswith(below)):
                found.append(int(entry))
        return found

    def cancel_all(self):
        for view in self.json("task", "list").get("tasks", []):
            self.orange("task", "cancel", view["fields"]["id"], "--yes")

    def close(self, keep):
        self.api.state.hanging.set()
        if keep:
            return
        self.cancel_all()
        self.orange("daemon", "stop", cwd="/")
        self.tmux("kill-server")
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.living():
                try:
                    os.kill(pid, sign)
                except ProcessLookupError:
                    pass
            self.until(5, lambda: not self.living())
        shutil.rmtree(self.folder, ignore_errors=True)
