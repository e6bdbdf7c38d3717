// What Orange's reviewer may do in pi, which has no permissions of its own: pi asks Orange before each call of a tool.
// docs/harnesses.md, "Reviewers".
import { spawnSync } from "node:child_process";

export default function (pi) {
  pi.on("tool_call", async (event) => {
    const call = JSON.stringify({ tool_name: event.toolName, tool_input: event.input });
    const command = process.env.ORANGE_PERMIT ?? "false";
    const answer = spawnSync("/bin/sh", ["-c", command], { input: call, encoding: "utf8", timeout: 20000 });
    if (answer.status === 0) return undefined;
    return { block: true, reason: answer.stderr?.trim() || "Orange cannot say whether this is permitted" };
  });
}
