"""The API that the agent programs ask instead of their providers: Anthropic's Messages, OpenAI's Responses, OpenAI's Chat
Completions (opencode, pi, qwen and copilot use these) and Gemini's generateContent, as far as the programs need them. It
listens on a free port. What it answers is decided by `model.py`; a request that is not part of a task gets
a fixed text.
"""
import json
import os
import re
import shlex
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import model


def text_of(content):
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, dict):
            parts.append(block.get("text") or "")
    return "\n".join(part for part in parts if part)


QUEUED = re.compile(r"The user sent a new message while you were working:\n(.*?)\n\nIMPORTANT", re.S)
FOLDERS = (
    r"[Cc]urrently working in the directory: ([^\s\\\"]+)",
    r"working in the following directories:\\n\s*- ([^\s\\\"]+)",
    r"Workspace Directories:\**\\n\s*- ([^\s\\\"]+)",
    r"Current working directory: ([^\s\\\"]+)",
    r"Primary working directory: ([^\s\\\"]+)",
    r"<cwd>([^<]+)</cwd>",
    r"[Ww]orking directory(?: is|:) ([^\s\\\"]+)",
)


# A conversation is a list of (kind, id, text): `user`, `say` (the model's text), `call` and `result` of a tool.
def of_messages(body):
    turns = []
    for message in body.get("messages", []):
        content = message.get("content")
        if message["role"] == "system":  # claude passes a message that arrived during a turn in this form
            queued = QUEUED.match(text_of(content))
            if queued:
                turns.append(("user", "", queued.group(1)))
            continue
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            kind = block.get("type")
            if kind == "tool_result":
                turns.append(("result", block.get("tool_use_id") or "", text_of(block.get("content"))))
            elif kind == "tool_use":
                turns.append(("call", block.get("id") or "", ""))
            elif kind == "text":
                turns.append(("user" if message["role"] == "user" else "say", "", block.get("text", "")))
    return turns


def of_chat(body):
    turns = []
    for message in body.get("messages", []):
        said = text_of(message.get("content"))
        if message["role"] == "user":
            turns.append(("user", "", said))
        elif message["role"] == "tool":
            turns.append(("result", message.get("tool_call_id") or "", said))
        elif message["role"] == "assistant":
            if said:
                turns.append(("say", "", said))
            turns += [("call", call.get("id") or "", "") for call in message.get("tool_calls") or []]
    return turns


def of_responses(body):
    turns = []
    for item in body.get("input") or []:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") in ("user", "assistant"):
            turns.append(("user" if item["role"] == "user" else "say", "", text_of(item.get("content"))))
        elif kind.endswith("_call"):
            turns.append(("call", item.get("call_id") or "", ""))
        elif kind.endswith("_output"):
            output = item.get("output")
            output = output if isinstance(output, str) else json.dumps(output)
            turns.append(("result", item.get("call_id") or "", output))
    return turns


def of_gemini(body):
    turns = []
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                result = part["functionResponse"]
                turns.append(("result", result.get("id") or "", json.dumps(result.get("response"))))
            elif "functionCall" in part:
                turns.append(("call", part["functionCall"].get("id") or "", ""))
            elif part.get("text") and not part.get("thought"):
                turns.append(("say" if content.get("role") == "model" else "user", "", part["text"]))
    return turns


def tools_of(body):
    """Name → description of a tool. The newest models of codex get theirs within the input, gemini's in groups."""
    listed = list(body.get("tools") or [])
    for item in body.get("input") or [] if isinstance(body.get("input"), list) else []:
        if item.get("type") == "additional_tools":
            for group in item.get("tools") or []:
                listed += group.get("tools") or [group]
    listed = [each for tool in listed for each in tool.get("functionDeclarations") or [tool]]
    return {(tool.get("function") or tool).get("name") or tool.get("type"): tool for tool in listed}


def folder_of(body):
    """The agent's working directory, which every program tells its model."""
    told = json.dumps(body)
    for pattern in FOLDERS:
        found = re.search(pattern, told)
        if found:
            return found.group(1).replace("\\n", "").strip().rstrip(".")  # pi puts it on a line of its own
    return "."


WINDOW_USED = 62  # percent of the account's window, which only codex is told


def new(prefix):
    return prefix + uuid.uuid4().hex[:20]


def numbers_of(number):
    """The tokens of the request with this number, which differ from those of the requests before. `output` includes
    `reasoning`."""
    return {"input": 100 + number % 89, "cache_read": 300 + number % 7, "cache_write": 0, "output": 40 + number % 13,
            "reasoning": 7}


def patch(what, path, lines):
    return "*** Begin Patch\n*** %s File: %s\n%s*** End Patch" % (what, path, lines)


