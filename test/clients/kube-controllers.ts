/**
 * Runs the real kube-controller-manager and kube-scheduler on Keelson. Workloads of every kind
 * create Pods, the Pods are bound to a simulated node, and deletions remove all objects. Then the
 * components stay connected, and the errors in their logs are counted by source file.
 *
 *   node test/clients/kube-controllers.ts [--minutes 10] [--keep-logs FOLDER] [--reference]
 *       [--refusals FILE] [--known FILE]
 *
 * With --reference they run on the real kube-apiserver, to show which errors they log there. Each
 * component uses the same user and role as in a real cluster. The simulated node has the
 * permissions of a kubelet, and an operator built with controller-runtime has minimal permissions.
 * Rejected requests are written to the file --refusals. They must also be in the file --known,
 * which a run on kube-apiserver has written.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { type Component, startComponent } from '../support/harness/component.ts'
import { startEtcd, toolPath } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../support/harness/kubectl.ts'
import { startReference } from '../support/harness/reference.ts'
import { PlayedNode } from './played-node.ts'
import {
  auditFlags,
  newRefusals,
  readAudit,
  report as reportRefusals,
  writeRefusals,
} from './refusals.ts'
import { outcomes, volume, workloads } from './workloads.ts'

const MINUTES = 10
/**
 * Maximum time for a step. A controller first waits for its lease, even if it is the only
 * candidate, and the machine may be busy.
 */
const STEP_MAX_MS = 180_000
const POLL_MS = 500
const NAMESPACE = 'shop'
const OPERATOR_OBJECTS = 20
/** Interval between the operator's changes while the test waits for other conditions. */
const OPERATOR_PAUSE_MS = 30_000

