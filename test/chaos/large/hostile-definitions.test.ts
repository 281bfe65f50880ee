/**
 * Tests definitions and objects that are designed to cause harm. Each request must get a response
 * in bounded time and memory, and the server must continue to work.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostileDefinition, hostileDefinitions } from '../hostile/crds.ts'
import { type Answer, serverOfFile } from '../../integration/support.ts'

/**
 * Maximum CPU time in ms for a definition and its objects, which have up to some megabytes. The CPU
 * time of the client is included, because it runs in the same process.
 */
const CPU_MS_MAX = 45_000
/** Maximum CPU time of a tick of the event loop, during which no other request is served. */
const TURN_MS_MAX = 4_000
const RUNS_MAX = 3
/** Maximum growth of the memory of this process, in bytes. */
const MEMORY_BYTES_MAX = 1 << 30

const CREATED = 201
/**
 * etcd's error for an object that is too large after defaulting. kube-apiserver also returns this
 * error.
 */
const TOO_LARGE = 'etcdserver: request is too large'

const group = 'hostile.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const headers = { 'content-type': 'application/json' }

const call = serverOfFile()

for (const [at, hostile] of hostileDefinitions.entries()) {
  test(hostile.name, () =>
    bounded(
      (time) => attack(hostile, { plural: `things${at}x${time}`, kind: `Thing${at}x${time}` }),
      hostile.turnMsMax,
    ),
  )
}

test("a definition can use the names of JavaScript's built-in properties as group, plural and kind", () =>
  bounded(async () => {
    const hostile = {
      name: '',
      schema: '{"type":"object","x-kubernetes-preserve-unknown-fields":true}',
    }
    const names = ['Constructor', 'ToString', 'HasOwnProperty', 'ValueOf', 'Prototype']
    for (const kind of names) {
      const plural = kind.toLowerCase()
      await attack(
        { ...hostile, isAccepted: true, specs: [[true, '{}']] },
        { plural, kind, ofGroup: `${plural}.example.com` },
      )
    }
    await attack({ ...hostile, isAccepted: false }, { plural: '__proto__', kind: '__proto__' })
    await attack(
      { ...hostile, isAccepted: false },
      { plural: 'things', kind: 'Thing', ofGroup: '__proto__' },
    )
  }))

/**
 * Runs an attack and checks the CPU time of its longest tick. Compilation, garbage collection and
 * other programs can make a tick longer in some runs. If the limit is exceeded, the attack is
 * therefore repeated, up to three times. The test fails if every run exceeds the limit.
 */
async function bounded(
  run: (time: number) => Promise<void>,
  turnMsMax = TURN_MS_MAX,
): Promise<void> {
  const turnsMs: number[] = []
  do turnsMs.push(await boundedOnce(() => run(turnsMs.length)))
  while (Math.min(...turnsMs) >= turnMsMax && turnsMs.length < RUNS_MAX)
  assert.ok(
    Math.min(...turnsMs) < turnMsMax,
    `the longest ticks took ${turnsMs.map((ms) => ms.toFixed(0)).join(', ')} ms`,
  )
}

/** Runs an attack once. Returns the CPU time of the longest tick. */
async function boundedOnce(run: () => Promise<void>): Promise<number> {
  const longest = longestTurn()
  const memory = process.memoryUsage.rss()
  const cpu = process.cpuUsage()
  let turnMs = 0
  try {
    await run()
    assert.equal((await call({ path: '/api/v1/namespaces/default' })).status, 200)
  } finally {
    turnMs = longest()
  }
  const { user, system } = process.cpuUsage(cpu)
  assert.ok(user + system < CPU_MS_MAX * 1000, `the attack took ${(user + system) / 1000} ms`)
  assert.ok(
    process.memoryUsage.rss() - memory < MEMORY_BYTES_MAX,
    'the attack took too much memory',
  )
  return turnMs
}

type Names = { readonly plural: string; readonly kind: string; readonly ofGroup?: string }

async function attack(hostile: HostileDefinition, names: Names): Promise<void> {
  const { plural, kind, ofGroup = group } = names
  const made = await post(definitions, bodyOf(hostile, names))
  expect(made, hostile.isAccepted)
  if (made.status !== CREATED) return
  const path = `/apis/${ofGroup}/v1/namespaces/default/${plural}`
  while ((await call({ path })).status !== 200) await sleep(5)
  for (const [index, [isAccepted, spec]] of (hostile.specs ?? []).entries()) {
    const head = `"apiVersion":"${ofGroup}/v1","kind":"${kind}","metadata":{"name":"a${index}"}`
    expect(await post(path, `{${head},"spec":${spec}}`), isAccepted)
  }
  for (const document of [path, '/apis', `/apis/${ofGroup}/v1`, `/openapi/v3/apis/${ofGroup}/v1`]) {
    assert.equal((await call({ path: document })).status, 200, document)
  }
  const gone = await call({ method: 'DELETE', path: `${definitions}/${plural}.${ofGroup}` })
  assert.equal(gone.status, 200, gone.text)
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
}

function expect({ status, text }: Answer, isAccepted: boolean | undefined): void {
  const shown = `${status} ${text.slice(0, 1_000)}`
  assert.ok(status < 500 || text.includes(TOO_LARGE), shown)
  if (isAccepted !== undefined) assert.equal(status === CREATED, isAccepted, shown)
}

const post = (path: string, body: string): Promise<Answer> =>
  call({ method: 'POST', path, body: Buffer.from(body), headers })

function bodyOf(
  { schema, otherVersions = [] }: HostileDefinition,
  { plural, kind, ofGroup = group }: Names,
): string {
  const versions = [schema, ...otherVersions].map(
    (text, at) =>
      `{"name":"v${at + 1}","served":true,"storage":${at === 0},"schema":{"openAPIV3Schema":${text}}}`,
  )
  const names = `{"plural":"${plural}","kind":"${kind}"}`
  const spec = `{"group":"${ofGroup}","scope":"Namespaced","names":${names},"versions":[${versions.join(',')}]}`
  const head = `"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"`
  return `{${head},"metadata":{"name":"${plural}.${ofGroup}"},"spec":${spec}}`
}

/** Interval of the timer that measures ticks. */
const LOOK_MS = 1

/**
 * Starts to measure the ticks of the event loop. The returned function ends the measurement and
 * returns the longest tick. All ticks are measured with one timer. With a promise for each tick,
 * the memory for these promises would cause long garbage collections.
 */
function longestTurn(): () => number {
  let longestMs = 0
  let last = process.threadCpuUsage()
  const look = (): void => {
    const used = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (used.user - last.user + used.system - last.system) / 1000)
    last = used
  }
  const timer = setInterval(look, LOOK_MS)
  return () => {
    clearInterval(timer)
    look()
    return longestMs
  }
}
