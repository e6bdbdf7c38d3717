// Tells Orange what pi does: each line that it adds to the file ORANGE_EVENTS is one event. docs/harnesses.md, "Events".
import { appendFileSync } from "node:fs";

export default function (pi) {
  let error, later;
  const tell = (event, text) => {
    try {
      appendFileSync(process.env.ORANGE_EVENTS, JSON.stringify({ event, text: text?.slice(0, 300) }) + "\n");
    } catch {} // Orange then reads the window instead
  };
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
  pi.on("agent_settled", async () => settled());
}
