/**
 * Which files of src/ one request enters, in which order, and how often it comes back to a file that it had left: what a reader who
 * follows a request has to open, and where the reader has to find the place again. One GET, LIST, WATCH, CREATE and APPLY of a
 * ConfigMap are sent to a server in this process, each after a few of its kind, so that nothing is made for the first time. A
 * breakpoint at the first statement of each function notes the file and never stops. What only some runs enter is the work of
 * others (the feed, timers) and does not count.
 *
 *   node bench/files-entered.ts [--trace create]
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Call, type Client, clients, startTestServer } from '../test/integration/support.ts'

/** Runs of each request that are compared; the last one is told. */
const RUNS = 3
/** Requests of each kind before functions are marked. */
const WARM_UPS = 3
/** For what the feed brings after a write, which is not the request's. */
const QUIET_MS = 100

const src = `file://${join(import.meta.dirname, '..', 'src')}/`
const { values: options } = parseArgs({ options: { trace: { type: 'string' } } })

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })

type Send = (client: Client, run: number) => Promise<unknown>

const send = (client: Client, call: Call): Promise<unknown> => client.call(call)

const requests: Readonly<Record<string, Send>> = {
  get: (client) => send(client, { path: `${configMaps}/a` }),
  list: (client) => send(client, { path: configMaps }),
  watch: async (client) => {
    for await (const line of client.lines({ path: `${configMaps}?watch=true&timeoutSeconds=5` })) {
      if (line !== '') return
    }
  },
  create: (client, run) => send(client, { method: 'POST', path: configMaps, body: configMap(`c${run}`) }),
  apply: (client, run) =>
    send(client, {
      method: 'PATCH',
      path: `${configMaps}/applied?fieldManager=bench`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { ...configMap('applied'), data: { run: `${run}` } },
    }),
}

type Entry = { readonly file: string; readonly name: string }

/** Functions in the order in which they were entered. */
const entered: Entry[] = []
/** Whether what runs was begun by something that came in through a socket: the server's own loops write, too. */
const isOfClient = new AsyncLocalStorage<true>()

/** Where the verbs enter the folders below them. */
const doors = new Set([
  'admission/admission.ts',
  'apply/apply.ts',
  'apply/record.ts',
  'codec/decode-body.ts',
  'codec/negotiate.ts',
  'patch/patches.ts',
  'registry/validate.ts',
  'storage/store.ts',
])

const note = (file: string, name: string): void => {
  if (file.startsWith('http/')) isOfClient.enterWith(true)
  if (isOfClient.getStore() === true) entered.push({ file, name })
}

Object.assign(globalThis, { keelsonEntered: note })

const session = new Session()
session.connect()

const marked = new Set<string>()

/** A breakpoint in each function that has run. Its condition notes the file and is false. */
async function markFunctions(): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  for (const { scriptId, url, functions } of result) {
    if (!url.startsWith(src)) continue
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
      // The module itself is a function without a name.
      if (range === undefined || range.count === 0 || (functionName === '' && range.startOffset === 0)) continue
      const span = { start: place(range.startOffset), end: place(range.endOffset), restrictToFunction: true }
      const { locations } = await session.post('Debugger.getPossibleBreakpoints', span)
      const [location] = locations
      const id = JSON.stringify(location)
      if (location === undefined || marked.has(id)) continue
      marked.add(id)
      const [file, name] = [url.slice(src.length), functionName].map((text) => JSON.stringify(text))
      await session.post('Debugger.setBreakpoint', { location, condition: `keelsonEntered(${file}, ${name}), false` })
    }
  }
}

/** Without the entries that stay in their file. */
const wayOf = (entries: readonly Entry[]): Entry[] =>
  entries.filter(({ file }, at) => at === 0 || file !== entries[at - 1]?.file)

const isBack = (way: readonly Entry[], at: number): boolean =>
  way.slice(0, at).some((earlier) => earlier.file === way[at]?.file)

/** Entries into files that were entered before, with others between. */
const returnsOf = (way: readonly Entry[]): Entry[] => way.filter((_, at) => isBack(way, at))

await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Debugger.enable')
await using server = await startTestServer()
const connect = clients['HTTP/2']
if (connect === undefined) throw new Error('no HTTP/2 client')
await using warming = connect(server.url)
await send(warming, { method: 'POST', path: configMaps, body: configMap('a') })
let sent = 0
const runOnce = async (request: Send, client: Client): Promise<Entry[]> => {
  await sleep(QUIET_MS)
  entered.length = 0
  await request(client, sent++)
  return [...entered]
}
for (const request of Object.values(requests)) for (let run = 0; run < WARM_UPS; run++) await runOnce(request, warming)
await markFunctions()
// The server stood still meanwhile, and may take no more streams on a connection that it found silent.
await using client = connect(server.url)
for (const request of Object.values(requests)) await runOnce(request, client)

const idOf = ({ file, name }: Entry): string => `${file} ${name}`
const filesOf = (entries: readonly Entry[]): Set<string> => new Set(entries.map(({ file }) => file))

console.log('request   files of src   files of verbs/ (returns)   with doors below (returns)')
for (const [name, request] of Object.entries(requests)) {
  const runs: Entry[][] = []
  for (let run = 0; run < RUNS; run++) runs.push(await runOnce(request, client))
  const [first = new Set<string>(), ...others] = runs.map((run) => new Set(run.map(idOf)))
  const common = new Set([...first].filter((id) => others.every((run) => run.has(id))))
  const last = (runs.at(-1) ?? []).filter((entry) => common.has(idOf(entry)))
  const verbs = wayOf(last.filter(({ file }) => file.startsWith('verbs/')))
  const withDoors = wayOf(last.filter(({ file }) => file.startsWith('verbs/') || doors.has(file)))
  const [inVerbs, inDoors] = [verbs, withDoors].map((way) => `${filesOf(way).size} (${returnsOf(way).length})`)
  console.log(`${name.padEnd(9)} ${filesOf(last).size}   ${inVerbs}   ${inDoors}`)
  if (options.trace !== name) continue
  for (const [at, entry] of withDoors.entries())
    console.log(`  ${isBack(withDoors, at) ? 'back' : '    '} ${idOf(entry)}`)
}
session.disconnect()
