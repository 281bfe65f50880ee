/**
 * Tests that the informers of two client libraries receive exactly what was written, while the
 * server and its etcd are stopped and restarted. The programs of test/clients write and check, and
 * this test restarts the servers.
 */
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd, toolPath } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { kubectlFor } from '../support/harness/kubectl.ts'

/** Number of objects, enough for several pages of a list. */
const OBJECTS = 1500
/** Time between two restarts. In this time, the clients reconnect and make some hundred writes. */
const CALM_MS = 2000
const clientNode = join(import.meta.dirname, '..', 'clients', 'node-informer.ts')

test('informers receive exactly what was written, despite restarts of the server and of etcd', async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({
    etcdUrl: etcd.clientUrl,
    args: ['--feature-gates=WatchList=true'],
  })
  await using kubectl = await kubectlFor(server)
  const kubeconfig = join(kubectl.dir, 'config')
  const goArgs = (namespace: string, objects: number): string[] => [
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${namespace}`,
    `--objects=${objects}`,
  ]
  using listing = new Client(toolPath('informer'), goArgs('listing', OBJECTS))
  // Run the same program again with streaming lists. This environment variable enables the feature
  // gate of client-go.
  using streaming = new Client(toolPath('informer'), goArgs('streaming', OBJECTS / 10), {
    KUBE_FEATURE_WatchListClient: 'true',
  })
  using node = new Client(process.execPath, [clientNode, kubeconfig, 'by-node', `${OBJECTS}`])
  assert.deepEqual(await listing.line(), { synced: OBJECTS })
  assert.deepEqual(await streaming.line(), { synced: OBJECTS / 10 })
  assert.deepEqual(await node.line(), { synced: OBJECTS })

  await sleep(CALM_MS)
  await server.restart('SIGTERM')
  await sleep(CALM_MS)
  await server.restart('SIGKILL')
  await sleep(CALM_MS)
  await etcd.stop('SIGKILL')
  await etcd.start()
  await sleep(CALM_MS)

  for (const client of [listing, streaming, node]) {
    const verdict = await client.end()
    assert.deepEqual(verdict.faults, [], JSON.stringify(verdict))
    const { configMaps } = verdict
    // Check that objects were updated and deleted. Otherwise the test would prove nothing.
    assert.ok(configMaps.updates > 10 && configMaps.deletes > 2, JSON.stringify(verdict))
  }
})

type Verdict = {
  readonly configMaps: { readonly updates: number; readonly deletes: number }
  readonly faults: readonly string[]
}

class Client implements Disposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #lines: AsyncIterator<string>
  #errors = ''

  constructor(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
  }

  async line(): Promise<unknown> {
    const { value, done } = await this.#lines.next()
    if (done === true)
      throw new Error(`${this.#child.spawnfile} ended: ${this.#errors.slice(-2000)}`)
    return JSON.parse(value)
  }

  /** Makes the program stop writing, and returns its verdict. */
  async end(): Promise<Verdict> {
    this.#child.stdin.end()
    const verdict = await this.line()
    assert.ok(isVerdict(verdict), JSON.stringify(verdict))
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
    return verdict
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}

const isVerdict = (line: unknown): line is Verdict =>
  typeof line === 'object' &&
  line !== null &&
  'faults' in line &&
  'configMaps' in line &&
  line.configMaps !== null
