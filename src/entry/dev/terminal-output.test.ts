import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { ownControllers } from '../../config/controllers.ts'
import type { ReadyServer } from './dev-output.ts'
import { describeReady, TerminalOutput } from './terminal-output.ts'

const server: ReadyServer = {
  release: 33,
  url: 'https://127.0.0.1:6443',
  listenUrl: 'https://127.0.0.1:6443',
  takenPort: undefined,
  kubeconfig: '/home/jane/shop/.keelson/kubeconfig',
  merged: undefined,
  folder: '/home/jane/shop/.keelson',
  objects: 'sqlite',
  isTemporary: false,
  controllers: ownControllers,
}
const plain = { columns: 80, hasColors: false }
const describe = (changes: Partial<ReadyServer> = {}, terminal = plain): string =>
  describeReady({ ...server, ...changes }, { terminal, version: '1.2.3', startMs: 412.4 })

test('the lines that keelson dev prints when the server is ready are aligned and fit in 80 columns', () => {
  const text = describe()
  assert.equal(
    text,
    `
  Keelson 1.2.3 for Kubernetes v1.33.5, ready after 412 ms

  Address      https://127.0.0.1:6443
  Kubeconfig   /home/jane/shop/.keelson/kubeconfig
  Data         /home/jane/shop/.keelson
  Controllers  all ${ownControllers.length}, among them garbage-collector, namespace, resourcequota
  Stop         Ctrl-C; the next start uses the same data

  In another terminal, run:

  export KUBECONFIG=/home/jane/shop/.keelson/kubeconfig
  kubectl get ns

`,
  )
  assert.ok(text.split('\n').every((line) => line.length <= 80))
})

test('docs/dev.md shows the lines that keelson dev prints for a ready server', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/dev.md'), 'utf8')
  const [, block = ''] = /^The terminal shows:\n\n```console\n(.*?)```$/ms.exec(page) ?? []
  assert.equal(block.replace(/Keelson \d\S+/, 'Keelson 1.2.3'), describe().replace(/^\n|\n$/g, ''))
})

const rows: readonly (readonly [string, Partial<ReadyServer>, RegExp])[] = [
  ['a port that was not free', { takenPort: 6443 }, /^ {2}Address .*\(port 6443 is not free\)$/m],
  [
    'a merged kubeconfig',
    { merged: { path: '/home/jane/.kube/config', context: 'shop' } },
    /^ {2}Kubeconfig {3}\/home\/jane\/\.kube\/config \(context shop\)\n[^]*^ {2}kubectl config use-context shop$/m,
  ],
  [
    'objects in memory',
    { objects: 'memory', isTemporary: true },
    /^ {2}Data {9}in memory\n[^]*^ {2}Stop {9}Ctrl-C; all objects are deleted$/m,
  ],
  [
    'objects in memory, with a folder',
    { objects: 'memory' },
    /^ {2}Data {9}in memory; certificates in \/home\/jane\/shop\/\.keelson$/m,
  ],
  ['an etcd of keelson dev', { objects: 'etcd' }, /^ {2}Data .*\/\.keelson \(etcd\)$/m],
  [
    'another etcd',
    { objects: 'etcd-servers' },
    /^ {2}Data {9}in the etcd of --etcd-servers; certificates in .*\n[^]*the next start uses the same data$/m,
  ],
  ['no controllers', { controllers: [] }, /^ {2}Controllers {2}none$/m],
  [
    'a path that a shell would split',
    { kubeconfig: "/home/jane's shop/kubeconfig" },
    /^ {2}export KUBECONFIG='\/home\/jane'\\''s shop\/kubeconfig'$/m,
  ],
]

for (const [name, changes, expected] of rows) {
  test(`the lines that keelson dev prints for a ready server describe ${name}`, () => {
    assert.match(describe(changes), expected)
  })
}

test('the list of selected controllers is wrapped at the width of the terminal', () => {
  const controllers = ownControllers.slice(0, 3)
  assert.match(
    describe({ controllers }),
    /^ {2}Controllers {2}bootstrap-signer, certificatesigningrequest-approving,\n {15}certificatesigningrequest-cleaner$/m,
  )
  assert.match(
    describe({ controllers }, { columns: 120, hasColors: false }),
    /approving, certificatesigningrequest-cleaner$/m,
  )
})

test('output with colors differs from output without colors only by escape sequences', () => {
  const colored = describe({}, { columns: 80, hasColors: true })
  assert.ok(colored.includes('\u001b[36mhttps://127.0.0.1:6443\u001b[39m'))
  assert.equal(stripVTControlCharacters(colored), describe())
})

const ignore = (): void => undefined

test('the results of --apply are indented, and errors of --apply are printed in red', () => {
  let printed = ''
  const output = new TerminalOutput({
    terminal: { columns: 80, hasColors: true },
    version: '1.2.3',
    print: (text) => void (printed += text),
    show: () => undefined,
    clear: () => undefined,
  })
  output.report('configmap/a created')
  output.report('error: a.yaml:1: did not find expected key')
  assert.equal(
    printed,
    '  configmap/a created\n  \u001b[31merror: a.yaml:1: did not find expected key\u001b[39m\n',
  )
})

test('keelson dev reports its stop in one line, and a server that stops before it is ready is not described', () => {
  let printed = ''
  const print = (text: string): void => void (printed += text)
  const options = { terminal: plain, version: '1.2.3', print, show: ignore, clear: ignore }
  const output = new TerminalOutput(options)
  assert.ok(output.replacesInfo)
  output.ready(server)
  assert.ok(!output.replacesInfo)
  printed = ''
  output.stopping()
  assert.ok(output.replacesInfo)
  output.stopped()
  assert.equal(printed, 'keelson: stopped; the objects are kept in /home/jane/shop/.keelson\n')
  printed = ''
  const early = new TerminalOutput(options)
  early.stopping()
  early.ready(server)
  early.stopped()
  assert.equal(printed, 'keelson: stopped\n')
})
