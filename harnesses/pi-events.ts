// Tells Orange what pi does: each line that it adds to the file ORANGE_EVENTS is one event. Gives pi the messages that
// Orange adds to the file ORANGE_INBOX. docs/harnesses.md, "Events" and "The inbox".
import { appendFileSync, readFileSync } from "node:fs";

export default function (pi) {
  let error, later, timer;
  const say = (line) => {
    try {
      appendFileSync(process.env.ORANGE_EVENTS, JSON.stringify(line) + "\n");
    } catch {} // Orange then reads the window instead
  };
  const tell = (event, text) => say({ event, text: text?.slice(0, 300) });
  const settled = () => {
    clearTimeout(later);
    if (error) tell("error", error);
    else tell("idle");
  };
  pi.on("agent_start", async () => {
    clearTimeout(later);
    tell("busy");
  });
  // It comes before each automatic retry, too. Older versions of pi never tell that they have settled.
  pi.on("agent_end", async (event) => {
    const last = event.messages?.at(-1);
    error = last?.stopReason === "error" ? (last.errorMessage ?? "error") : undefined;
    later = setTimeout(settled, 10000);
    later.unref();
  });
  // pi loads this file again for each of its sessions, but each message is for the process. One at a time: pi refuses a
  // second one while it begins a turn.
  const inbox = (globalThis.orangeInbox ??= { next: 0, handed: undefined, again: false });
  const passed = () => {
    inbox.handed = undefined;
    inbox.again = false;
    ++inbox.next;
  };
  const hand = (how) => {
    if (inbox.handed) return;
    try {
      const lines = readFileSync(process.env.ORANGE_INBOX, "utf8").split("\n").slice(0, -1);
      inbox.handed = JSON.parse(lines[inbox.next]);
    } catch {
      return; // there is no message yet
    }
    pi.sendUserMessage(inbox.handed.text, how);
  };
  // What pi has not taken by now is handed to it once more. Another extension may have changed it on its way.
  pi.on("agent_settled", async () => {
    if (inbox.handed && inbox.again) passed();
    inbox.again = inbox.handed !== undefined;
    inbox.handed = undefined;
    settled();
  });
  pi.on("session_start", async (_, ctx) => {
    // Which file it writes now: /new, /resume and /fork change to another one.
    const transcript = ctx.sessionManager?.getSessionFile?.();
    if (transcript) say({ event: "conversation", transcript });
    inbox.handed = undefined;
    timer = setInterval(() => {
      if (ctx.isIdle()) hand();
    }, 500);
    timer.unref();
  });
  pi.on("session_shutdown", async () => clearInterval(timer));
  // Only at the end of a step, after which pi takes it at once: a person's Escape would move a message that waits in
  // pi's queue into the person's prompt.
  pi.on("turn_end", async (event, ctx) => {
    if (!ctx.signal?.aborted && event.message?.stopReason !== "aborted") hand({ deliverAs: "steer" });
  });
  pi.on("message_start", async ({ message: { role, content } }) => {
    if (role !== "user") return;
    const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
    if (text !== inbox.handed?.text) return;
    say({ event: "taken", id: inbox.handed.id });
    passed();
  });
}
