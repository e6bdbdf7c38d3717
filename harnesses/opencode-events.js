// A plugin that tells Orange what opencode does: each line that it adds to the file ORANGE_EVENTS is one event.
// docs/harnesses.md, "Events". It also sets the variant that opencode.yml names.
import { appendFileSync } from "node:fs";

export const OrangeEvents = async () => {
  const children = new Set(); // sessions of sub-agents: their turns are parts of a turn
  let error, last, session;
  const tell = (event, text) => {
    if (event === last && event === "busy") return; // it comes for each step of a turn
    last = event;
    try {
      appendFileSync(process.env.ORANGE_EVENTS, JSON.stringify({ event, session, text: text?.slice(0, 300) }) + "\n");
    } catch {} // Orange then reads the window instead
  };
  const status = (type) => {
    if (type !== "idle") {
      error = undefined;
      tell("busy");
    } else if (error) tell("error", error);
    else tell("idle");
  };
  const failed = ({ name, data }) => {
    error = name === "MessageAbortedError" ? undefined : (data?.message ?? name); // a human interrupted it
    if (error) tell("error", error);
  };
  return {
    config: async (config) => {
      const variant = process.env.OPENCODE_BUILD_VARIANT;
      if (variant) ((config.agent ??= {}).build ??= {}).variant = variant;
    },
    event: async ({ event: { type, properties } }) => {
      if (type === "session.created" && properties.info.parentID) children.add(properties.info.id);
      if (type === "permission.asked") tell("question", [properties.permission, ...properties.patterns].join(" "));
      if (type === "question.asked") tell("question", properties.questions?.[0]?.question);
      if (/^(permission|question)\.(replied|rejected)$/.test(type)) tell("busy");
      if (children.has(properties.sessionID)) return;
      if (type === "session.status" && properties.sessionID !== session) [session, last] = [properties.sessionID];
      if (type === "session.status") status(properties.status.type);
      if (type === "session.error" && properties.error) failed(properties.error);
    },
  };
};
