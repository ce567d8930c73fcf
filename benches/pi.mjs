// Times pi: `node pi.mjs PACKAGE FILE ROUNDS` prints the milliseconds of each round of opening a session and building its
// context, and how many messages that has.
import { performance } from "node:perf_hooks";

const [, , folder, file, rounds] = process.argv;
const { SessionManager } = await import(`${folder}/dist/index.js`);
for (let round = 0; round < Number(rounds); round++) {
  const start = performance.now();
  const context = SessionManager.open(file).buildSessionContext();
  console.log(performance.now() - start, context.messages.length);
}
