import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planMemory } from '../../lib/process/memory-plan.ts'
import { type Check, printBytes, printChecks } from './check.ts'
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
} from './machine-checks.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
const server = {
  pid: 7,
  url: 'https://127.0.0.1:6443',
  folder: '/shop/.keelson',
  store: 'sqlite',
  startedMs: 0,
} as const
const folder = { path: '/data', existing: '/data', isWritable: true, freeBytes: 5 * GIB }
const limits = { requestBytesMax: null, cacheBytesMax: null, heapBytes: GIB }
const plan = (bytes: number, filesMax: number) =>
  planMemory({ ...limits, totalBytes: 8 * GIB, constrainedBytes: bytes, filesMax })
const noon = Date.parse('2026-11-19T12:00:00Z')

const cases: readonly (readonly [Check, level: Check['level'], text: RegExp])[] = [
  [checkNode('24.18.1', '/bin/node', undefined), 'ok', /^24.18.1 at \/bin\/node$/],
  [checkNode('24.18.1', '/b', '/b'), 'ok', /\(bundled\)$/],
  [checkNode('24.18.0', '/bin/node', '/b'), 'problem', /bundled: \/b: Keelson needs Node 24.18.1/],
  [checkPort(6443, { kind: 'free' }, []), 'ok', /^free$/],
  [checkPort(443, { kind: 'refused', code: 'EACCES' }, []), 'problem', /EACCES.*above 1023/],
  [
    checkPort(6443, { kind: 'taken', owner: { pid: 9, name: 'kube-apiserver' } }, []),
    'warning',
    /taken by kube-apiserver \(process 9\): .*--secure-port/,
  ],
  [
    checkPort(6443, { kind: 'taken', owner: undefined }, []),
    'warning',
    /another process: run .* root/,
  ],
  [
    checkPort(6443, { kind: 'taken', owner: undefined }, [server]),
    'ok',
    /keelson dev in \/shop\/.keelson \(process 7\)/,
  ],
  [checkFolder('data folder', folder, '--data-dir'), 'ok', /^\/data, writable, 5.0 GiB free$/],
  [
    checkFolder('data folder', { ...folder, path: '/data/a', isWritable: false }, '--data-dir'),
    'problem',
    /\/data\/a \(does not exist yet\), this user cannot write to \/data: .*--data-dir/,
  ],
  [checkFolder('f', { ...folder, freeBytes: 500 * MIB }, 'TMPDIR'), 'warning', /500 MiB.*TMPDIR/],
  [checkFolder('f', { ...folder, freeBytes: 50 * MIB }, 'TMPDIR'), 'problem', /50 MiB/],
  [checkFolder('f', { ...folder, freeBytes: undefined }, 'TMPDIR'), 'ok', /writable$/],
  [checkCache('/home/jane/.cache/keelson'), 'ok', /keelson$/],
  [checkCache(undefined), 'warning', /none: set XDG_CACHE_HOME/],
  [checkOpenFiles(20_000, plan(0, 20_000), plan(0, Infinity)), 'ok', /20000, enough for 10000/],
  [checkOpenFiles(Infinity, plan(0, Infinity), plan(0, Infinity)), 'ok', /^no limit/],
  [checkOpenFiles(1024, plan(0, 1024), plan(0, Infinity)), 'warning', /512 connections.*ulimit/],
  [
    checkMemory({ totalBytes: 8 * GIB, constrainedBytes: 512 * MIB }, plan(512 * MIB, Infinity)),
    'ok',
    /^8.0 GiB, limited to 512 MiB by the cgroup; plan: 128 MiB for requests, 128 MiB for the cache$/,
  ],
  [
    checkMemory({ totalBytes: 8 * GIB, constrainedBytes: 0 }, plan(0, Infinity)),
    'ok',
    /no cgroup limit; plan: 1.0 GiB for requests, unlimited for the cache$/,
  ],
  [
    checkMemory({ totalBytes: 8 * GIB, constrainedBytes: 100 * MIB }, plan(100 * MIB, Infinity)),
    'warning',
    /at least 256 MiB/,
  ],
  [checkCpus(2), 'ok', /^2$/],
  [checkCpus(1), 'warning', /two cores/],
  [checkClock(noon, undefined), 'ok', /^2026-11-19T12:00:00.000Z$/],
  [checkClock(0, undefined), 'problem', /^1970.*in the past: set the clock/],
  [checkClock(noon, -900), 'ok', /the same as that of etcd/],
  [checkClock(noon, -10_000), 'warning', /10 s behind that of etcd: /],
  [checkClock(noon, 100_000), 'problem', /100 s ahead of that of etcd: /],
  [checkServers([]), 'ok', /no keelson dev runs/],
  [checkServers([server]), 'ok', /^https:\/\/127.0.0.1:6443 in \/shop\/.keelson \(process 7\)$/],
  [checkKubectl({ kind: 'missing' }, 33), 'warning', /not on the PATH: install/],
  [checkKubectl({ kind: 'present', path: '/k', version: 'v1.34.1' }, 33), 'ok', /^v1.34.1 at \/k$/],
  [
    checkKubectl({ kind: 'present', path: '/k', version: 'v1.30.1' }, 33),
    'warning',
    /v1.32 to v1.34/,
  ],
  [
    checkKubectl({ kind: 'present', path: '/k', version: undefined }, 33),
    'warning',
    /kubectl version/,
  ],
  [
    checkEtcd('http://e', { kind: 'reachable', version: '3.5.21' }),
    'ok',
    /http:\/\/e, version 3.5.21/,
  ],
  [
    checkEtcd('http://e', { kind: 'failed', why: 'refused' }),
    'problem',
    /^http:\/\/e: refused: check/,
  ],
]

for (const [check, level, text] of cases)
  test(`keelson doctor reports the level ${level} for ${check.name}: ${check.value}`, () => {
    assert.equal(check.level, level)
    assert.match([check.value, check.action].filter((part) => part !== undefined).join(': '), text)
    assert.equal(check.action === undefined, level === 'ok', 'every finding says what to do')
  })

test('checks are printed as aligned lines with a summary', () => {
  const printed = printChecks([checkCpus(2), checkServers([]), checkCpus(1)])
  assert.equal(
    printed,
    `ok       CPUs     2
ok       servers  no keelson dev runs
warning  CPUs     1: garbage collection will delay requests: give the server two cores
no problems, 1 warning
`,
  )
})

test('sizes are printed in binary units such as MiB', () => {
  assert.deepEqual(
    [0, 512, 1536, 10 * MIB, 3 * GIB].map((bytes) => printBytes(bytes)),
    ['0 bytes', '512 bytes', '1.5 KiB', '10 MiB', '3.0 GiB'],
  )
})
