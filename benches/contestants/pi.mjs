// pi's own SessionManager: `node pi.mjs PACKAGE listing FOLDER` or `... context FILE`, a contestant (see contest.py).
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";

const [, , folder, job, path] = process.argv;
process.env.PI_CODING_AGENT_DIR = path; // read when it lists
const { SessionManager } = await import(`${folder}/dist/index.js`);

const rowOf = (info) => [info.path, [info.messageCount, info.modified.getTime(), info.firstMessage]];
const made = ["compactionSummary", "branchSummary", "custom", "system"];
const jobs = {
  listing: {
    run: () => SessionManager.listAll(),
    answer: (infos) => Object.fromEntries(infos.map(rowOf)),
  },
  context: {
    run: () => SessionManager.open(path).buildSessionContext(),
    answer: ({ messages }) => messages.filter(({ role }) => !made.includes(role)),
  },
};

console.log("ready");
for await (const request of createInterface({ input: process.stdin })) {
  const start = performance.now();
  const result = await jobs[job].run();
  const seconds = (performance.now() - start) / 1000;
  console.log(JSON.stringify(request === "answer" ? jobs[job].answer(result) : seconds));
}
