/**
 * Lists the files of src/ that one request passes through. It counts what a reader who follows the
 * request encounters: files, top-level folders, changes between folders, and returns. A return is
 * counted when the request re-enters a file that it has already left. `api/` and `lib/` do not
 * count, because all code uses them. Getters and constructors do not count, because a reader does
 * not follow them.
 *
 * One GET, LIST, WATCH, CREATE and APPLY of a ConfigMap are sent to a server in this process. A few
 * requests of the same kind come first, so that caches are filled. A breakpoint at the first
 * statement of each function records the file without pausing. Files that only some of the runs
 * enter belong to background work, such as timers and events from etcd, and do not count.
 *
 *   --route create      prints the route of one request
 *   --only get,create   counts only these requests
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Call, type Client, clients, startTestServer } from '../../test/integration/support.ts'

/**
 * Number of times that each request is sent after the breakpoints are set. Functions that ran each
 * time are counted, in the order of the last run.
 */
const RUNS = 3
/** Number of requests of each kind that are sent before functions get their breakpoints. */
const WARM_UPS = 3
/** Maximum number of attempts for a request. */
const ATTEMPTS = 5
/**
 * Time to wait before a request, in which the server processes the events of the previous write.
 * This processing is not part of the request.
 */
const QUIET_MS = 100

const src = `file://${join(import.meta.dirname, '..', '..', 'src')}/`
const { values: options } = parseArgs({
  options: { route: { type: 'string' }, only: { type: 'string' } },
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: 'b' },
})

type Send = (client: Client, run: number) => Promise<unknown>

const send = (client: Client, call: Call): Promise<unknown> => client.call(call)

const allRequests: Readonly<Record<string, Send>> = {
  get: (client) => send(client, { path: `${configMaps}/a` }),
  list: (client) => send(client, { path: configMaps }),
  watch: async (client) => {
    for await (const line of client.lines({ path: `${configMaps}?watch=true&timeoutSeconds=5` })) {
      if (line !== '') return
    }
  },
  create: (client, run) =>
    send(client, { method: 'POST', path: configMaps, body: configMap(`c${run}`) }),
  apply: (client, run) =>
    send(client, {
      method: 'PATCH',
      path: `${configMaps}/applied?fieldManager=bench`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { ...configMap('applied'), data: { run: `${run}` } },
    }),
}

const requests = Object.fromEntries(
  Object.entries(allRequests).filter(([name]) => options.only?.split(',').includes(name) ?? true),
)

type Entry = { readonly file: string; readonly name: string }

/** All calls of functions with a breakpoint, in their order. */
const entered: Entry[] = []
/**
 * This context is set while the server processes data from a client's socket. It is not set while
 * the server's own controllers work.
 */
const isOfClient = new AsyncLocalStorage<true>()

const listens = /(^|\/)http\//

const note = (file: string, name: string): void => {
  if (listens.test(file)) isOfClient.enterWith(true)
  if (isOfClient.getStore() === true) entered.push({ file, name })
}

Object.assign(globalThis, { keelsonEntered: note })

const session = new Session()
session.connect()

const marked = new Set<string>()

/**
 * Sets a breakpoint in each function that has run since this function last read V8's code coverage.
 * Functions of files that do not count get none. The condition of each breakpoint calls a function
 * that records the file, and is always false, so that execution never pauses.
 */
async function markFunctions(): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  for (const { scriptId, url, functions } of result) {
    if (!url.startsWith(src) || !isFolderFollowed(url.slice(src.length))) continue
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
    const place = (offset: number) => {
      const before = scriptSource.slice(0, offset)
      return {
        scriptId,
        lineNumber: before.split('\n').length - 1,
        columnNumber: offset - before.lastIndexOf('\n') - 1,
      }
    }
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      // V8's code coverage lists the top-level code of a module as a function without a name.
      if (
        range === undefined ||
        range.count === 0 ||
        (functionName === '' && range.startOffset === 0)
      )
        continue
      const span = {
        start: place(range.startOffset),
        end: place(range.endOffset),
        restrictToFunction: true,
      }
      const { locations } = await session.post('Debugger.getPossibleBreakpoints', span)
      const [location] = locations
      const id = JSON.stringify(location)
      if (location === undefined || marked.has(id)) continue
      marked.add(id)
      const [file, name] = [url.slice(src.length), functionName].map((text) => JSON.stringify(text))
      await session.post('Debugger.setBreakpoint', {
        location,
        condition: `keelsonEntered(${file}, ${name}), false`,
      })
    }
  }
}

