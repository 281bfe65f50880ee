/** Evaluates what `measure-machine.ts` measured: whether Keelson can run on this machine. */
import type { MemoryPlan } from '../../lib/process/memory-plan.ts'
import { nodeFault } from '../../lib/process/node-version.ts'
import type { RunningProcess } from '../../lib/platform/platform.ts'
import type { RunningServer } from '../dev/running.ts'
import { type Check, ok, printBytes } from './check.ts'

const MIB = 2 ** 20
/**
 * Limits for the free space on a disk. Below FREE_BYTES_MIN, a write may soon fail. Below
 * FREE_BYTES_LOW, the disk may be full within a day.
 */
const FREE_BYTES_MIN = 100 * MIB
const FREE_BYTES_LOW = 1024 * MIB
/** The smallest amount of memory that docs/operate.md gives advice for. */
const MEMORY_BYTES_MIN = 256 * MIB
/** Minimum number of CPUs: one for requests, and one for garbage collection. */
const CPUS_MIN = 2
/** A clock before this time is wrong, because Keelson did not exist yet. */
const CLOCK_MIN = '2026-01-01T00:00:00Z'
/**
 * A clock difference of less than SKEW_MS_LOW is not reported, because the time of etcd has a
 * resolution of one second. From SKEW_MS_LOW on, it is reported as a warning, and from SKEW_MS_MAX
 * on as a problem.
 */
const SKEW_MS_LOW = 2_000
const SKEW_MS_MAX = 60_000
/** kubectl supports servers whose minor version differs by one. */
const KUBECTL_SKEW_MAX = 1

export function checkNode(version: string, path: string, bundled: string | undefined): Check {
  const name = 'Node'
  const others = bundled === undefined || bundled === path ? '' : `; bundled: ${bundled}`
  const value = `${version} at ${path}${bundled === path ? ' (bundled)' : ''}${others}`
  const fault = nodeFault(version)
  if (fault === undefined) return ok(name, value)
  return { name, level: 'problem', value, action: `Keelson ${fault}` }
}

export type PortState =
  | { readonly kind: 'free' }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'taken'; readonly owner: RunningProcess | undefined }

export function checkPort(
  port: number,
  state: PortState,
  servers: readonly RunningServer[],
): Check {
  const name = `port ${port}`
  if (state.kind === 'free') return ok(name, 'free')
  if (state.kind === 'refused') {
    const value = `this user cannot listen on it (${state.code})`
    return { name, level: 'problem', value, action: 'set --secure-port to a port above 1023' }
  }
  const { owner } = state
  const server = servers.find(
    ({ url, pid }) => pid === owner?.pid || URL.parse(url)?.port === `${port}`,
  )
  if (server !== undefined) {
    const folder = `keelson dev in ${server.folder} (process ${server.pid})`
    return ok(name, `taken by ${folder}, another keelson dev uses another port`)
  }
  const taken = owner === undefined ? 'another process' : `${owner.name} (process ${owner.pid})`
  const find = owner === undefined ? 'run keelson doctor as root to see which one; ' : ''
  const action = `${find}keelson dev uses another port, keelson serve needs --secure-port`
  return { name, level: 'warning', value: `taken by ${taken}`, action }
}

export type FolderState = {
  readonly path: string
  /** The folder itself, or the nearest parent that exists. */
  readonly existing: string
  readonly isWritable: boolean
  /** Free space in bytes. Undefined if the file system does not report it. */
  readonly freeBytes: number | undefined
}

/**
 * Checks a folder in which the server stores data. `flag` is the setting with which the user
 * chooses another folder.
 */
export function checkFolder(name: string, folder: FolderState, flag: string): Check {
  const { path, existing, isWritable, freeBytes } = folder
  const isMissing = path !== existing
  const where = isMissing ? `${path} (does not exist yet)` : path
  if (!isWritable) {
    const value = `${where}, this user cannot write to ${isMissing ? existing : 'it'}`
    const action = `change its permissions, or choose another folder with ${flag}`
    return { name, level: 'problem', value, action }
  }
  if (freeBytes === undefined) return ok(name, `${where}, writable`)
  const value = `${where}, writable, ${printBytes(freeBytes)} free`
  if (freeBytes >= FREE_BYTES_LOW) return ok(name, value)
  const level = freeBytes < FREE_BYTES_MIN ? 'problem' : 'warning'
  return { name, level, value, action: `free some space, or choose another folder with ${flag}` }
}

export function checkCache(folder: string | undefined): Check {
  const name = 'cache folder'
  if (folder !== undefined) return ok(name, folder)
  const action =
    'set XDG_CACHE_HOME to a folder that only this user can write to; without it, starts take longer and keelson status finds no servers'
  return { name, level: 'warning', value: 'none', action }
}

/**
 * Checks whether the limit on open files reduces the number of possible connections. `plan` takes
 * this limit and the memory into account, and `unlimited` only the memory.
 */
