/**
 * Tests `keelson assets`. Its programs are started in the same way as controller-runtime's envtest
 * starts the programs of KUBEBUILDER_ASSETS. `npm run envtest` runs the real envtest.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get as getPlain } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { readIfThere } from '../../src/lib/process/files.ts'
import { createAuthority, issue } from '../../src/lib/x509/certificates.ts'
import { freePorts, startEtcd } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { until } from '../support/harness/until.ts'

const run = promisify(execFile)
let dir = ''
let assets = ''

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keelson assets-'))
  const { stdout } = await run(keelsonProgram, ['assets', `--dir=${join(dir, "it's here")}`], {
    timeout: 120_000,
  })
  assets = stdout.trimEnd()
})
after(() => rmSync(dir, { recursive: true, force: true }))

class Child implements AsyncDisposable {
  readonly process: ChildProcess
  told = ''

  constructor(name: string, args: readonly string[]) {
    this.process = spawn(join(assets, name), args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.told += text))
  }

  async answers(url: string): Promise<void> {
    await until(async () => {
      assert.equal(this.process.exitCode, null, this.told)
      return (await statusOf(url)) === 200
    }, `${url} responds`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const gone = once(this.process, 'exit')
    this.process.kill('SIGTERM')
    await gone
  }
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const ask = url.startsWith('https:') ? request : getPlain
    ask(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', () => resolve(undefined))
      .end()
  })
}

/**
 * Returns the flags that controller-runtime 0.21 passes, and the certificate of an administrator.
 */
