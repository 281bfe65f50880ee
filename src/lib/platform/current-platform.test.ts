/**
 * Tests each operating system on any machine: the content of files and the output of programs are
 * simulated.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { createPlatform, platform } from './current-platform.ts'
import type { System } from './system.ts'

type Simulation = {
  readonly files?: { readonly [path: string]: string }
  readonly folders?: { readonly [path: string]: readonly string[] }
  readonly links?: { readonly [path: string]: string }
  /** The output of each program, by its command line. */
  readonly output?: { readonly [commandLine: string]: string }
  readonly userId?: number
  readonly flush?: (path: string) => void
}

/** Returns a function that looks up a path in `known`, and throws if the path is missing. */
const readIn =
  <T>(known: { readonly [path: string]: T } = {}) =>
  (path: string): T => {
    const found = known[path]
    if (found === undefined) throw new Error(`ENOENT: ${path}`)
    return found
  }

function simulate({ files, folders, links, output, userId, flush }: Simulation = {}): System {
  return {
    readFile: readIn(files),
    listFolder: readIn(folders),
    readLink: readIn(links),
    flush: flush ?? (() => undefined),
    run: (program, args) => output?.[[program, ...args].join(' ')] ?? '',
    userId: () => userId,
  }
}

const socketTable = (...rows: readonly string[]): string =>
  [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    ...rows,
  ].join('\n')

test('on Linux, information about processes, limits and listeners is read from /proc', () => {
  const linux = createPlatform(
    'linux',
    simulate({
      files: {
        '/proc/self/limits':
          'Limit  Soft\nMax address space unlimited unlimited bytes\nMax open files 1024 4096 files\n',
        '/proc/self/status': 'Name:\tnode\nVmSize:\t    2048 kB\n',
        '/proc/self/net/netstat': 'IpExt: InOctets OutOctets\nIpExt: 11 22\n',
        '/proc/7/stat': `7 (a) b) S ${'0 '.repeat(18)}4711 0`,
        '/proc/8/stat': `8 (dead) Z ${'0 '.repeat(18)}4712 0`,
        '/proc/7/cmdline': 'etcd\0--data-dir=/x\0',
        '/proc/7/comm': 'etcd\n',
        '/proc/net/tcp': socketTable(
          '0: 0100007F:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 99 1',
          '1: 0100007F:192C 0100007F:192B 01 00000000:00000000 00:00000000 00000000 0 0 98 1',
        ),
      },
      folders: {
        '/proc': ['1', '7', 'net'],
        '/proc/7/fd': ['0', '3'],
        '/proc/self/fd': ['0', '1', '2'],
      },
      links: { '/proc/7/fd/0': '/dev/null', '/proc/7/fd/3': 'socket:[99]' },
    }),
  )
  assert.equal(linux.openFilesMax(), 1024)
  assert.deepEqual(linux.usage?.(), {
    virtualBytes: 2048 * 1024,
    virtualBytesMax: 2 ** 64,
    openFiles: 3,
    openFilesMax: 1024,
    receivedBytes: 11,
    sentBytes: 22,
  })
  assert.equal(linux.startOf(7), '4711')
  assert.equal(linux.startOf(8), '')
  assert.equal(linux.commandOf(7), 'etcd --data-dir=/x')
  assert.deepEqual(linux.listenerOn(6443), { pid: 7, name: 'etcd' })
  // Port 6444 has an established connection, but no process listens on it.
  assert.equal(linux.listenerOn(6444), undefined)
})

test('on Linux without /proc, information about processes, limits and listeners is unknown', () => {
  const linux = createPlatform('linux', simulate())
  assert.equal(linux.openFilesMax(), Infinity)
  assert.throws(() => linux.usage?.())
  assert.equal(linux.startOf(1), '')
  assert.equal(linux.commandOf(1), '')
  assert.equal(linux.listenerOn(6443), undefined)
})

test('on macOS, ps, lsof and the shell report processes, listeners and limits', () => {
  const macos = createPlatform(
    'darwin',
    simulate({
      output: {
        '/bin/sh -c ulimit -n': '256\n',
        'ps -o lstart= -p 7': 'Thu Nov 19 06:38:54 2026    \n',
        'ps -o command= -p 7': 'etcd --data-dir=/x\n',
        'lsof -nP -iTCP:6443 -sTCP:LISTEN -Fpc': 'p7\ncetcd\nf8\n',
      },
    }),
  )
  assert.equal(macos.name, 'macOS')
  assert.equal(macos.openFilesMax(), 256)
  assert.equal(macos.usage, undefined)
  assert.equal(macos.startOf(7), 'Thu Nov 19 06:38:54 2026')
  assert.equal(macos.commandOf(7), 'etcd --data-dir=/x')
  assert.deepEqual(macos.listenerOn(6443), { pid: 7, name: 'etcd' })
})