export function checkOpenFiles(filesMax: number, plan: MemoryPlan, unlimited: MemoryPlan): Check {
  const name = 'open files'
  const limit = filesMax > Number.MAX_SAFE_INTEGER ? 'no limit' : `at most ${filesMax}`
  const value = `${limit}, enough for ${plan.connections} connections`
  if (plan.connections >= unlimited.connections) return ok(name, value)
  const action = `the memory allows ${unlimited.connections} connections: raise the limit with ulimit -n 65536, or LimitNOFILE=65536 in a unit file`
  return { name, level: 'warning', value, action }
}

export type MemoryState = {
  readonly totalBytes: number
  /** The memory limit of the cgroup or container in bytes. 0 means unlimited. */
  readonly constrainedBytes: number
}

export function checkMemory(
  { totalBytes, constrainedBytes }: MemoryState,
  plan: MemoryPlan,
): Check {
  const name = 'memory'
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes
  const usable = isConstrained ? constrainedBytes : totalBytes
  const limit = isConstrained ? `limited to ${printBytes(usable)} by the cgroup` : 'no cgroup limit'
  const cache = plan.cacheBytes === Infinity ? 'unlimited' : printBytes(plan.cacheBytes)
  const parts = `${printBytes(plan.requestBytes)} for requests, ${cache} for the cache`
  const value = `${printBytes(totalBytes)}, ${limit}; plan: ${parts}`
  if (usable >= MEMORY_BYTES_MIN) return ok(name, value)
  const action = `give the server at least ${printBytes(MEMORY_BYTES_MIN)}`
  return { name, level: 'warning', value, action }
}

export function checkCpus(count: number): Check {
  const name = 'CPUs'
  if (count >= CPUS_MIN) return ok(name, `${count}`)
  const action = 'garbage collection will delay requests: give the server two cores'
  return { name, level: 'warning', value: `${count}`, action }
}

/**
 * Checks the clock. `aheadMs` is how far the clock is ahead of etcd's. It is undefined if this is
 * not known.
 */
export function checkClock(nowMs: number, aheadMs: number | undefined): Check {
  const name = 'clock'
  const time = new Date(nowMs).toISOString()
  const action =
    'set the clock, and keep it synchronized with NTP: certificates and tokens depend on it'
  if (nowMs < Date.parse(CLOCK_MIN)) {
    return { name, level: 'problem', value: `${time}, which is in the past`, action }
  }
  if (aheadMs === undefined) return ok(name, time)
  const apart = Math.abs(aheadMs)
  if (apart < SKEW_MS_LOW) return ok(name, `${time}, the same as that of etcd`)
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  const value = `${time}, ${Math.round(apart / 1000)} s ${direction} that of etcd`
  return { name, level: apart < SKEW_MS_MAX ? 'warning' : 'problem', value, action }
}

export function checkServers(servers: readonly RunningServer[]): Check {
  const shown = servers.map(({ pid, url, folder }) => `${url} in ${folder} (process ${pid})`)
  return ok('servers', shown.length === 0 ? 'no keelson dev runs' : shown.join(', '))
}

export type KubectlState =
  | { readonly kind: 'missing' }
  /** `version` is undefined if kubectl did not report its version. */
  | { readonly kind: 'present'; readonly path: string; readonly version: string | undefined }

/** Checks whether kubectl works with a server of a release. */
export function checkKubectl(state: KubectlState, release: number): Check {
  const name = 'kubectl'
  if (state.kind === 'missing') {
    const action = 'install it from https://kubernetes.io/docs/tasks/tools'
    return { name, level: 'warning', value: 'not on the PATH', action }
  }
  const { path, version } = state
  if (version === undefined) {
    const action = 'run kubectl version --client to see why'
    return { name, level: 'warning', value: `${path}, which does not report its version`, action }
  }
  const value = `${version} at ${path}`
  const minor = Number(/^v1\.(\d+)\./.exec(version)?.[1])
  if (Math.abs(minor - release) <= KUBECTL_SKEW_MAX) return ok(name, value)
  const range = `v1.${release - KUBECTL_SKEW_MAX} to v1.${release + KUBECTL_SKEW_MAX}`
  return {
    name,
    level: 'warning',
    value,
    action: `use ${range} for a server of v1.${release}`,
  }
}

export type EtcdState =
  | { readonly kind: 'reachable'; readonly version: string }
  | { readonly kind: 'failed'; readonly why: string }

export function checkEtcd(url: string, state: EtcdState): Check {
  const name = 'etcd'
  if (state.kind === 'reachable') return ok(name, `${url}, version ${state.version}`)
  const action =
    'check that etcd runs, and the flags --etcd-cafile, --etcd-certfile and --etcd-keyfile'
  return {
    name,
    level: 'problem',
    value: state.why.includes(url) ? state.why : `${url}: ${state.why}`,
    action,
  }
}
