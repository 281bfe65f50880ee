/**
 * Preloaded into the server that the sweep measures (NODE_OPTIONS=--import=…). Records the CPU time
 * of the main thread for each tick of the event loop, and accepts commands on the Unix socket that
 * KEELSON_SWEEP_PROBE names. This file is JavaScript because stripping types would use 38 MiB of the
 * memory that is measured.
 *
 * Each command is one line: `begin` starts a measurement, and `begin profile` also starts a CPU
 * profile. `end` waits until the server is idle and returns the measurement as one line of JSON.
 */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { Session } from 'node:inspector'
import { PerformanceObserver } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { isMainThread } from 'node:worker_threads'

/** Resolution of the measurement. Shorter ticks are added up. */
const INTERVAL_MS = 1
/**
 * Ticks of at least this duration are stored, so that the time of garbage collection can be
 * subtracted from them.
 */
const KEPT_MS_MIN = 5
/**
 * The server counts as idle after it has used less than this much CPU time in each of several
 * periods in a row.
 */
const IDLE_CPU_MS = 2
const IDLE_PERIOD_MS = 5
const IDLE_PERIODS = 4
const IDLE_WAIT_MS_MAX = 20_000
const SAMPLE_US = 500

const nowUs = () => Number(process.hrtime.bigint() / 1000n)
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

class Probe {
  /** @type {{ fromUs: number, toUs: number, cpuMs: number }[]} */
  #ticks = []
  /** @type {{ fromUs: number, toUs: number }[]} */
  #collections = []
  #count = 0
  #cpuMs = cpuMs()
  #sinceUs = nowUs()
  #beganCpuMs = 0
  /** Offset between the clocks of performance entries and of `nowUs`. */
  #offsetUs = nowUs() - performance.now() * 1000
  #observer = new PerformanceObserver((list) => this.#collected(list.getEntries()))
  #session

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
    setInterval(() => this.#tick(), INTERVAL_MS).unref()
  }

  async begin(hasProfile) {
    if (hasProfile) await this.#startProfile()
    await this.#untilIdle()
    this.#tick()
    this.#observer.takeRecords()
    this.#ticks = []
    this.#collections = []
    this.#count = 0
    this.#beganCpuMs = this.#cpuMs
  }

  async #startProfile() {
    this.#session = new Session()
    this.#session.connect()
    await this.#post('Profiler.enable')
    await this.#post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
    await this.#post('Profiler.start')
  }

  async end() {
    const isIdle = await this.#untilIdle()
    this.#collected(this.#observer.takeRecords())
    const ticks = this.#ticks
      .map((tick) => this.#withoutCollections(tick))
      .sort((one, other) => other.ms - one.ms)
    const [longest] = ticks
    const collectionMsMax = Math.max(
      0,
      ...this.#collections.map(({ fromUs, toUs }) => (toUs - fromUs) / 1000),
    )
    const profile =
      this.#session === undefined ? undefined : (await this.#post('Profiler.stop')).profile
    this.#session?.disconnect()
    this.#session = undefined
    return {
      pid: process.pid,
      isIdle,
      count: this.#count,
      cpuMs: this.#cpuMs - this.#beganCpuMs,
      tickMs: longest?.ms ?? 0,
      collectedMs: longest?.collectedMs ?? 0,
      longest: ticks.slice(0, 5).map(({ ms }) => Math.round(ms)),
      collectionMsMax,
      profile:
        profile === undefined || longest === undefined ? undefined : heaviest(profile, longest),
    }
  }

  #tick() {
    const cpu = cpuMs()
    const us = nowUs()
    const ms = cpu - this.#cpuMs
    this.#count++
    if (ms >= KEPT_MS_MIN) this.#ticks.push({ fromUs: this.#sinceUs, toUs: us, cpuMs: ms })
    this.#cpuMs = cpu
    this.#sinceUs = us
  }

  #collected(entries) {
    for (const { startTime, duration } of entries) {
      const fromUs = startTime * 1000 + this.#offsetUs
      this.#collections.push({ fromUs, toUs: fromUs + duration * 1000 })
    }
  }

  /**
   * Subtracts garbage collection from a tick. Collections are measured in wall time, but the thread
   * had only a share of a CPU, which is assumed to be constant during the tick.
   */
  #withoutCollections({ fromUs, toUs, cpuMs: ms }) {
    let wallMs = 0
    for (const one of this.#collections) {
      wallMs += Math.max(0, Math.min(one.toUs, toUs) - Math.max(one.fromUs, fromUs)) / 1000
    }
    const collectedMs = wallMs * Math.min(1, ms / Math.max(0.001, (toUs - fromUs) / 1000))
    return { fromUs, toUs, ms: Math.max(0, ms - collectedMs), collectedMs }
  }

  async #untilIdle() {
    const untilUs = nowUs() + IDLE_WAIT_MS_MAX * 1000
    for (let periods = 0; periods < IDLE_PERIODS; ) {
      const before = cpuMs()
      await new Promise((resolve) => void setTimeout(resolve, IDLE_PERIOD_MS))
      periods = cpuMs() - before < IDLE_CPU_MS ? periods + 1 : 0
      if (nowUs() > untilUs) return false
    }
    return true
  }

  #post(method, parameters = {}) {
    return new Promise((resolve, reject) => {
      this.#session?.post(method, parameters, (error, result) =>
        error === null ? resolve(result) : reject(error),
      )
    })
  }
}