def marked(sign, text):
    return "".join(sign + line + "\n" for line in text.split("\n"))


def patch_call(text, tools):
    if "apply_patch" in tools:
        tool = tools["apply_patch"]
        if tool.get("type") == "custom":
            return "apply_patch", text
        return "apply_patch", {"patchText": text} if "patchText" in json.dumps(tool) else {"input": text}
    if "exec" in tools:
        return "exec", "text(await tools.apply_patch(%s));" % json.dumps(text)
    return tool_call({"shell": "apply_patch <<'PATCH'\n%s\nPATCH" % text}, tools)


def gemini_call(step, tools):
    """gemini's tools, and qwen's, which descends from it."""
    if "shell" in step:
        command = {"command": step["shell"], "description": "a step of the script", "is_background": False}
        return "run_shell_command", command
    if "skill" in step or "read" in step:
        return "read_file", {"file_path": step.get("skill") or step["read"]}
    if "edit" in step:
        args = {"file_path": step["edit"], "old_string": step["old"], "new_string": step["new"]}
        return ("replace", {**args, "instruction": "a step of the script"}) if "replace" in tools else ("edit", args)
    if "write" in step:
        return "write_file", {"file_path": step["write"], "content": step["content"]}
    return None


def copilot_call(step):
    command = step.get("shell")
    if "write" in step and os.path.exists(step["write"]):  # its tool creates new files only
        command = "cat > %s <<'FILEEND'\n%s\nFILEEND" % (shlex.quote(step["write"]), step["content"].rstrip("\n"))
    if command:
        return "bash", {"command": command, "description": "a step of the script"}
    if "skill" in step or "read" in step:
        return "view", {"path": step.get("skill") or step["read"]}
    if "edit" in step:
        return "edit", {"path": step["edit"], "old_str": step["old"], "new_str": step["new"]}
    if "write" in step:
        return "create", {"path": step["write"], "file_text": step["content"]}
    return None


def tool_call(step, tools):
    """A step of the model in the words of the program's own tools: (name, input). An input that is a text belongs to a
    tool without a schema."""
    def has(name, key):
        return name in tools and key in json.dumps(tools[name])

    if "run_shell_command" in tools:
        return gemini_call(step, tools)
    if "bash" in tools and has("edit", "old_str"):
        return copilot_call(step)
    if "shell" in step:
        command = step["shell"]
        for name in ("Bash", "bash"):
            if name in tools:
                described = {"command": command, "description": "a step of the script"}
                if name == "Bash" and step.get("background"):
                    described["run_in_background"] = True
                return name, described if name == "Bash" or has(name, "workdir") else {"command": command}
        how = {"sandbox_permissions": "require_escalated", "justification": "a step"} if step.get("outside") else {}
        if "exec_command" in tools:
            how.update({"yield_time_ms": 1000} if step.get("background") else {})
            return "exec_command", {"cmd": command, **how}
        if "shell_command" in tools:
            return "shell_command", {"command": command, **how}
        if "exec" in tools:
            script = "const r = await tools.exec_command({cmd: %s}); text(r.output ?? JSON.stringify(r));"
            return "exec", script % json.dumps(command)
        return "shell", {"command": ["bash", "-lc", command]}
    if "skill" in step:
        for name, key in (("Skill", "skill"), ("skill", "name")):
            if name in tools:
                return name, {key: "orange"}
        return tool_call({"read": step["skill"]}, tools)
    if "read" in step:
        path = step["read"]
        if "Read" in tools:
            return "Read", {"file_path": path}
        if "read" in tools:
            return "read", {"filePath" if has("read", "filePath") else "path": path}
        return tool_call({"shell": "cat '%s'" % path}, tools)
    if "edit" in step:
        path, old, new = step["edit"], step["old"], step["new"]
        if "Edit" in tools:
            return "Edit", {"file_path": path, "old_string": old, "new_string": new}
        if has("edit", "filePath"):
            return "edit", {"filePath": path, "oldString": old, "newString": new}
        if "edit" in tools:
            return "edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}
        return patch_call(patch("Update", path, "@@\n" + marked("-", old) + marked("+", new)), tools)
    if "write" in step:
        path, content = step["write"], step["content"]
        if "Write" in tools:
            return "Write", {"file_path": path, "content": content}
        if "write" in tools:
            return "write", {"filePath" if has("write", "filePath") else "path": path, "content": content}
        return patch_call(patch("Add", path, marked("+", content.rstrip("\n"))), tools)
    return None


