/**
 * Tests `keelson dev` as a user runs it. A single command starts it, kubectl works, Ctrl-C ends all
 * processes, and the data is kept.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { lockFolder } from '../../src/storage/sqlite/folder-lock.ts'
import { freePorts, startEtcd, toolPath } from '../support/harness/etcd.ts'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'
import { until } from '../support/harness/until.ts'

const run = promisify(execFile)
let dir: string
let cacheHome: string

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson dev-'))
  cacheHome = createCacheHome(join(dir, 'cache'))
})
const parts = new AsyncDisposableStack()
after(async () => {
  await parts.disposeAsync()
  await rm(dir, { recursive: true, force: true })
})

class DevProcess implements AsyncDisposable {
  readonly child: ChildProcess
  out = ''
  err = ''

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    // Use a separate list of running servers and a separate kubeconfig instead of those of the
    // user.
    const own = { XDG_CACHE_HOME: cacheHome, KUBECONFIG: join(dir, 'kubeconfig') }
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    this.child = spawn(keelsonProgram, ['dev', ...args], {
      stdio,
      env: { ...process.env, ...own, ...env },
    })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.out += text))
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.err += text))
  }

  /**
   * Standard error without log lines. Slow requests are logged, and requests are slow on a busy
   * machine.
   */
  get told(): string {
    return this.err.replaceAll(/^\{"level".*\n/gm, '')
  }

  /** Waits until the command has printed the instructions for the user. */
  async ready(): Promise<void> {
    while (!this.out.includes('kubectl get ns\n')) {
      if (this.child.exitCode !== null) throw new Error(`keelson dev ended: ${this.err}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const gone = once(this.child, 'close')
      this.child.kill(signal)
      await gone
    }
    return this.child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGTERM')
  }
}

async function flagsFor(name: string): Promise<string[]> {
  const [port = 0] = await freePorts(1)
  return [`--data-dir=${join(dir, name)}`, `--secure-port=${port}`]
}

const withEtcd = async (name: string): Promise<string[]> => [
  ...(await flagsFor(name)),
  `--etcd=${toolPath('etcd')}`,
]

const kubectl = async (folder: string, ...args: readonly string[]): Promise<string> => {
  const flags = [
    '--kubeconfig',
    join(dir, folder, 'kubeconfig'),
    '--cache-dir',
    join(dir, 'kubectl-cache'),
  ]
  return (await run(toolPath('kubectl'), [...flags, ...args], { timeout: 120_000 })).stdout
}

const pidIn = (path: string): number => Number(readFileSync(path, 'utf8'))

/** Whether a process is running. A zombie process does not count as running. */
async function isAlive(pid: number): Promise<boolean> {
  const state = await run('ps', ['-o', 'stat=', '-p', `${pid}`]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )
  return state !== '' && !state.startsWith('Z')
}

test('one command starts a cluster without etcd, and acknowledged writes survive kill -9', async () => {
  const flags = await flagsFor('alone')
  {
    await using dev = new DevProcess(flags)
    await dev.ready()
    assert.doesNotMatch(dev.told, /etcd/)
    await kubectl('alone', 'create', 'configmap', 'kept', '--from-literal=a=b')
    const other = new DevProcess(flags)
    await once(other.child, 'close')
    assert.equal(other.child.exitCode, 1)
    assert.match(
      other.err,
      /keelson dev already runs in .* \(process \d+\): stop it with .*, or choose another --data-dir/,
    )
    await dev.stop('SIGKILL')
  }
  await using again = new DevProcess(flags)
  await again.ready()
  assert.equal(await kubectl('alone', 'get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'), 'b')
  assert.equal((await stat(join(dir, 'alone', 'store', 'keelson.sqlite'))).mode & 0o077, 0)
})

test('Ctrl-C stops keelson dev and its etcd, and the next start uses the same data', async () => {
  const flags = await withEtcd('first')
  const kubeconfig = join(dir, 'first', 'kubeconfig')
  let etcdPid: number
  {
    await using dev = new DevProcess(flags)
    await dev.ready()
    assert.equal(dev.out, `export KUBECONFIG='${kubeconfig}'\nkubectl get ns\n`)
    assert.match(
      dev.told,
      /keelson: started etcd \(.*\n.*keelson: serving at https:\/\/127.0.0.1:\d+ after \d+ ms\n/,
    )
    etcdPid = pidIn(join(dir, 'first', 'etcd.pid'))
    assert.match(
      await kubectl('first', 'get', 'ns', '-o', 'name'),
      /namespace\/default\n.*namespace\/kube-system/s,
    )
    const manifest = join(dir, 'kept.yaml')
    await writeFile(
      manifest,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {a: b}\n',
    )
    await kubectl('first', 'create', '-f', manifest)
    assert.equal((await stat(kubeconfig)).mode & 0o077, 0)
    assert.equal(await dev.stop('SIGINT'), 0, dev.err)
    assert.ok(!(await isAlive(etcdPid)))
  }
  await using again = new DevProcess(flags)
  await again.ready()
  assert.equal(await kubectl('first', 'get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'), 'b')
})

/** Whether a process is listening on a TCP port. */
function listensOnPort(pid: number): boolean {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).map(
      (fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1],
    ),
  )
  const rows = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1),
  )
  // The fourth field of a row is the state; 0A means listening. The tenth field is the inode (see
  // proc(5)).
  return rows.map((row) => row.trim().split(/ +/)).some((row) => row[3] === '0A' && own.has(row[9]))
}

const askEtcd = (socketPath: string, path: string, body = ''): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      { socketPath, path, method: body === '' ? 'GET' : 'POST' },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject).end(body)
  })

test('the etcd of keelson dev has no gRPC gateway, and listens only on sockets that this user can access', async () => {
  // This name is too long for the path of a socket. It also contains a comma, which separates the
  // addresses in a list of etcd servers.
  const name = `a,${'long-'.repeat(20)}`
  await using dev = new DevProcess(await withEtcd(name))
  await dev.ready()
  assert.ok(!listensOnPort(pidIn(join(dir, name, 'etcd.pid'))))
  assert.ok(listensOnPort(dev.child.pid ?? 0))
  const sockets = join(dir, name, 'etcd-sockets')
  assert.equal((await stat(sockets)).mode & 0o077, 0)
  const socketPath = `/proc/${pidIn(join(dir, name, 'etcd.pid'))}/cwd/client:1`
  assert.equal(await askEtcd(socketPath, '/health'), 200)
  assert.equal(await askEtcd(socketPath, '/v3/kv/range', '{"key":"YQ=="}'), 404)
})

const encode = (text: string): string => Buffer.from(text).toString('base64')

test('a folder from a version whose etcd used TCP ports keeps its data', async () => {
  const folder = join(dir, 'older')
  const [client = 0, peer = 0] = await freePorts(2)
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  const etcdFlags = {
    name: 'keelson',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `keelson=${peerUrl}`,
  }
  await mkdir(join(folder, 'etcd'), { recursive: true, mode: 0o700 })
  const args = Object.entries(etcdFlags).map(([flag, value]) => `--${flag}=${value}`)
  const etcd = spawn(toolPath('etcd'), args, { stdio: 'ignore' })
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'old', namespace: 'default', uid: 'u' },
  }
  const body = JSON.stringify({
    key: encode('/registry/configmaps/default/old'),
    value: encode(JSON.stringify({ ...object, data: { a: 'b' } })),
  })
  await until(
    async () =>
      (await fetch(`${clientUrl}/v3/kv/put`, { method: 'POST', body }).catch(() => ({ ok: false })))
        .ok,
    'the older etcd stores the object',
  )
  const gone = once(etcd, 'exit')
  etcd.kill('SIGTERM')
  await gone
  await using dev = new DevProcess(await flagsFor('older'), {
    PATH: `${dirname(toolPath('etcd'))}:${process.env['PATH']}`,
  })
  await dev.ready()
  assert.equal(await kubectl('older', 'get', 'configmap', 'old', '-o', 'jsonpath={.data.a}'), 'b')
  assert.ok(!listensOnPort(pidIn(join(folder, 'etcd.pid'))))
})

let sharing: Promise<void> | undefined
/** Starts one server in the folder `shared`, for tests that do not stop or restart it. */
const shared = (): Promise<void> =>
  (sharing ??= (async () => parts.use(new DevProcess(await flagsFor('shared'))).ready())())

const hasNetwork = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ internal, family }) => !internal && family === 'IPv4'),
)

test('the Service default/kubernetes has an endpoint, as in any cluster', {
  skip: !hasNetwork,
}, async () => {
  await shared()
  const wanted = [
    'get',
    'endpointslice',
    'kubernetes',
    '--ignore-not-found',
    '-o',
    'jsonpath={.endpoints[0].addresses[0]}',
  ]
  let address = ''
  await until(
    async () => (address = await kubectl('shared', ...wanted)) !== '',
    'the endpoint exists',
  )
  assert.match(address, /^\d+\.\d+\.\d+\.\d+$/)
})

test('deleting a namespace also deletes its contents', async () => {
  await shared()
  await kubectl('shared', 'create', 'namespace', 'shop')
  await kubectl('shared', '-n', 'shop', 'create', 'configmap', 'c')
  assert.match(await kubectl('shared', 'delete', 'namespace', 'shop'), /"shop" deleted/)
  assert.equal(await kubectl('shared', 'get', 'namespace', 'shop', '--ignore-not-found'), '')
})

test('every namespace has a service account and the CA, and a pod has a token in a volume', async () => {
  await shared()
  // Wait for each object separately. If several objects are named, kubectl does not wait for
  // missing ones.
  for (const object of ['serviceaccount/default', 'configmap/kube-root-ca.crt'])
    await kubectl('shared', 'wait', '--for=create', object)
  const published = await kubectl(
    'shared',
    'get',
    'configmap',
    'kube-root-ca.crt',
    '-o',
    'jsonpath={.data.ca\\.crt}',
  )
  assert.equal(published, readFileSync(join(dir, 'shared', 'ca.crt'), 'utf8'))
  const token = await kubectl('shared', 'create', 'token', 'default')
  assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  const review = join(dir, 'review.yaml')
  const spec = `spec: {token: ${token}}`
  await writeFile(review, `apiVersion: authentication.k8s.io/v1\nkind: TokenReview\n${spec}\n`)
  const who = await kubectl(
    'shared',
    'create',
    '-f',
    review,
    '-o',
    'jsonpath={.status.user.username}',
  )
  assert.equal(who, 'system:serviceaccount:default:default')
  await kubectl('shared', 'run', 'p', '--image=i')
  const volume = 'jsonpath={.spec.volumes[0].name} {.spec.containers[0].volumeMounts[0].mountPath}'
  const shown = await kubectl('shared', 'get', 'pod', 'p', '-o', volume)
  assert.match(shown, /^kube-api-access-\w+ \/var\/run\/secrets\/kubernetes\.io\/serviceaccount$/)
})

test('a second keelson dev in the same folder is rejected, and an etcd that a killed server left running is stopped', async () => {
  const flags = await withEtcd('second')
  await using dev = new DevProcess(flags)
  await dev.ready()
  const other = new DevProcess(flags)
  await once(other.child, 'close')
  assert.equal(other.child.exitCode, 1)
  assert.match(
    other.err,
    /keelson dev already runs in .* \(process \d+\): stop it with .*, or choose another --data-dir/,
  )

  const etcdPid = pidIn(join(dir, 'second', 'etcd.pid'))
  await dev.stop('SIGKILL')
  assert.ok(await isAlive(etcdPid), 'etcd cannot notice the kill')
  await using next = new DevProcess(flags)
  await next.ready()
  assert.ok(!(await isAlive(etcdPid)))
  assert.match(await kubectl('second', 'get', 'ns', '-o', 'name'), /namespace\/default/)
})

test('keelson dev can use an etcd that already runs, and does not stop it', async () => {
  await using etcd = await startEtcd()
  const [port = 0] = await freePorts(1)
  const folder = `--data-dir=${join(dir, 'third')}`
  await using dev = new DevProcess([
    folder,
    `--etcd-servers=${etcd.clientUrl}`,
    `--secure-port=${port}`,
  ])
  await dev.ready()
  assert.match(await kubectl('third', 'get', 'ns', '-o', 'name'), /namespace\/default/)
  assert.equal(await dev.stop('SIGTERM'), 0)
  await etcd.ready()
})

test('several servers use different ports, keelson status lists the servers, and keelson stop stops them', async () => {
  const env = { XDG_CACHE_HOME: createCacheHome(join(dir, 'several')) }
  const keelson = async (...args: readonly string[]): Promise<string> =>
    (
      await run(keelsonProgram, args, {
        timeout: 120_000,
        env: { ...process.env, ...env },
        cwd: dir,
      })
    ).stdout
  assert.equal(await keelson('status'), 'No servers are running: keelson dev starts one.\n')
  await assert.rejects(
    keelson('stop'),
    /no keelson dev runs in .*\.keelson: no servers are running/,
  )
  await using one = new DevProcess([`--data-dir=${join(dir, 'one')}`], env)
  await using two = new DevProcess([`--data-dir=${join(dir, 'two')}`], env)
  await using three = new DevProcess(['--ephemeral'], env)
  const all = [one, two, three]
  await Promise.all(all.map((dev) => dev.ready()))
  const ports = all.map(({ err }) => /serving at https:\/\/127\.0\.0\.1:(\d+)/.exec(err)?.[1])
  assert.equal(new Set(ports).size, 3)
  assert.match(await kubectl('two', 'get', 'ns', '-o', 'name'), /namespace\/default/)

  const reported = await keelson('status')
  assert.match(reported, /^PROCESS +URL +AGE +STORE +FOLDER\n/)
  for (const port of ports) assert.ok(reported.includes(`https://127.0.0.1:${port} `), reported)
  const listed: { pid: number; store: string }[] = JSON.parse(
    await keelson('status', '--output=json'),
  )
  assert.deepEqual(listed.map(({ store }) => store).toSorted(), ['memory', 'sqlite', 'sqlite'])
  assert.deepEqual(
    new Set(listed.map(({ pid }) => pid)),
    new Set(all.map(({ child }) => child.pid)),
  )

  assert.match(
    await keelson('stop', `--data-dir=${join(dir, 'one')}`),
    /keelson dev in .*one \(process \d+\) has stopped\n/,
  )
  assert.ok(!(await isAlive(one.child.pid ?? 0)), 'the process has ended when this is printed')
  await until(() => one.child.exitCode === 0, 'the first has stopped')
  await assert.rejects(
    keelson('stop'),
    /keelson status lists the running servers; --all stops all of them/,
  )
  await keelson('stop', '--all')
  await until(() => all.every(({ child }) => child.exitCode === 0), 'all have stopped')
  assert.equal(await keelson('status'), 'No servers are running: keelson dev starts one.\n')

  // When a server starts again, it uses the same port, so that its kubeconfig remains valid.
  await using again = new DevProcess([`--data-dir=${join(dir, 'two')}`], env)
  await again.ready()
  assert.ok(again.err.includes(`:${ports[1]} after`), again.err)
})

test('an ephemeral server leaves nothing behind', async () => {
  const temporary = join(dir, 'temporary')
  await mkdir(temporary)
  const env = { TMPDIR: temporary }
  await using dev = new DevProcess(['--ephemeral', '--secure-port=0'], env)
  await dev.ready()
  const [, kubeconfig = ''] = /^export KUBECONFIG='(.*)'$/m.exec(dev.out) ?? []
  assert.ok(kubeconfig.startsWith(`${temporary}/keelson-`), dev.out)
  const flags = ['--kubeconfig', kubeconfig, '--cache-dir', join(dir, 'kubectl-cache')]
  await run(toolPath('kubectl'), [...flags, 'create', 'configmap', 'c'], { timeout: 120_000 })
  assert.equal(await dev.stop('SIGTERM'), 0, dev.err)
  assert.deepEqual(await readdir(temporary), [])
})

test('if running servers cannot be recorded, keelson status and keelson stop do not claim that no server is running', async () => {
  const env = { ...process.env, XDG_CACHE_HOME: '/dev/null' }
  for (const command of ['status', 'stop']) {
    const asking = run(keelsonProgram, [command], { timeout: 120_000, env, cwd: dir })
    await assert.rejects(asking, {
      code: 1,
      stderr: /^keelson: running servers are not recorded: /,
    })
  }
})

test('when the terminal is closed, an ephemeral server stops gracefully and leaves nothing behind', async () => {
  const temporary = join(dir, 'hung-up')
  await mkdir(temporary)
  const merged = join(dir, 'merged-until-hangup')
  const flags = ['--ephemeral', '--secure-port=0', '--kubeconfig-merge', '--context=hung-up']
  await using dev = new DevProcess(flags, { TMPDIR: temporary, KUBECONFIG: merged })
  await dev.ready()
  const gone = once(dev.child, 'close')
  // When a terminal is closed, the process gets this signal twice: from the shell and from the
  // kernel.
  dev.child.kill('SIGHUP')
  dev.child.kill('SIGHUP')
  await gone
  assert.equal(dev.child.exitCode, 0, dev.err)
  assert.deepEqual(await readdir(temporary), [])
  assert.doesNotMatch(readFileSync(merged, 'utf8'), /hung-up/)
})

test('the kubeconfig contains the address of --bind-address', async () => {
  const flags = [...(await flagsFor('elsewhere')), '--bind-address=127.0.0.2']
  await using dev = new DevProcess(flags)
  await dev.ready()
  assert.match(
    readFileSync(join(dir, 'elsewhere', 'kubeconfig'), 'utf8'),
    /server: https:\/\/127\.0\.0\.2:/,
  )
  assert.match(await kubectl('elsewhere', 'get', 'ns', '-o', 'name'), /namespace\/default/)
})

test('the errors of keelson dev and keelson serve name an address that this machine does not have', async () => {
  const address = '--bind-address=192.0.2.1'
  const certificates = `--cert-dir=${join(dir, 'serve-certificates')}`
  const [port = 0] = await freePorts(1)
  for (const { code, stderr } of await Promise.all([
    failure(['--ephemeral', address]),
    failure(['--store=memory', certificates, `--secure-port=${port}`, address], {}, 'serve'),
  ])) {
    const told = stderr.replaceAll(/^\{"level".*\n/gm, '')
    assert.equal(code, 1, stderr)
    assert.equal(
      told,
      'keelson: cannot listen at 192.0.2.1, because this machine does not have this address: use --bind-address=127.0.0.1 for clients on this machine, or --bind-address=0.0.0.0 for all clients\n',
    )
  }
})

test('if no temporary folder can be created, the error names TMPDIR and its folder', async () => {
  const TMPDIR = join(dir, 'no-such-folder')
  const { code, stderr } = await failure(['--ephemeral'], { TMPDIR })
  assert.equal(code, 1)
  assert.ok(stderr.startsWith(`keelson: ${TMPDIR} cannot be used (ENOENT: `), stderr)
  assert.match(stderr, /: set TMPDIR to a writable folder, or choose one with --data-dir\n$/)
})

test('Ctrl-C stops a server that cannot become ready', async () => {
  const temporary = await mkdtemp(join(dir, 'never-ready-'))
  const flags = ['--ephemeral', '--secure-port=0', '--enable-admission-plugins=AlwaysDeny']
  await using dev = new DevProcess(flags, { TMPDIR: temporary })
  await until(() => dev.err.includes('; retrying'), 'a failed attempt is logged', 120_000)
  dev.child.kill('SIGINT')
  await until(() => dev.child.exitCode !== null, 'the server has stopped')
  assert.deepEqual([dev.child.exitCode, dev.out], [0, ''], dev.err)
  const left = (await readdir(temporary)).filter((name) => name.startsWith('keelson-'))
  assert.deepEqual(left, [])
})

test('keelson dev reports an invalid certificate in one line', async () => {
  await writeFile(join(dir, 'none.pem'), 'none')
  const tls = ['cert', 'private-key'].map((name) => `--tls-${name}-file=${join(dir, 'none.pem')}`)
  const { code, stderr } = await failure([
    `--data-dir=${join(dir, 'uncertain')}`,
    '--secure-port=0',
    ...tls,
  ])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /^keelson: .*\n$/)
})

test('--reset deletes objects but keeps certificates, and --kubeconfig-merge adds a context', async () => {
  const flags = await flagsFor('reset')
  {
    await using dev = new DevProcess(flags)
    await dev.ready()
    await kubectl('reset', 'create', 'configmap', 'old')
  }
  const certificate = readFileSync(join(dir, 'reset', 'ca.crt'), 'utf8')
  const merged = join(dir, 'merged')
  const work = '- name: work\n  cluster: {server: "https://work.example.com"}\n'
  await writeFile(merged, `apiVersion: v1\nkind: Config\ncurrent-context: work\nclusters:\n${work}`)
  await using dev = new DevProcess([...flags, '--reset', '--kubeconfig-merge', '--context=mine'], {
    KUBECONFIG: merged,
  })
  await dev.ready()
  assert.equal(dev.out, 'kubectl config use-context mine\nkubectl get ns\n')
  assert.equal(readFileSync(join(dir, 'reset', 'ca.crt'), 'utf8'), certificate)
  const own = ['--kubeconfig', merged, '--cache-dir', join(dir, 'kubectl-cache')]
  const { stdout } = await run(toolPath('kubectl'), [...own, 'get', 'configmap', '-o', 'name'], {
    timeout: 120_000,
  })
  assert.doesNotMatch(stdout, /old/)
  const { stdout: contexts } = await run(toolPath('kubectl'), [...own, 'config', 'get-clusters'])
  assert.match(contexts, /^work$/m)
})

test('with --ephemeral --kubeconfig-merge, the kubeconfig is restored when the servers stop, and its other entries never change', async () => {
  const merged = join(dir, 'merged-by-two')
  const text =
    'apiVersion: v1\nkind: Config\ncurrent-context: work\nclusters:\n- name: prod\n  cluster: {server: "https://prod.example.com"}\ncontexts:\n- name: work\n  context: {cluster: prod, user: me}\n'
  await writeFile(merged, text)
  const flags = ['--ephemeral', '--secure-port=0', '--kubeconfig-merge']
  const config = async (...args: readonly string[]): Promise<string> =>
    (
      await run(toolPath('kubectl'), ['--kubeconfig', merged, 'config', ...args], {
        timeout: 120_000,
      })
    ).stdout
  {
    await using first = new DevProcess([...flags, '--context=a'], { KUBECONFIG: merged })
    await first.ready()
    await using second = new DevProcess([...flags, '--context=b'], { KUBECONFIG: merged })
    await second.ready()
    assert.equal(await config('current-context'), 'b\n')
    // Change the file with kubectl, which replaces it.
    await config('set-context', 'b', '--namespace=kube-system')
    await first.stop('SIGTERM')
    assert.equal(await config('current-context'), 'b\n')
  }
  assert.equal(await config('current-context'), 'work\n')
  assert.equal(await config('get-contexts', '-o', 'name'), 'work\n')
  const { code, stderr } = await failure([...flags, '--context=prod'], { KUBECONFIG: merged })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /has a cluster "prod" of another server, and was not changed: choose another name with --context/,
  )
  assert.match(await config('view'), /https:\/\/prod\.example\.com/)
})

test('a server does not create certificates in a folder that another server has locked', async () => {
  const folder = join(dir, 'locked')
  await mkdir(folder)
  using _ = lockFolder(folder)
  const { code, stderr } = await failure([`--data-dir=${folder}`])
  assert.equal(code, 1)
  assert.match(stderr, /keelson dev already runs in .* \(process \d+\)/)
  assert.ok((await readdir(folder)).every((name) => /^(lock\.sqlite.*|owner)$/.test(name)))
})

test('keelson dev does not change a folder that contains files of other programs, even with --reset', async () => {
  const folder = join(dir, 'theirs')
  await mkdir(join(folder, 'store'), { recursive: true })
  await writeFile(join(folder, 'store', 'shop.ts'), '')
  const { code, stderr } = await failure(['--reset', `--data-dir=${folder}`])
  assert.equal(code, 1)
  assert.match(stderr, /is not a folder of keelson dev \(it contains store\)/)
  assert.deepEqual(await readdir(folder), ['store'])
  assert.deepEqual(await readdir(join(folder, 'store')), ['shop.ts'])
})

test('keelson dev logs each warning about deprecated flags and gates once, like keelson serve', async () => {
  const gates = '--feature-gates=KMSv1=true,AnyVolumeDataSource=true'
  const deprecated = ['--admission-control=AlwaysAdmit', '--apiserver-count=2', gates]
  await using dev = new DevProcess(['--ephemeral', '--secure-port=0', ...deprecated])
  await dev.ready()
  const warnings = dev.err.split('\n').filter((line) => line.includes('"warn"'))
  for (const text of [
    'Flag --admission-control has been deprecated',
    'Flag --apiserver-count has been deprecated',
    'Setting deprecated feature gate KMSv1=true',
    'Setting GA feature gate AnyVolumeDataSource=true',
  ]) {
    assert.equal(warnings.filter((line) => line.includes(text)).length, 1, `${text} in ${dev.err}`)
  }
})

test('the logging flags also apply to keelson dev', async () => {
  const flags = [
    '--ephemeral',
    '--secure-port=0',
    '--logging-format=text',
    '--v=2',
    '--apiserver-count=2',
  ]
  await using dev = new DevProcess(flags)
  await dev.ready()
  assert.match(dev.err, /^\S+ WARN Flag --apiserver-count has been deprecated/m)
  assert.match(dev.err, /^\S+ DEBUG /m)
})

test('-v prints one readable line for each request of a client, even if -v is not the last flag', async () => {
  const [port = 0] = await freePorts(1)
  const folder = `--data-dir=${join(dir, 'verbose')}`
  await using dev = new DevProcess(['--ephemeral', '-v', folder, `--secure-port=${port}`])
  await dev.ready()
  await kubectl('verbose', 'create', 'configmap', 'c')
  const line = /^\S+ POST {3}201 +\d+ ms {2}\/api\/v1\/namespaces\/default\/configmaps +admin$/m
  await until(() => line.test(dev.err), 'the request is logged')
  assert.doesNotMatch(dev.err, / system:apiserver$/m, 'requests of the server are not logged')
  assert.doesNotMatch(dev.err, / DEBUG /)
})

test('from verbosity 2 on, keelson dev logs the same as keelson serve, with the audit ID of each request', async () => {
  const [port = 0] = await freePorts(1)
  const folder = `--data-dir=${join(dir, 'more-verbose')}`
  await using dev = new DevProcess(['--ephemeral', '-v=6', folder, `--secure-port=${port}`])
  await dev.ready()
  await kubectl('more-verbose', 'create', 'configmap', 'c')
  const line = /^\{"level":"debug".*"path":".*\/default\/configmaps","status":201,.*"auditId":/m
  await until(() => line.test(dev.err), 'the request is logged')
})

test('--authorization-config replaces the default authorization modes Node and RBAC', async () => {
  const file = join(dir, 'authorization.yaml')
  const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n'
  await writeFile(file, `${head}authorizers: [{type: AlwaysAllow, name: alwaysallow}]\n`)
  const mayJane = async (name: string, ...flags: readonly string[]): Promise<string> => {
    const [port = 0] = await freePorts(1)
    const folder = `--data-dir=${join(dir, name)}`
    await using dev = new DevProcess(['--ephemeral', folder, `--secure-port=${port}`, ...flags])
    await dev.ready()
    // kubectl prints `yes` or `no`. For `no`, its exit code is 1.
    return await kubectl(name, 'auth', 'can-i', 'delete', 'secrets', '--as=jane').catch(
      ({ stdout }: { readonly stdout: string }) => stdout,
    )
  }
  assert.equal(await mayJane('rbac'), 'no\n')
  assert.equal(await mayJane('configured', `--authorization-config=${file}`), 'yes\n')
})

test('invalid arguments are reported before anything starts', async () => {
  const { code, stderr } = await failure(['--etcd=/none', `--data-dir=${join(dir, 'fourth')}`])
  assert.deepEqual([code, stderr], [1, 'keelson: --etcd: /none is not an executable program\n'])
  const wrong = await failure(['--port=1', `--data-dir=${join(dir, 'fifth')}`])
  assert.equal(wrong.code, 2)
  assert.deepEqual(wrong.stderr.split('\n'), [
    'keelson: unknown flag: --port',
    'keelson: --port: did you mean --secure-port?',
    'keelson: keelson dev --help lists the flags',
    '',
  ])
  for (const port of ['x', '65536', '-1']) {
    const { code: refused, stderr: told } = await failure([`--secure-port=${port}`])
    const why = 'is not a port: use a number from 1 to 65535, or 0 for any free port'
    assert.deepEqual([refused, told], [2, `keelson: --secure-port=${port} ${why}\n`])
  }
  const both = await failure([
    '--ephemeral',
    '--etcd=etcd',
    '--context=a b',
    `--data-dir=${join(dir, 'fifth')}`,
  ])
  assert.equal(both.code, 2)
  assert.match(
    both.stderr,
    /--ephemeral keeps objects in memory[\s\S]*--context "a b" is not a valid name of a context/,
  )
  await assert.rejects(stat(join(dir, 'fifth')), { code: 'ENOENT' })
})

async function failure(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  command = 'dev',
): Promise<{ code: unknown; stderr: string }> {
  try {
    await run(keelsonProgram, [command, ...args], {
      timeout: 120_000,
      env: { ...process.env, ...env },
    })
  } catch (error) {
    if (!(error instanceof Error) || !('stderr' in error) || !('code' in error)) throw error
    return { code: error.code, stderr: String(error.stderr) }
  }
  throw new Error('the command did not fail')
}
