/** Measures the machine for `keelson doctor`. Changes nothing, and calls only the given etcd. */
import { once } from 'node:events'
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { fieldsOf, textOf } from '../../api/object.ts'
import { platform } from '../../lib/platform/current-platform.ts'
import { planMemory } from '../../lib/process/memory-plan.ts'
import { runProgram } from '../../lib/process/run-program.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { TlsOptions } from '../../net/grpc/tls.ts'
import { listRunning } from '../dev/running.ts'
import { askEtcd, compareClock } from './ask-etcd.ts'
import type { Check } from './check.ts'
import {
  checkCache,
  checkClock,
  checkCpus,
  checkEtcd,
  checkFolder,
  checkKubectl,
  checkMemory,
  checkNode,
  checkOpenFiles,
  checkPort,
  checkServers,
  type FolderState,
  type KubectlState,
  type PortState,
} from './machine-checks.ts'

/** Maximum wait until kubectl reports its version. */
const KUBECTL_MS_MAX = 5_000

export type MachineOptions = {
  /** Minor version of Kubernetes that the server will implement. */
  readonly release: number
  readonly port: number
  readonly dataDir: string
  /** The URLs of etcd. May be empty. */
  readonly etcdServers: readonly string[]
  readonly etcdTls: TlsOptions | undefined
  readonly cache: string | undefined
  /** The folder in which running servers are recorded. */
  readonly index: string | undefined
  /** The Node executable that was installed with the program. */
  readonly bundledNode: string | undefined
  readonly path: string
  readonly clock: Clock
}

export async function checkMachine(options: MachineOptions): Promise<readonly Check[]> {
  const { release, port, cache, index, clock, etcdServers, etcdTls } = options
  const servers = index === undefined ? [] : listRunning(index)
  const [state, kubectl, members, aheadMs] = await Promise.all([
    tryPort(port),
    findKubectl(options.path),
    Promise.all(etcdServers.map((url) => askEtcd(url, etcdTls))),
    compareClocks(etcdServers, etcdTls, clock),
  ])
  return [
    checkNode(process.versions.node, process.execPath, options.bundledNode),
    checkPort(port, state, servers),
    checkFolder('data folder', describeFolder(resolve(options.dataDir)), '--data-dir'),
    checkFolder('temporary folder', describeFolder(tmpdir()), 'TMPDIR'),
    checkCache(cache),
    ...checkLimits(),
    checkCpus(availableParallelism()),
    checkClock(clock.wallMs(), aheadMs),
    ...members.map((member) => checkEtcd(member.url, member.state)),
    checkServers(servers),
    checkKubectl(kubectl, release),
  ]
}

function checkLimits(): readonly Check[] {
  const memory = { totalBytes: totalmem(), constrainedBytes: process.constrainedMemory() }
  const filesMax = platform.openFilesMax()
  const given = {
    requestBytesMax: null,
    cacheBytesMax: null,
    ...memory,
    heapBytes: getHeapStatistics().heap_size_limit,
  }
  const plan = planMemory({ ...given, filesMax })
  return [
    checkOpenFiles(filesMax, plan, planMemory({ ...given, filesMax: Infinity })),
    checkMemory(memory, plan),
  ]
}

/** Returns the largest difference to a member of etcd. */
async function compareClocks(
  urls: readonly string[],
  tls: TlsOptions | undefined,
  clock: Clock,
): Promise<number | undefined> {
  const all = await Promise.all(urls.map((url) => compareClock(url, tls, clock)))
  const known = all.filter((aheadMs) => aheadMs !== undefined)
  return known.toSorted((one, other) => Math.abs(other) - Math.abs(one))[0]
}

/**
 * Tries to listen on all addresses, and then on the loopback address. Both are needed: on some
 * systems, a port counts as taken only if another process listens on exactly the same address.
 */
async function tryPort(port: number): Promise<PortState> {
  for (const host of ['0.0.0.0', '127.0.0.1']) {
    const code = await codeOfListen(port, host)
    if (code === 'EADDRINUSE') return { kind: 'taken', owner: platform.listenerOn(port) }
    if (code !== '') return { kind: 'refused', code }
  }
  return { kind: 'free' }
}

/** Returns the code of the error, or an empty string if the port is free. */
async function codeOfListen(port: number, host: string): Promise<string> {
  const server = createServer()
  try {
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
    const closed = once(server, 'close')
    server.close()
    await closed
    return ''
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

/** Describes a folder. If the folder does not exist, describes the nearest parent that exists. */
export function describeFolder(path: string): FolderState {
  let existing = path
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
  return { path, existing, isWritable: isWritable(existing), freeBytes: freeBytesOf(existing) }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function freeBytesOf(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return undefined
  }
}

async function findKubectl(path: string): Promise<KubectlState> {
  const found = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => platform.programNames('kubectl').map((name) => join(folder, name)))
    .find((file) => existsSync(file))
  return found === undefined
    ? { kind: 'missing' }
    : { kind: 'present', path: found, version: await versionOf(found) }
}

async function versionOf(kubectl: string): Promise<string | undefined> {
  try {
    const args = ['version', '--client', '--output=json']
    const { stdout } = await runProgram(kubectl, args, {
      timeout: KUBECTL_MS_MAX,
      windowsHide: true,
    })
    const { clientVersion } = fieldsOf(JSON.parse(stdout))
    return textOf(fieldsOf(clientVersion)['gitVersion']) || undefined
  } catch {
    // The file is not a program for this machine, or is not kubectl.
    return undefined
  }
}
