/**
 * Tests the example of deploy/ha: three hosts with a replica and an etcd member each, behind
 * HAProxy. The test starts the commands of the unit files with their configuration, stops one
 * process of each kind while clients write, and checks that no acknowledged write is lost.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, hosts, Installation, READY_MS_MAX } from '../support/harness/installation.ts'
import { findOnPath } from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const read = (name: string): string => readFileSync(join(deploy, 'ha', name), 'utf8')
/** Time before a client that got an error sends its next request. */
const RETRY_MS = 100
const WRITERS = 4
/** Number of writes that must succeed after a failure. They prove that clients can continue. */
const PROGRESS = 20

const missing = ['haproxy', 'openssl'].filter((name) => findOnPath(name) === undefined)
const lacks =
  missing.length > 0
    ? `install ${missing.join(' and ')}`
    : process.platform !== 'linux' && 'needs the addresses 127.0.0.0/8 of Linux'

const configMaps = '/api/v1/namespaces/default/configmaps'

/** Clients that create objects through the load balancer until they are stopped. */
class Writers {
  readonly acknowledged: string[] = []
  readonly #installation: Installation
  readonly #loops: readonly Promise<void>[]
  #isStopped = false

  constructor(installation: Installation) {
    this.#installation = installation
    this.#loops = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer))
  }

  async #write(writer: number): Promise<void> {
    for (let count = 0; !this.#isStopped; count++) {
      const name = `written-${writer}-${count}`
      const target = { method: 'POST', path: configMaps, port: this.#installation.port(6_443) }
      const body = JSON.stringify({ metadata: { name }, data: { count: `${count}` } })
      const { status } = await this.#installation.ask(this.#installation.address(10), target, body)
      // If the status is not 201, the object may or may not have been stored.
      if (status === 201) this.acknowledged.push(name)
      else await sleep(RETRY_MS)
    }
  }

  async continue(what: string): Promise<void> {
    const target = this.acknowledged.length + PROGRESS
    await this.#installation.until(
      'haproxy',
      `forwards writes ${what}`,
      async () => this.acknowledged.length >= target,
    )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#loops)
  }
}

/** Returns the process that HAProxy's master started last. */
function haproxyWorker(pid: number | undefined): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return children.at(-1) ?? ''
}

async function certificatesAreUsed(installation: Installation, host: Host): Promise<void> {
  for (const [name, port] of [
    ['server', 6_443],
    ['etcd', 2_379],
  ] as const)
    await installation.until(`${name} ${host}`, 'uses the new certificate', async () => {
      return (await installation.shownSerial(host, port)) === installation.serialOf(name)
    })
}

test('no acknowledged write is lost while certificates are renewed and one process of each program is stopped', {
  skip: lacks,
  timeout: 4 * READY_MS_MAX,
}, async (t) => {
  await using installation = new Installation()
  await installation.prepare()
  for (const host of hosts) installation.startMember(host)
  for (const host of hosts) await installation.memberIsHealthy(host)
  for (const host of hosts) installation.startReplica(host)
  for (const host of hosts) await installation.replicaIsReady(host)
  const config = join(installation.folder, 'haproxy.cfg')
  installation.start('haproxy', 'haproxy', ['-W', '-f', config])
  const writers = new Writers(installation)
  try {
    await writers.continue('through HAProxy')

    const oldSerial = installation.serialOf('server')
    installation.createCertificates()
    assert.notEqual(installation.serialOf('server'), oldSerial)
    for (const host of hosts) await certificatesAreUsed(installation, host)
    await writers.continue('with renewed certificates')

    await installation.stop('keelson.conf a', 'SIGKILL')
    await writers.continue('without replica a')
    installation.startReplica('a')
    await installation.replicaIsReady('a')

    await installation.stop('etcd.service b', 'SIGKILL')
    await writers.continue('without etcd b')
    installation.startMember('b')
    await installation.memberIsHealthy('b')

    const { pid } = installation.child('haproxy')
    const worker = haproxyWorker(pid)
    installation.child('haproxy').kill('SIGUSR2')
    await until(() => haproxyWorker(pid) !== worker, 'HAProxy starts a new worker')
    await writers.continue('after HAProxy is reloaded')

    await installation.stop('keelson.conf c', 'SIGTERM')
    await writers.continue('without replica c')
  } finally {
    await writers.stop()
  }
  t.diagnostic(`${writers.acknowledged.length} acknowledged writes`)
  for (const host of ['a', 'b'] as const) {
    const target = { path: configMaps, port: installation.port(6_443) }
    const { status, text } = await installation.ask(installation.hostAddress(host), target)
    assert.equal(status, 200, text)
    const { items }: { items: readonly { metadata: { name: string } }[] } = JSON.parse(text)
    const names = new Set(items.map(({ metadata }) => metadata.name))
    const lost = writers.acknowledged.filter((name) => !names.has(name))
    assert.deepEqual(lost, [], `replica ${host} has every acknowledged write`)
  }
})

test('systemd accepts the units of the high-availability example', {
  skip: findOnPath('systemd-analyze') === undefined && 'systemd-analyze is not installed',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-ha-units-'))
  try {
    // Replace the paths of the programs by an existing program, because systemd checks that the
    // programs exist.
    const place = (name: string, text: string): void =>
      writeFileSync(
        join(folder, name),
        text.replaceAll(/\/usr\/local\/bin\/\w+/g, process.execPath),
      )
    mkdirSync(join(folder, 'keelson.service.d'))
    place('keelson.service', readFileSync(join(deploy, 'keelson.service'), 'utf8'))
    place('keelson.service.d/ha.conf', read('keelson.conf'))
    place('etcd.service', read('etcd.service'))
    const units = ['keelson.service', 'etcd.service'].map((name) => join(folder, name))
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
    execFileSync('systemd-analyze', ['verify', '--man=no', ...units], { env, stdio: 'pipe' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
