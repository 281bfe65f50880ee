/**
 * Tests the Helm chart in deploy/chart: Helm's lint, the installation in a Keelson, and a server
 * that starts with the flags and the Secret of the installed objects.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { type EtcdProcess, freePorts, startEtcd, toolPath } from '../support/harness/etcd.ts'
import { type Helm, helmFor } from '../support/harness/helm.ts'
import { keelsonProgram, startKeelson } from '../support/harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../support/harness/kubectl.ts'
import { bashBlock } from '../support/harness/markdown-commands.ts'
import { until } from '../support/harness/until.ts'

const root = join(import.meta.dirname, '..', '..')
const chart = join(root, 'deploy', 'chart')
const read = (name: string): string => readFileSync(join(chart, name), 'utf8')
/** Maximum time until the server is ready on a busy machine. */
const READY_MS_MAX = 300_000
/** Helm values for replicas on an etcd that requires client certificates. */
const onEtcd = [
  '--set=replicas=3',
  '--set=etcd.servers={https://a.etcd:2379,https://b.etcd:2379}',
  '--set=etcd.existingSecret=etcd-client',
]

const page = readFileSync(join(root, 'docs', 'operate.md'), 'utf8')
/**
 * The commands in docs/operate.md that install the chart, and the command that uses the kubeconfig.
 */
const [installCommands = '', useCommand = ''] = bashBlock(page, 'helm install').split(
  /^(?=kubectl --kubeconfig)/m,
)
/** A name in the serving certificate, which clients in the cluster use. */
const serviceName = 'team-keelson.platform.svc'

let folder: string
let etcd: EtcdProcess
let server: ApiServerProcess
let kubectl: Kubectl
let helm: Helm

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-chart-'))
  etcd = await startEtcd()
  server = await startKeelson({ etcdUrl: etcd.clientUrl })
  kubectl = await kubectlFor(server, { namespace: 'platform' })
  helm = helmFor(kubectl, 'platform')
  await kubectl.out('create', 'namespace', 'platform')
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const template = (...args: readonly string[]): string =>
  execFileSync(toolPath('helm'), ['template', 'team', chart, '--namespace=platform', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Runs shell commands of docs/operate.md, and returns their output. */
function runPage(commands: string): string {
  const path = [dirname(toolPath('helm')), dirname(toolPath('kubectl')), process.env['PATH']]
  const own = {
    PATH: path.join(':'),
    KUBECONFIG: join(kubectl.dir, 'config'),
    KUBECACHEDIR: join(folder, 'kubectl-cache'),
    HELM_CACHE_HOME: join(folder, 'helm-cache'),
  }
  if (!existsSync(join(folder, 'deploy'))) symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
  return execFileSync('sh', ['-euc', commands], {
    cwd: folder,
    env: { ...process.env, ...own },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

type StatefulSet = {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] }
    }
    readonly volumeClaimTemplates?: readonly unknown[]
  }
}

test('helm lint accepts the chart', () => {
  for (const args of [[], onEtcd])
    assert.match(
      execFileSync(toolPath('helm'), ['lint', '--strict', chart, ...args], { encoding: 'utf8' }),
      / 0 chart\(s\) failed/,
    )
})

test('the Helm chart has the version of the npm package as its own version and as its application version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.match(read('Chart.yaml'), new RegExp(`^version: ${version}\nappVersion: ${version}$`, 'm'))
})

test('docs/operate.md describes every value of the chart', () => {
  const names: string[] = []
  let parent = ''
  for (const [, indent = '', name = ''] of read('values.yaml').matchAll(/^( {0,2})(\w+):/gm)) {
    if (indent === '') parent = name
    names.push(indent === '' ? name : `${parent}.${name}`)
  }
  const parents = new Set(names.map((name) => name.split('.').slice(0, -1).join('.')))
  const leaves = names.filter((name) => !parents.has(name) && !name.startsWith('resources.'))
  assert.ok(leaves.length > 15)
  for (const name of [...leaves, 'resources']) assert.ok(page.includes(`\`${name}\``), name)
})

