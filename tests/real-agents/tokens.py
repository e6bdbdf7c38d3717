"""What the programs themselves have recorded of their tokens in a HOME, read without Orange and, where the program has
a second account of them, from that one. A record is (requests, input, cache_read, cache_write, output): input that was
in no cache, and output with reasoning.
"""
import glob
import json
import os
import sqlite3

NAMES = ("requests", "input", "cache_read", "cache_write", "output")


def lines(*patterns):
    """The lines of JSON of all files."""
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            if not os.path.isfile(path):
                continue
            with open(path, errors="replace") as content:
                for line in content:
                    try:
                        read = json.loads(line)
                    except ValueError:
                        continue  # being written
                    if isinstance(read, dict):
                        yield read


def largest(records):
    """One record for each id: what is written more than once grows."""
    kept = {}
    for name, record in records:
        kept[name] = max(record, kept.get(name, record), key=sum)
    return list(kept.values())


def with_cached(asked, cached, written, said):
    return (1, asked - cached - written, cached, written, said)


def of_claude(world):
    found = []
    for line in lines(world.home + "/.claude/projects/**/*.jsonl"):
        used = line.get("message", {}).get("usage") if line.get("type") == "assistant" else None
        if used:
            written = used.get("cache_creation_input_tokens", 0)
            record = (1, used["input_tokens"], used.get("cache_read_input_tokens", 0), written, used["output_tokens"])
            found.append((line["message"]["id"], record))
    return largest(found)


def of_codex(world):
    found = []
    for line in lines(world.home + "/.codex/sessions/**/rollout-*.jsonl"):
        if line.get("type") == "token_usage_record":
            used, name = line["payload"]["usage"], line["payload"]["response_id"]
            cached, written = used["cached_input_tokens"], used["cache_write_input_tokens"]
            found.append((name, with_cached(used["input_tokens"], cached, written, used["output_tokens"])))
    return largest(found)


def of_opencode(world):
    """Of its database; Orange counts what its plugin is told."""
    found = []
    with sqlite3.connect("file:%s/.local/share/opencode/opencode.db?mode=ro" % world.home, uri=True) as base:
        for (text,) in base.execute("select data from message"):
            message = json.loads(text)
            used = message.get("tokens") if message.get("role") == "assistant" else None
            if used and used["input"] + used["output"]:
                said = used["output"] + used["reasoning"]
                found.append((1, used["input"], used["cache"]["read"], used["cache"]["write"], said))
    return found


def of_pi(world):
    found = []
    for line in lines(world.orange_home + "/tasks/*/*/run/talk/*.jsonl", world.home + "/.pi/agent/sessions/**/*.jsonl"):
        used = line.get("message", line).get("usage")
        if used:
            record = (1, used["input"], used["cacheRead"], used["cacheWrite"], used["output"])
            if sum(record) > 1:  # pi also writes a record of an answer that was interrupted before it began
                found.append((line["id"], record))
    return largest(found)


def of_gemini(world):
    found = []
    for line in lines(world.home + "/.gemini/tmp/*/chats/**/*.jsonl"):
        used = line.get("tokens") if line.get("type") == "gemini" else None
        if used:
            said = used["output"] + used["thoughts"]
            found.append((line["id"], with_cached(used["input"], used["cached"], 0, said)))
    return largest(found)


def of_qwen(world):
    """Of its conversations. It also keeps an account of all its requests, with its suggestions and compactions, in one
    file for all agents of a user: an agent behind a wall could write there for others, so Orange does not read it."""
    found = []
    for line in lines(world.home + "/.qwen/projects/*/chats/*.jsonl", world.home + "/.qwen/projects/*/subagents/*/*.jsonl"):
        used = line.get("usageMetadata") if line.get("type") == "assistant" else None
        if used and used.get("totalTokenCount"):
            record = with_cached(used["promptTokenCount"], used.get("cachedContentTokenCount", 0), 0,
                                 used["candidatesTokenCount"])
            found.append((line["uuid"], record))
    return largest(found)


def of_copilot(world):
    found = []
    for line in lines(world.home + "/.copilot/session-state/*/events.jsonl"):
        if line.get("type") == "session.usage_record":
            used = line["data"]["usage"]
            cached, written = used["cacheReadTokens"], used["cacheWriteTokens"]
            found.append((line["id"], with_cached(used["inputTokens"], cached, written, used["outputTokens"])))
    return largest(found)


READERS = {"claude": of_claude, "codex": of_codex, "opencode": of_opencode, "pi": of_pi, "gemini": of_gemini,
           "qwen": of_qwen, "copilot": of_copilot}


def recorded(programs, world):
    return sorted(record for name in programs for record in READERS[name](world))


def answered(spent):
    """Of a request that the API has answered: its record."""
    return (1, spent["input"], spent["cache_read"], spent["cache_write"], spent["output"])


def total(records):
    return tuple(sum(record[i] for record in records) for i in range(len(NAMES)))


def row(name, numbers):
    return "%-10s" % name + "".join("%12d" % number for number in numbers)


def head():
    return "%-10s" % "" + "".join("%12s" % name for name in NAMES)
