// pi's SessionManager as a process: a request a line on standard input, an answer a line on standard output.
//
//     node driver.mjs PACKAGE_FOLDER
//
// Requests: {op: "make", handle, how, args}  {op: "call", handle, method, args}  {op: "parts", handle, names}
//           {op: "rows", folder}  {op: "drop", handle}
// Answers:  {value} or {error}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { main, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { SessionManager } = await import(pathToFileURL(join(folder, main)));

const managers = new Map();

/** JSON has no `undefined`, which pi tells from `null`. */
const given = (args) => args.map((arg) => (arg?.undefined === true ? undefined : arg));

const iso = (time) => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};

/** The tree's nodes, each before its children: a nested answer would be as deep as the tree. */
function rowsOf(roots) {
  const rows = [];
  const open = roots.map((node) => [node, 0]).reverse();
  while (open.length > 0) {
    const [node, depth] = open.pop();
    const label = node.label ?? null;
    rows.push({ id: node.entry.id, depth, label, labelTimestamp: label === null ? null : iso(node.labelTimestamp) });
    for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
  }
  return rows;
}

const idsOf = (entries) => entries.map((entry) => entry.id);
const named = (manager) => manager.getEntries().filter((entry) => typeof entry.id === "string" && entry.id !== "");

const parts = {
  header: (manager) => manager.getHeader(),
  facts: (manager) => ({
    id: manager.getSessionId(),
    cwd: manager.getCwd(),
    dir: manager.getSessionDir() || null,
    file: manager.getSessionFile() ?? null,
    persisted: manager.isPersisted(),
    name: manager.getSessionName() ?? null,
    leaf: manager.getLeafId() ?? null,
    leafEntry: manager.getLeafEntry() ?? null,
  }),
  entries: (manager) => manager.getEntries(),
  tree: (manager) => rowsOf(manager.getTree()),
  branch: (manager) => idsOf(manager.getBranch()),
  labels: (manager) =>
    Object.fromEntries(
      named(manager)
        .map(({ id }) => [id, manager.getLabel(id)])
        .filter(([, label]) => label !== undefined),
    ),
  children: (manager) =>
    Object.fromEntries(named(manager).map(({ id }) => [id, idsOf(manager.getChildren(id))])),
  roots: (manager) => idsOf(manager.getChildren(null)),
  context: (manager) => manager.buildSessionContext(),
};

/** One part after the other, so that one that fails costs the others nothing. */
function partsOf(manager, names) {
  const found = {};
  for (const name of names) {
    try {
      found[name] = parts[name](manager);
    } catch (error) {
      found[name] = { error: String(error.message) };
    }
  }
  return found;
}

/** Every session of a folder; 0.73.1 can list none but a cwd's, and does not look at the cwd in it. */
const listFolder = (folder) =>
  version.startsWith("0.") ? SessionManager.list("/", folder) : SessionManager.listAll(folder);

const operations = {
  make({ handle, how, args }) {
    managers.set(handle, SessionManager[how](...given(args)));
    return null;
  },
  call({ handle, method, args }) {
    return managers.get(handle)[method](...given(args)) ?? null;
  },
  parts({ handle, names }) {
    return partsOf(managers.get(handle), names);
  },
  async rows({ folder, cwd }) {
    const infos = await (cwd === null ? listFolder(folder) : SessionManager.list(cwd, folder ?? undefined));
    return infos.map((info) => ({ ...info, created: iso(info.created), modified: iso(info.modified) }));
  },
  drop({ handle }) {
    return managers.delete(handle);
  },
};

async function answer(line) {
  try {
    const request = JSON.parse(line);
    return { value: await operations[request.op](request) };
  } catch (error) {
    return { error: String(error.message) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}