test('the chart refuses several replicas without etcd', () => {
  assert.throws(() => template('--set=replicas=2'), /only one server can use a volume/)
})

for (const [name, args] of [
  ['a volume', []],
  ['etcd', onEtcd],
] as const)
  test(`server-side apply accepts the objects: ${name}`, async () => {
    const path = await kubectl.file('all.yaml', template(...args))
    const command = ['apply', '--server-side', '--validate=strict', `--filename=${path}`]
    await kubectl.out(...command, '--dry-run=server')
  })

test('the pod of the chart meets the restricted level of the Pod Security Standards', async () => {
  await kubectl.out('create', 'namespace', 'strict')
  const label = 'pod-security.kubernetes.io/warn=restricted'
  await kubectl.out('label', 'namespace', 'strict', label)
  const path = await kubectl.file('strict.yaml', template().replaceAll('namespace: platform', ''))
  // `out` fails if kubectl prints a warning, because kubectl prints warnings to standard error.
  await kubectl.out('apply', '--namespace=strict', '--server-side', `--filename=${path}`)
})

test('helm installs and upgrades the chart, and keeps the keys', async () => {
  const printed = runPage(installCommands)
  assert.match(printed, /^STATUS: deployed$[\s\S]*get secret team-keelson/m)
  const image = '{.spec.template.spec.containers[0].image}'
  const used = await kubectl.out('get', 'statefulset/team-keelson', '-o', `jsonpath=${image}`)
  assert.match(used, /^registry\.example\/keelson:/)
  const keys = () => kubectl.out('get', 'secret/team-keelson', '-o', 'jsonpath={.data}')
  const installed = await keys()
  await helm('upgrade', 'team', chart, '--set=service.port=8443')
  assert.equal(await keys(), installed)
  const port = await kubectl.out('get', 'svc/team-keelson', '-o', 'jsonpath={.spec.ports[0].port}')
  assert.equal(port, '8443')
})

test("a server starts with the flags of the chart's pod, and accepts the kubeconfig", async () => {
  const object = await kubectl.out('get', 'statefulset/team-keelson', '-o', 'json')
  const { spec }: StatefulSet = JSON.parse(object)
  assert.equal(spec.volumeClaimTemplates?.length, 1)
  const secret = await kubectl.out('get', 'secret/team-keelson', '-o', 'json')
  const { data }: { data: Readonly<Record<string, string>> } = JSON.parse(secret)
  const texts = new Map(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
  )
  for (const [name, text] of texts) writeFileSync(join(folder, name), text)
  const [port = 0] = await freePorts(1)
  const args = (spec.template.spec.containers[0]?.args ?? []).map((arg) =>
    arg
      .replace('/etc/keelson', folder)
      .replace('/var/lib/keelson', folder)
      .replace('$(POD_IP)', '127.0.0.1'),
  )
  const [command = '', ...flags] = args
  const all = [command, ...flags, '--bind-address=127.0.0.1', `--secure-port=${port}`]
  const child = spawn(keelsonProgram, all, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  try {
    const kubeconfig = texts.get('kubeconfig') ?? ''
    const token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? ''
    const ca = texts.get('ca.crt') ?? ''
    const isAccepted = async (): Promise<boolean> => {
      assert.equal(child.exitCode, null, log)
      return (await ask(port, { ca, token })) === 200
    }
    await until(isAccepted, 'the administrator can list Secrets', READY_MS_MAX)
    // Use the address of the server instead of that in the kubeconfig, which is the address of a
    // Service that does not exist here.
    const target = `--server=https://127.0.0.1:${port} --tls-server-name=${serviceName}`
    const printed = runPage(useCommand.replace('kubectl', `kubectl ${target}`))
    assert.match(printed, /^kube-system\s+Active/m)
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
})

/**
 * Lists Secrets, for which only administrators have permission. The status is 0 if there is no
 * response.
 */
function ask(port: number, { ca, token }: { ca: string; token: string }): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const target = { host: '127.0.0.1', port, servername: serviceName }
    request({ ...target, path: '/api/v1/secrets', ca, headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', () => resolve(0))
      .end()
  })
}