function serverFlags(name: string, port: number, etcdUrl: string) {
  const certs = join(dir, name)
  mkdirSync(certs)
  const nowMs = Date.now()
  const authority = createAuthority('envtest', nowMs)
  const admin = issue(authority, {
    commonName: 'admin',
    organizations: ['system:masters'],
    usage: 'client',
    hosts: [],
    nowMs,
  })
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(certs, 'client-cert-auth-ca.crt'), authority.certificatePem)
  writeFileSync(join(certs, 'sa-signer.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(certs, 'sa-signer.crt'), publicKey.export({ type: 'spki', format: 'pem' }))
  const flags = [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${certs}`,
    `--client-ca-file=${join(certs, 'client-cert-auth-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(certs, 'sa-signer.crt')}`,
    `--service-account-signing-key-file=${join(certs, 'sa-signer.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ]
  return { flags, admin, url: `https://127.0.0.1:${port}` }
}

type ServerAccess = {
  readonly url: string
  readonly admin: { certificatePem: string; keyPem: string }
}

function create({ url, admin }: ServerAccess, name: string): Promise<number | undefined> {
  const options = {
    method: 'POST',
    rejectUnauthorized: false,
    agent: false,
    cert: admin.certificatePem,
    key: admin.keyPem,
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/namespaces/default/configmaps`, options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).setHeader('content-type', 'application/json')
    sent.end(JSON.stringify({ metadata: { name } }))
  })
}

test('the substitute for etcd says that it is not etcd, and kube-apiserver prints its flags and version', async () => {
  const { stdout: version } = await run(join(assets, 'etcd'), ['--version'])
  assert.match(version, /^This is not etcd, but its stand-in beside Keelson/)
  const { stdout: help } = await run(join(assets, 'kube-apiserver'), ['--help'])
  assert.match(help, /^ {2}--etcd-servers/m)
  // The help must not list the flag --insecure-port, because envtest would then treat the server as
  // an old version.
  assert.doesNotMatch(help, /^\s*--insecure-port\b/m)
  assert.match(
    (await run(join(assets, 'kube-apiserver'), ['--version'])).stdout,
    /^Kubernetes v1\.33/,
  )
})

test('the installed kube-apiserver reports the release that --kubernetes selects', async () => {
  const folder = join(dir, 'newer')
  await run(keelsonProgram, ['assets', `--dir=${folder}`, '--kubernetes=1.34.x'])
  const program = join(folder, 'kube-apiserver')
  assert.match((await run(program, ['--version'])).stdout, /^Kubernetes v1\.34 /)
  assert.match(readFileSync(program, 'utf8'), / kube-apiserver --kubernetes=1\.34 "\$@"$/m)
  await assert.rejects(
    run(keelsonProgram, ['assets', `--dir=${folder}`, '--kubernetes=1.36']),
    /Known versions: 1\.33, 1\.34, 1\.35, latest/,
  )
})

test('a control plane starts with the flags of envtest, and stops on SIGTERM', async () => {
  const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3)
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcdFlags = [
    `--advertise-client-urls=${etcdUrl}`,
    `--data-dir=${join(dir, 'data')}`,
    `--listen-client-urls=${etcdUrl}`,
  ]
  await using etcd = new Child('etcd', [
    ...etcdFlags,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
  ])
  await etcd.answers(`${etcdUrl}/health`)
  assert.equal(await statusOf(`${etcdUrl}/v3/kv/range`), 501)
  const server = serverFlags('certs', port, etcdUrl)
  await using apiServer = new Child('kube-apiserver', server.flags)
  await apiServer.answers(`${server.url}/healthz`)
  assert.equal(await create(server, 'first'), 201)
  for (const child of [apiServer, etcd]) {
    child.process.kill('SIGTERM')
    await until(() => child.process.exitCode !== null, 'the process has ended')
    assert.equal(child.process.exitCode, 0, child.told)
  }
})

test('with a real etcd, objects are stored in etcd', async () => {
  await using etcd = await startEtcd()
  const [port = 0] = await freePorts(1)
  const server = serverFlags('real', port, etcd.clientUrl)
  {
    await using apiServer = new Child('kube-apiserver', server.flags)
    await apiServer.answers(`${server.url}/healthz`)
    assert.equal(await create(server, 'kept'), 201)
  }
  await using again = new Child('kube-apiserver', server.flags)
  await again.answers(`${server.url}/healthz`)
  assert.equal(await create(server, 'kept'), 409)
})

test('the etcd substitute exits when its parent is killed', async () => {
  const [etcdPort = 0] = await freePorts(1)
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  // The shell starts the program and waits for it, as a test process would.
  const script = '"$1" --listen-client-urls="$2" & wait'
  const parent = spawn('sh', ['-c', script, 'sh', join(assets, 'etcd'), etcdUrl], {
    stdio: 'ignore',
  })
  await until(async () => (await statusOf(`${etcdUrl}/health`)) === 200, 'the stand-in runs')
  parent.kill('SIGKILL')
  await until(
    async () => (await statusOf(`${etcdUrl}/health`)) === undefined,
    'the stand-in has ended with its parent',
  )
})

/**
 * Source of a module that Node loads before the program. It writes its process ID to a file, and
 * then blocks until another file exists.
 */
const waiting = `
import { existsSync, writeFileSync } from 'node:fs'
writeFileSync(process.env.LOADING, String(process.pid))
while (!existsSync(process.env.GO)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s*Z/m.test(readIfThere(`/proc/${pid}/status`) ?? '')
  } catch {
    // The process does not exist.
    return false
  }
}

for (const name of ['etcd', 'kube-apiserver']) {
  test(`${name} exits when its parent is killed while the program is still loading`, async () => {
    const [etcdPort = 0, port = 0] = await freePorts(2)
    const etcdUrl = `http://127.0.0.1:${etcdPort}`
    await using _ = new Child('etcd', [`--listen-client-urls=${etcdUrl}`])
    const [otherPort = 0] = await freePorts(1)
    const ofEtcd = [`--listen-client-urls=http://127.0.0.1:${otherPort}`]
    const args = name === 'etcd' ? ofEtcd : serverFlags(`orphan-${name}`, port, etcdUrl).flags
    const own = join(dir, `loading-${name}`)
    const [module, LOADING, GO] = [`${own}.mjs`, `${own}.pid`, `${own}.go`] as const
    writeFileSync(module, waiting)
    const env = {
      ...process.env,
      LOADING,
      GO,
      NODE_OPTIONS: `--import=${pathToFileURL(module).href}`,
    }
    // The shell starts the program and waits for it, as a test process would.
    const parent = spawn('sh', ['-c', '"$@" & wait', 'sh', join(assets, name), ...args], {
      stdio: 'ignore',
      env,
    })
    await until(() => (readIfThere(LOADING) ?? '') !== '', 'Node loads')
    const pid = Number(readIfThere(LOADING))
    const gone = once(parent, 'exit')
    parent.kill('SIGKILL')
    await gone
    writeFileSync(GO, '')
    await until(() => !isAlive(pid), 'the process has ended')
  })
}

test('the installed kube-apiserver prints its help text even if it is started through a symbolic link', async () => {
  symlinkSync(join(assets, 'kube-apiserver'), join(dir, 'linked'))
  const { stdout } = await run(join(dir, 'linked'), ['--help'])
  assert.match(stdout, /^ {2}--etcd-servers/m)
})

const withPath = (path: string) => ({ env: { ...process.env, PATH: path }, timeout: 120_000 })

test('the installed kubectl runs the kubectl on the PATH, or reports that there was none during the installation', async () => {
  const tools = join(dir, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'kubectl'), '#!/bin/sh\necho the real one\n', { mode: 0o755 })
  const folder = join(dir, 'with')
  await run(process.execPath, [keelsonProgram, 'assets', '--dir', folder], withPath(tools))
  assert.equal((await run(join(folder, 'kubectl'))).stdout, 'the real one\n')
  rmSync(tools, { recursive: true })
  await run(
    process.execPath,
    [keelsonProgram, 'assets', '--dir', folder],
    withPath(`${folder}:${tools}`),
  )
  await assert.rejects(run(join(folder, 'kubectl')), /was not on the PATH/)
  assert.match(readFileSync(join(folder, 'kubectl'), 'utf8'), /^#!\/bin\/sh/)
})
