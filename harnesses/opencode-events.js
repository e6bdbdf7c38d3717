// A plugin that tells Orange what opencode does: each line that it adds to the file ORANGE_EVENTS is one event. It gives
// opencode the messages that Orange adds to the file ORANGE_INBOX, and asks Orange what opencode asks in its dialogs.
// docs/harnesses.md, "Events", "Usage", "The inbox" and "Permits". It also sets the variant that opencode.yml names.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";

export const OrangeEvents = async ({ client, directory } = {}) => {
  const children = new Set(); // sessions of sub-agents: their turns are parts of a turn
  let error, last;
  const say = (line) => {
    try {
      appendFileSync(process.env.ORANGE_EVENTS, JSON.stringify(line) + "\n");
    } catch {} // Orange then reads the window instead
  };
  const tell = (event, text) => {
    if (event === last && event === "busy") return; // it comes for each step of a turn
    last = event;
    say({ event, session, text: text?.slice(0, 300) });
  };
  const status = (type) => {
    if (type !== "idle") {
      error = undefined;
      tell("busy");
    } else if (error) tell("error", error);
    else tell("idle");
  };
  // Each answer of a model, those of sub-agents and of a compaction, too. opencode says them again as they grow.
  const spent = ({ id, role, modelID: model, cost, tokens, time }) => {
    const { input = 0, output = 0, reasoning = 0, cache: { read = 0, write = 0 } = {} } = tokens ?? {};
    if (role !== "assistant" || !time?.completed || !(input + output + reasoning + read + write)) return;
    const timestamp = new Date(time.completed).toISOString();
    const line = { event: "usage", id, input, cache_read: read, cache_write: write, output, reasoning, model, timestamp };
    say(cost ? { ...line, cost } : line); // it says 0 for a model whose price it does not know
  };
  const failed = ({ name, data }) => {
    error = name === "MessageAbortedError" ? undefined : (data?.message ?? name); // a human interrupted it
    if (error) tell("error", error);
  };

  // The dialog stands in the window as well, and its first answer counts. ORANGE_ASK writes the event, waits, and prints
  // the answer, or nothing.
  const asking = new Map();
  const answer = async (requestID, printed) => {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.parse(printed);
    await client._client.post({ url: "/permission/{requestID}/reply", path: { requestID }, query: { directory }, body, headers });
  };
  const ask = ({ id, permission: tool, patterns, metadata }) => {
    const text = [tool, ...patterns].join(" ");
    if (!process.env.ORANGE_ASK) return tell("question", text);
    last = "question";
    const child = spawn("sh", ["-c", 'eval "exec $ORANGE_ASK"'], { stdio: ["pipe", "pipe", "ignore"] });
    asking.set(id, child);
    let printed = "";
    child.stdout.on("data", (part) => (printed += part));
    child.stdin.on("error", () => {});
    child.on("error", () => asking.delete(id) && tell("question", text));
    child.on("close", () => {
      if (asking.delete(id) && printed.trim()) answer(id, printed).catch(() => {});
    });
    // Of other tools the event does not have the arguments: their dialog can only be denied from elsewhere.
    const tells = ["bash", "edit", "read", "list", "glob", "grep", "webfetch", "external_directory"].includes(tool);
    const input = !tells ? undefined : metadata?.command ? metadata : { ...metadata, patterns };
    child.stdin.end(JSON.stringify({ event: "question", session, id, text, tool, input }));
  };
  const replied = ({ requestID: id, reply }) => {
    const child = asking.get(id);
    asking.delete(id);
    child?.kill();
    if (process.env.ORANGE_ASK && reply !== "reject") say({ event: "allowed", session, id });
  };
  process.on("exit", () => asking.forEach((child) => child.kill()));

  // The conversation in which somebody wrote last, and the agent and the model that were chosen for that.
  let session = process.env.OPENCODE_ORANGE_SESSION;
  let chosen = {};
  let lines = 0;
  const handed = [];
  const hand = async () => {
    let all = [];
    try {
      all = readFileSync(process.env.ORANGE_INBOX, "utf8").split("\n").slice(0, -1);
    } catch {} // there is no message yet
    while (session && lines < all.length) {
      const message = JSON.parse(all[lines]);
      handed.push(message);
      const body = { ...chosen, parts: [{ type: "text", text: message.text }] };
      const { error: refused } = await client.session.promptAsync({ path: { id: session }, query: { directory }, body });
      if (refused) return handed.pop(); // and try again
      ++lines;
    }
  };
  const next = () => setTimeout(() => hand().catch(() => {}).finally(next), 500).unref?.();
  if (process.env.ORANGE_INBOX) next();

  return {
    config: async (config) => {
      const variant = process.env.OPENCODE_BUILD_VARIANT;
      if (variant) ((config.agent ??= {}).build ??= {}).variant = variant;
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (children.has(sessionID)) return;
      session = sessionID;
      const { providerID, modelID } = message.model;
      chosen = { agent: message.agent, model: { providerID, modelID } };
      const text = parts.map((part) => part.text ?? "").join("");
      const at = handed.findIndex((each) => each.text === text);
      if (at >= 0) say({ event: "taken", id: handed.splice(at, 1)[0].id });
    },
    event: async ({ event: { type, properties } }) => {
      if (type === "session.created" && properties.info.parentID) children.add(properties.info.id);
      if (type === "message.updated") spent(properties.info);
      if (type === "permission.asked") ask(properties);
      if (type === "question.asked") tell("question", properties.questions?.[0]?.question);
      if (type === "permission.replied") replied(properties);
      if (/^(permission|question)\.(replied|rejected)$/.test(type)) tell("busy");
      if (children.has(properties.sessionID)) return;
      if (type === "session.status" && properties.sessionID !== session) [session, last] = [properties.sessionID];
      if (type === "session.status") status(properties.status.type);
      if (type === "session.error" && properties.error) failed(properties.error);
    },
  };
};