/** Returns the top-level folder, or the file itself if it is not in a folder. */
const folderOf = ({ file }: Entry): string => file.split('/')[0] ?? file

const isFolderFollowed = (file: string): boolean => !/^(?:api|lib)\//.test(file)

const isFollowed = (entry: Entry): boolean =>
  isFolderFollowed(entry.file) && !/^(get |[A-Z]|<)/.test(entry.name)

/** Counts consecutive functions of the same file as one step. */
function routeOf(entries: readonly Entry[]): Entry[] {
  const counted = entries.filter((entry) => isFollowed(entry))
  return counted.filter(({ file }, at) => at === 0 || file !== counted[at - 1]?.file)
}

const isReturn = (route: readonly Entry[], at: number): boolean =>
  route.slice(0, at).some((earlier) => earlier.file === route[at]?.file)

const changesFolder = (route: readonly Entry[], at: number): boolean => {
  const [before, here] = [route[at - 1], route[at]]
  return before !== undefined && here !== undefined && folderOf(before) !== folderOf(here)
}

await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Debugger.enable')
await using server = await startTestServer()
const connect = clients['HTTP/2']
if (connect === undefined) throw new Error('no HTTP/2 client')
let sent = 0
let client = connect(server.url)
await send(client, { method: 'POST', path: configMaps, body: configMap('a') })
const runOnce = async (request: Send): Promise<Entry[]> => {
  for (let attempt = 1; ; attempt++) {
    try {
      // Setting the breakpoints blocks the server for seconds. The client may then consider the
      // connection dead, so connect again.
      if (attempt > 1) await reconnect()
      await sleep(QUIET_MS)
      entered.length = 0
      await request(client, sent++)
      return [...entered]
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}
const reconnect = async (): Promise<void> => {
  await client[Symbol.asyncDispose]()
  client = connect(server.url)
  await send(client, { path: `${configMaps}/a` })
}
for (const request of Object.values(requests)) await runOnce(request)
// Discard the coverage of the server's start, so that functions that ran only then get no
// breakpoint.
await session.post('Profiler.takePreciseCoverage')
await reconnect()
for (const request of Object.values(requests))
  for (let run = 0; run < WARM_UPS; run++) await runOnce(request)
await markFunctions()
// Open a new connection. The breakpoints recognize the work of a client only on connections that
// were accepted after the breakpoints were set.
await reconnect()
for (const request of Object.values(requests)) await runOnce(request)

const idOf = ({ file, name }: Entry): string => `${file} ${name}`

console.log('request   files   folders   folder changes   returns')
for (const [name, request] of Object.entries(requests)) {
  const runs: Entry[][] = []
  for (let run = 0; run < RUNS; run++) runs.push(await runOnce(request))
  const [first = new Set<string>(), ...others] = runs.map((run) => new Set(run.map(idOf)))
  const common = new Set([...first].filter((id) => others.every((run) => run.has(id))))
  const route = routeOf((runs.at(-1) ?? []).filter((entry) => common.has(idOf(entry))))
  const columns = [
    name.padEnd(7),
    new Set(route.map(({ file }) => file)).size,
    new Set(route.map(folderOf)).size,
    route.filter((_, at) => changesFolder(route, at)).length,
    route.filter((_, at) => isReturn(route, at)).length,
  ]
  console.log(columns.join('   '))
  if (options.route !== name) continue
  for (const [at, entry] of route.entries()) {
    const mark = isReturn(route, at) ? 'return' : changesFolder(route, at) ? 'folder' : ''
    console.log(`  ${mark.padEnd(6)} ${idOf(entry)}`)
  }
}
await client[Symbol.asyncDispose]()
session.disconnect()