test('on macOS without ps, lsof and a shell, information about processes, listeners and limits is unknown', () => {
  const macos = createPlatform(
    'darwin',
    simulate({ output: { '/bin/sh -c ulimit -n': 'unlimited\n' } }),
  )
  assert.equal(macos.openFilesMax(), Infinity)
  assert.equal(createPlatform('darwin', simulate()).openFilesMax(), Infinity)
  assert.equal(macos.startOf(7), '')
  assert.equal(macos.listenerOn(6443), undefined)
})

test('on Windows, PowerShell, netstat and tasklist report processes and listeners', () => {
  const shell = 'powershell.exe -NoProfile -NonInteractive -Command'
  const windows = createPlatform(
    'win32',
    simulate({
      output: {
        [`${shell} (Get-Process -Id 7).StartTime.Ticks`]: '639000000000000000\r\n',
        [`${shell} (Get-CimInstance Win32_Process -Filter 'ProcessId=7').CommandLine`]:
          'etcd.exe --data-dir=C:\\x\r\n',
        'netstat.exe -ano': [
          'Aktive Verbindungen',
          '  Proto  Lokale Adresse  Remoteadresse  Status  PID',
          '  TCP    127.0.0.1:6443  127.0.0.1:50000  HERGESTELLT  5',
          '  TCP    [::]:6443       [::]:0           ABHÖREN      7',
        ].join('\r\n'),
        'tasklist.exe /FI PID eq 7 /FO CSV /NH': '"etcd.exe","7","Console","1","9,000 K"\r\n',
      },
    }),
  )
  assert.equal(windows.startOf(7), '639000000000000000')
  assert.equal(windows.commandOf(7), 'etcd.exe --data-dir=C:\\x')
  assert.deepEqual(windows.listenerOn(6443), { pid: 7, name: 'etcd.exe' })
  assert.equal(windows.listenerOn(443), undefined)
  assert.equal(windows.openFilesMax(), Infinity)
  assert.deepEqual(windows.programNames('kubectl'), ['kubectl.exe', 'kubectl.cmd'])
})

test('the folder for caches follows the conventions of the platform', () => {
  const env = { HOME: '/home/jane', LOCALAPPDATA: 'C:\\Users\\jane\\AppData\\Local' }
  const homes = (['linux', 'darwin', 'win32'] as const).map((name) =>
    createPlatform(name, simulate()).cacheHome(env),
  )
  assert.deepEqual(homes, ['/home/jane/.cache', '/home/jane/.cache', env.LOCALAPPDATA])
  for (const name of ['linux', 'darwin', 'win32'] as const) {
    const chosen = createPlatform(name, simulate())
    assert.equal(chosen.cacheHome({ ...env, XDG_CACHE_HOME: '/cache' }), '/cache')
    assert.equal(chosen.cacheHome({}), undefined)
  }
})

test('on Linux and macOS, isOwn rejects the files of other users, and files that other users can write to', () => {
  for (const name of ['linux', 'darwin'] as const) {
    const chosen = createPlatform(name, simulate({ userId: 1000 }))
    assert.equal(chosen.isOwn({ uid: 1000, mode: 0o40700 }), true)
    assert.equal(chosen.isOwn({ uid: 1000, mode: 0o40770 }), false)
    assert.equal(chosen.isOwn({ uid: 0, mode: 0o40700 }), false)
  }
  // Node reports the user 0 and all permissions for every file on Windows.
  assert.equal(createPlatform('win32', simulate()).isOwn({ uid: 0, mode: 0o40666 }), true)
})

test('folders are flushed on Linux and macOS, but cannot be flushed on Windows', () => {
  const flushed: string[] = []
  for (const name of ['linux', 'darwin', 'win32'] as const)
    createPlatform(
      name,
      simulate({ flush: (path) => flushed.push(`${name} ${path}`) }),
    ).flushFolder('/x')
  assert.deepEqual(flushed, ['linux /x', 'darwin /x'])
})

test('the current platform reports the start time and command of this process, and the process that listens on a port', async () => {
  assert.notEqual(platform.startOf(process.pid), '')
  assert.match(platform.commandOf(process.pid), /node/)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const listener = platform.listenerOn(address.port)
  server.close()
  assert.equal(listener?.pid, process.pid)
})