/** Returns the functions in which most of the longest tick was spent, the outermost first. */
function heaviest({ nodes, samples, timeDeltas, startTime }, { fromUs, toUs }) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  )
  const totals = new Map()
  const own = new Map()
  let count = 0
  let us = startTime
  for (const [at, id] of samples.entries()) {
    us += timeDeltas[at]
    const name = nameOf(byId.get(id))
    if (us < fromUs || us > toUs || name === '(garbage collector)') continue
    count++
    own.set(name, (own.get(name) ?? 0) + 1)
    for (let one = id; one !== undefined; one = parents.get(one))
      totals.set(one, (totals.get(one) ?? 0) + 1)
  }
  const path = []
  for (let node = nodes[0]; node !== undefined; ) {
    const share = (totals.get(node.id) ?? 0) / count
    if (node.callFrame.url.includes('/src/') || node.callFrame.url.includes('/dist/'))
      path.push(`${nameOf(node)} ${Math.round(share * 100)}%`)
    node = (node.children ?? [])
      .map((id) => byId.get(id))
      .filter(({ id }) => (totals.get(id) ?? 0) > 0.3 * count)
      .sort((one, other) => (totals.get(other.id) ?? 0) - (totals.get(one.id) ?? 0))[0]
  }
  const selves = [...own].sort(([, one], [, other]) => other - one).slice(0, 3)
  return {
    samples: count,
    path: path.slice(-6),
    own: selves.map(([name, self]) => `${name} ${Math.round((self / count) * 100)}%`),
  }
}

function nameOf({ callFrame: { functionName, url, lineNumber } }) {
  const file = /(?:src|dist)\/(.*)$/.exec(url)?.[1]
  const name = functionName === '' ? '(anonymous)' : functionName
  return file === undefined ? name : `${name} ${file}:${lineNumber + 1}`
}

const path = process.env.KEELSON_SWEEP_PROBE
if (isMainThread && path !== undefined) {
  // The socket may exist already: bin/keelson may replace its process by one with other options.
  rmSync(path, { force: true })
  const probe = new Probe()
  const answer = async (line) => {
    if (line === 'end') return JSON.stringify(await probe.end())
    await probe.begin(line === 'begin profile')
    return '{}'
  }
  createServer((socket) => {
    socket.on('error', () => undefined)
    createInterface({ input: socket }).on('line', (line) => {
      answer(line).then(
        (text) => socket.write(`${text}\n`),
        (error) => socket.write(`${JSON.stringify({ error: String(error) })}\n`),
      )
    })
  })
    .listen(path)
    .unref()
}