/** Users of the components, with the same names as in a real cluster. */
const tokens = `admin-token,admin,admin-uid,"system:masters"
manager-token,system:kube-controller-manager,manager
scheduler-token,system:kube-scheduler,scheduler
node-token,system:node:played,node,"system:nodes"
operator-token,lamp-operator,operator
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      'keep-logs': { type: 'string' },
      reference: { type: 'boolean' },
      refusals: { type: 'string' },
      known: { type: 'string' },
    },
  })
  await using etcd = await startEtcd()
  // Watches end after one or two minutes, so that the test also covers resuming them.
  const args = [
    '--disable-admission-plugins=',
    '--enable-admission-plugins=NodeRestriction',
    '--min-request-timeout=60',
  ]
  const options = { etcdUrl: etcd.clientUrl, args, omit: ['token-auth-file'], prepare }
  await using server = await (values.reference === true
    ? startReference(options)
    : startKeelson(options))
  await using kubectl = await kubectlFor(server, { namespace: NAMESPACE })
  await using ofManager = await kubectlFor(server, { token: 'manager-token' })
  await using ofScheduler = await kubectlFor(server, { token: 'scheduler-token' })
  await using ofOperator = await kubectlFor(server, { token: 'operator-token' })
  await using manager = await startComponent(
    'kube-controller-manager',
    join(ofManager.dir, 'config'),
    [
      `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
      '--use-service-account-credentials',
      `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
      '--v=2',
    ],
  )
  await using scheduler = await startComponent('kube-scheduler', join(ofScheduler.dir, 'config'), [
    '--v=2',
  ])
  await using node = new PlayedNode(server.url, 'played', 'node-token')
  const components = [manager, scheduler]
  const began = performance.now()
  try {
    await grantOperator(kubectl)
    await reconcile(kubectl)
    const endMs = began + Number(values.minutes ?? MINUTES) * 60_000
    while (performance.now() < endMs) {
      await runOperator(join(ofOperator.dir, 'config'))
      await sleep(Math.min(OPERATOR_PAUSE_MS, Math.max(0, endMs - performance.now())))
    }
    await reconcile(kubectl)
  } finally {
    const minutes = (performance.now() - began) / 60_000
    await node[Symbol.asyncDispose]()
    for (const component of components) report(component, minutes)
    const folder = values['keep-logs']
    if (folder !== undefined) await keepLogs(folder, components, server.dir)
  }
  await judge(server.dir, values)
}

async function prepare(dir: string): Promise<readonly string[]> {
  await writeFile(join(dir, 'users.csv'), tokens, { mode: 0o600 })
  return [`--token-auth-file=${join(dir, 'users.csv')}`, ...(await auditFlags(dir))]
}

type JudgedRun = { readonly refusals?: string | undefined; readonly known?: string | undefined }

async function judge(dir: string, { refusals: path, known }: JudgedRun): Promise<void> {
  const audited = await readAudit(dir)
  reportRefusals(audited)
  if (path !== undefined) await writeRefusals(path, audited.refusals)
  if (known === undefined) return
  const unknown = await newRefusals(known, audited.refusals)
  console.log(`${unknown.length} of them are not known from the reference`)
  for (const what of unknown) console.log(`  ${what}`)
  if (unknown.length > 0) process.exitCode = 1
}

/**
 * RBAC rules of the operator. It needs only permissions for one kind, and for creating the
 * CustomResourceDefinition of this kind.
 */
const operatorRules = [
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['create', 'get'],
  },
  {
    apiGroups: ['operator.example.com'],
    resources: ['lamps'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: ['operator.example.com'], resources: ['lamps/status'], verbs: ['update'] },
]

async function grantOperator(kubectl: Kubectl): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const role = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'lamps' },
    rules: operatorRules,
  }
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'lamps' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'lamps' },
    subjects: [{ apiGroup, kind: 'User', name: 'lamp-operator' }],
  }
  const list = { apiVersion: 'v1', kind: 'List', items: [role, binding] }
  await kubectl.out('create', '-f', await kubectl.file('operator.json', list))
}

async function runOperator(kubeconfig: string): Promise<void> {
  const args = [`--kubeconfig=${kubeconfig}`, `--objects=${OPERATOR_OBJECTS}`]
  const run = (): Promise<{ readonly stdout: string }> =>
    promisify(execFile)(toolPath('operator'), args)
  // Try twice. On kube-apiserver, the conditions of a new definition are null at first, and the
  // operator exits, because it does not support this. When it is started again, the definition
  // exists.
  const { stdout } = await run().catch(run)
  const { finalized, faults }: { finalized: number; faults: readonly string[] } = JSON.parse(stdout)
  if (finalized !== OPERATOR_OBJECTS || faults.length > 0)
    throw new Error(`the operator did not do its work: ${stdout}`)
}

/** Creates a Namespace and workloads, waits for running Pods, and deletes everything again. */
async function reconcile(kubectl: Kubectl): Promise<void> {
  const create = async (...items: readonly object[]): Promise<void> => {
    const list = { apiVersion: 'v1', kind: 'List', items }
    await kubectl.out('create', '-f', await kubectl.file('objects.json', list))
  }
  const get = async (what: string, path: string): Promise<string> =>
    (await kubectl.run('get', ...what.split(' '), '-o', `jsonpath=${path}`)).out
  const isGone = async (what: string): Promise<boolean> =>
    (await kubectl.run('get', what)).err.includes('NotFound')

  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, volume)
  await until(
    'serviceaccount',
    async () => (await get('sa', '{.items[*].metadata.name}')) === 'default',
  )
  await until(
    'root-ca-certificate-publisher',
    async () => (await get('cm/kube-root-ca.crt', '{.data}')) !== '',
  )
  await create(...workloads)
  for (const [controller, what, path, wanted] of outcomes) {
    await until(controller, async () => wanted.test(await get(what, path)))
  }
  await kubectl.out('set', 'image', 'deploy/web', 'web=web:2')
  await until('deployment, a new image', async () =>
    /^(0 2|2 0)$/.test(await get('rs', '{.items[*].status.replicas}')),
  )
  await kubectl.out('delete', 'deploy/web', '--cascade=foreground', '--wait=false')
  await until('garbagecollector, foreground', () => isGone('deploy/web'))
  await until(
    'garbagecollector, dependents',
    async () => (await get('pods -l app=web', '{.items[*].kind}')) === '',
  )
  await kubectl.out('delete', 'sts/db', '--cascade=orphan')
  await until(
    'garbagecollector, orphans',
    async () => (await get('pods/db-0', '{.metadata.ownerReferences}')) === '',
  )
  await kubectl.out('delete', 'namespace', NAMESPACE, '--wait=false')
  await until('namespace', () => isGone(`ns/${NAMESPACE}`))
  await kubectl.out('delete', 'pv/disk', '--wait=false')
  await until('persistentvolume-protection', () => isGone('pv/disk'))
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await isThere())) {
    if (performance.now() - began > STEP_MAX_MS)
      throw new Error(`${what} did not happen within ${STEP_MAX_MS} ms`)
    await sleep(POLL_MS)
  }
  console.log(`${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

/**
 * Counts klog's error lines, such as `E1115 06:30:00.000000 123 file.go:12] "message" …`, by source
 * file.
 */
function report({ name, restarts, log }: Component, minutes: number): void {
  const lines = log.split('\n')
  const errors = lines.filter((line) => /^[EF]\d{4} /.test(line))
  const bySource = Map.groupBy(errors, (line) => /([\w-]+\.go):\d+\]/.exec(line)?.[1] ?? 'unknown')
  const taken = lines.filter((line) => line.includes('successfully acquired lease')).length
  console.log(
    `${name}: ${minutes.toFixed(1)} minutes, ${restarts} restarts, lease acquired ${taken} times, ${errors.length} errors`,
  )
  for (const [source, found] of bySource)
    console.log(`  ${found.length} from ${source}, first: ${found[0]?.slice(0, 400)}`)
}

async function keepLogs(
  folder: string,
  components: readonly Component[],
  serverDir: string,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { name, log } of components) await writeFile(join(folder, `${name}.log`), log)
  await cp(join(serverDir, 'log'), join(folder, 'keelson.log'))
}

await main()
