/** The implementation for Linux. It reads processes, limits and sockets from the files in /proc. */
import type { Platform, ProcessUsage, RunningProcess } from './platform.ts'
import type { System } from './system.ts'
import { createUnix } from './unix.ts'

/**
 * The value that Go's client library prints if there is no limit: the largest unsigned 64-bit
 * integer, rounded to a float.
 */
const UNLIMITED = 2 ** 64
/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'

export const createLinux = (system: System): Platform => ({
  name: 'Linux',
  ...createUnix(system),
  openFilesMax: () =>
    orElse(Infinity, () => limitOf(system.readFile('/proc/self/limits'), 'Max open files')) ||
    Infinity,
  usage: () => readUsage(system),
  startOf: (pid) => orElse('', () => startOf(system.readFile(`/proc/${pid}/stat`))),
  commandOf: (pid) =>
    orElse('', () => system.readFile(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()),
  listenerOn: (port) => findListener(port, system),
})

/**
 * Returns the result of `read`, or the fallback if /proc is missing or this user may not read the
 * file.
 */
function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}

function readUsage(system: System): ProcessUsage {
  const limits = system.readFile('/proc/self/limits')
  const octets = readOctets(system.readFile('/proc/self/net/netstat'))
  const status = system.readFile('/proc/self/status')
  return {
    virtualBytes: Number(/^VmSize:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
    virtualBytesMax: limitOf(limits, 'Max address space'),
    openFiles: system.listFolder('/proc/self/fd').length,
    openFilesMax: limitOf(limits, 'Max open files'),
    receivedBytes: octets['InOctets'] ?? 0,
    sentBytes: octets['OutOctets'] ?? 0,
  }
}

function limitOf(limits: string, name: string): number {
  const line = limits.split('\n').find((one) => one.startsWith(name)) ?? ''
  const soft = line.slice(name.length).trim().split(/\s+/)[0] ?? ''
  return soft === 'unlimited' ? UNLIMITED : Number(soft)
}

/** Reads counters from two lines: the first has the names, and the second has the values. */
function readOctets(netstat: string): { readonly [name: string]: number } {
  const [names = '', values = ''] = netstat.split('\n').filter((line) => line.startsWith('IpExt:'))
  const numbers = values.split(' ')
  return Object.fromEntries(names.split(' ').map((name, at) => [name, Number(numbers[at])]))
}

/** Returns the start time in ticks since the machine started. */
function startOf(stat: string): string {
  // The name of the process can contain any character, so the fields after it are read. The first
  // of them is the state, and the 20th is the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? '' : (fields[19] ?? '')
}

/** Finds the process that has a listening socket for the port among its open files. */
function findListener(port: number, system: System): RunningProcess | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
      orElse([], () => listeningSockets(system.readFile(path), port)),
    ),
  )
  if (sockets.size === 0) return undefined
  const pid = orElse<readonly string[]>([], () => system.listFolder('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .find((name) => linksOf(`/proc/${name}/fd`, system).some((link) => sockets.has(link)))
  if (pid === undefined) return undefined
  return { pid: Number(pid), name: orElse('', () => system.readFile(`/proc/${pid}/comm`)).trim() }
}

function listeningSockets(table: string, port: number): string[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    const isListener =
      state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port
    return isListener ? [`socket:[${inode}]`] : []
  })
}

/** Returns the targets of the links in a folder. Only root can read the files of other users. */
function linksOf(folder: string, system: System): string[] {
  return orElse<readonly string[]>([], () => system.listFolder(folder)).map((name) =>
    orElse('', () => system.readLink(`${folder}/${name}`)),
  )
}