class Api(ThreadingHTTPServer):
    """Every request that belongs to a task is in `served`, in order: what the model saw last, and what it did. Every
    one that was answered is in `spent`, with its tokens; `of_task` tells whether it belongs to a task.
    """
    daemon_threads = True

    def __init__(self, address):
        super().__init__((address, 0), Handler)
        self.place = "%s:%d" % self.server_address
        self.served = []
        self.spent = []
        self.lock = threading.Lock()
        self.state = model.State()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def spend(self, of_task, name, asks, with_writes):
        """The tokens of the next request. Only Anthropic counts those that it writes to its cache."""
        with self.lock:
            numbers = numbers_of(len(self.spent))
            if with_writes:
                numbers["cache_write"] = 50
            self.spent.append({"at": time.time(), "of_task": of_task, "model": name, "asks": asks, **numbers})
        return numbers

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a program that was killed
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.reply({})

    def do_GET(self):
        if "/models" in self.path:
            named = {"id": "scripted", "object": "model", "type": "model", "display_name": "scripted"}
            return self.reply({"object": "list", "data": [named], "has_more": False})
        return self.reply({"error": {"message": "no such page"}}, 404)

    def do_POST(self):
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the program has gone, or its turn was interrupted

    def content(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while True:
            size = int(self.rfile.readline().strip() or b"0", 16)
            whole += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return whole

    def reply(self, value, status=200, headers=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def answer(self):
        body = json.loads(self.content() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply({"input_tokens": 1000})
        if path.endswith(":countTokens"):
            return self.reply({"totalTokens": 1000})
        dialects = {
            "/messages": (of_messages, self.say_messages),
            "/chat/completions": (of_chat, self.say_chat),
            "/responses": (of_responses, self.say_responses),
            "enerateContent": (of_gemini, self.say_gemini),  # :generateContent and :streamGenerateContent
        }
        dialect = next((both for end, both in dialects.items() if path.endswith(end)), None)
        if not dialect:
            return self.reply({"error": {"message": "no such page"}}, 404)
        read, say = dialect
        tools = tools_of(body)
        step = {"text": "A title"}  # programs ask for a title without offering tools
        record = None
        turns = read(body)
        if tools:
            folder = folder_of(body)
            told = json.dumps(body, ensure_ascii=False)
            step, at = model.next_step(turns, folder, tools, self.server.state, told)
            if at:
                record = {"at": time.time(), "done": None, "folder": folder, "step": step, **at}
                record["lists"] = model.skill_line() in told
                record["messages"] = [text for kind, _, text in turns if kind == "user"]
                record["result"] = next((text for kind, _, text in reversed(turns) if kind == "result"), "")
                self.server.served.append(record)
        if step.get("hang"):
            self.server.state.hanging.wait(step["hang"])
        if "status" in step:
            self.reply(step["body"], step["status"], step.get("headers"))
        else:
            named = body.get("model") or path.split("/models/")[-1].split(":")[0]
            asks = next((text for kind, _, text in reversed(turns) if kind == "user"), "")
            self.used = self.server.spend(record is not None, named, asks, path.endswith("/messages"))
            say(body, step.get("text"), tool_call(step, tools), step.get("id") or new("call_"))
        if record:
            record["done"] = time.time()

    # ---- the four ways to say it, as a stream of events or whole
    def begin_stream(self, headers=None):
        self.send_response(200)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, name=None):
        head = "event: %s\n" % name if name else ""
        self.wfile.write(("%sdata: %s\n\n" % (head, value if isinstance(value, str) else json.dumps(value))).encode())
        self.wfile.flush()

    def say_messages(self, body, text, call, call_id):
        content = [{"type": "text", "text": text}] if text else []
        if call:
            content.append({"type": "tool_use", "id": call_id, "name": call[0], "input": call[1]})
        stop = "tool_use" if call else "end_turn"
        message = {"id": new("msg_"), "type": "message", "role": "assistant", "content": content}
        message["model"] = body.get("model")
        used = self.used
        message["usage"] = {"input_tokens": used["input"], "output_tokens": 1}
        cached = {"cache_creation_input_tokens": used["cache_write"], "cache_read_input_tokens": used["cache_read"]}
        message["usage"].update(cached)
        message.update(stop_reason=stop, stop_sequence=None)
        if not body.get("stream"):
            message["usage"]["output_tokens"] = used["output"]
            return self.reply(message)
        self.begin_stream()

        def event(kind, **fields):
            self.event({"type": kind, **fields}, kind)
        event("message_start", message={**message, "content": [], "stop_reason": None})
        for i, block in enumerate(content):
            if block["type"] == "text":
                event("content_block_start", index=i, content_block={"type": "text", "text": ""})
                event("content_block_delta", index=i, delta={"type": "text_delta", "text": block["text"]})
            else:
                event("content_block_start", index=i, content_block={**block, "input": {}})
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                event("content_block_delta", index=i, delta=delta)
            event("content_block_stop", index=i)
        said = {"output_tokens": used["output"]}
        event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=said)
        event("message_stop")

    def say_gemini(self, _, text, call, call_id):
        parts = [{"text": text}] if text else []
        if call:
            parts.append({"functionCall": {"id": call_id, "name": call[0], "args": call[1]}})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        used = self.used
        asked, said = used["input"] + used["cache_read"], used["output"] - used["reasoning"]
        usage = {"promptTokenCount": asked, "cachedContentTokenCount": used["cache_read"], "candidatesTokenCount": said}
        usage.update(thoughtsTokenCount=used["reasoning"], totalTokenCount=asked + used["output"])
        reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": new("r")}
        if ":stream" not in self.path:
            return self.reply(reply)
        self.begin_stream()
        self.event(reply)

    def say_chat(self, body, text, call, call_id):
        calls = None
        if call:
            arguments = call[1] if isinstance(call[1], str) else json.dumps(call[1])
            function = {"name": call[0], "arguments": arguments}
            calls = [{"index": 0, "id": call_id, "type": "function", "function": function}]
        used = self.used
        asked = used["input"] + used["cache_read"]
        usage = {"prompt_tokens": asked, "completion_tokens": used["output"], "total_tokens": asked + used["output"]}
        usage["prompt_tokens_details"] = {"cached_tokens": used["cache_read"]}
        usage["completion_tokens_details"] = {"reasoning_tokens": used["reasoning"]}
        base = {"id": new("chatcmpl-"), "created": int(time.time()), "model": body.get("model")}
        finish = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": text, "tool_calls": calls}
            choices = [{"index": 0, "finish_reason": finish, "message": message}]
            return self.reply({**base, "object": "chat.completion", "choices": choices, "usage": usage})
        self.begin_stream()

        def chunk(delta, finish=None):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self.event({**base, "object": "chat.completion.chunk", "choices": [choice]})
        chunk({"role": "assistant", "content": ""})
        if text:
            chunk({"content": text})
        if calls:
            chunk({"tool_calls": calls})
        chunk({}, finish)
        self.event({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.event("[DONE]")

    def say_responses(self, body, text, call, call_id):
        items = []
        if text:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            items.append({"type": "message", "id": new("msg_"), "role": "assistant", "content": content})
        if call and isinstance(call[1], str):
            items.append({"type": "custom_tool_call", "id": new("ctc_"), "name": call[0], "input": call[1]})
        elif call:
            items.append({"type": "function_call", "id": new("fc_"), "name": call[0], "arguments": json.dumps(call[1])})
        for item in items:
            item["status"] = "completed"
            if item["type"] != "message":
                item["call_id"] = call_id
        base = {"id": new("resp_"), "object": "response", "created_at": int(time.time()), "model": body.get("model")}
        base.update(status="in_progress", output=[])
        used = self.used
        asked = used["input"] + used["cache_read"]
        usage = {"input_tokens": asked, "output_tokens": used["output"], "total_tokens": asked + used["output"]}
        usage["input_tokens_details"] = {"cached_tokens": used["cache_read"]}
        usage["output_tokens_details"] = {"reasoning_tokens": used["reasoning"]}
        whole = {**base, "status": "completed", "output": items, "usage": usage}
        if not body.get("stream"):
            return self.reply(whole)
        window = {"used-percent": WINDOW_USED, "window-minutes": 300, "reset-at": int(time.time()) + 3600}
        self.begin_stream({"x-codex-primary-" + name: str(number) for name, number in window.items()})
        number = 0

        def event(kind, **fields):
            nonlocal number
            number += 1
            self.event({"type": kind, "sequence_number": number, **fields}, kind)
        event("response.created", response=base)
        for i, item in enumerate(items):
            place = {"output_index": i, "item_id": item["id"]}
            if item["type"] == "message":
                place["content_index"] = 0
                part = item["content"][0]
                begun = {**item, "status": "in_progress", "content": []}
                event("response.output_item.added", output_index=i, item=begun)
                event("response.content_part.added", part={**part, "text": ""}, **place)
                event("response.output_text.delta", delta=text, **place)
                event("response.output_text.done", text=text, **place)
                event("response.content_part.done", part=part, **place)
            else:
                key = "arguments" if item["type"] == "function_call" else "input"
                kind = "function_call_arguments" if key == "arguments" else "custom_tool_call_input"
                event("response.output_item.added", output_index=i, item={**item, "status": "in_progress", key: ""})
                event("response.%s.delta" % kind, delta=item[key], **place)
                event("response.%s.done" % kind, **{key: item[key]}, **place)
            event("response.output_item.done", output_index=i, item=item)
        event("response.completed", response=whole)
