/**
 * The real kube-controller-manager and kube-scheduler on Keelson: a Deployment becomes a ReplicaSet and Pods, which are bound to a
 * node; a deletion in the foreground and one of the namespace leave nothing behind. Then they stay connected, and what they complain
 * about is counted by the part of them that does.
 *
 *   node test/clients/kube-controllers.ts [--minutes 10] [--keep-logs FOLDER]
 */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Component, startComponent } from '../harness/component.ts'
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../harness/kubectl.ts'

const MINUTES = 10
/** A controller that has to take over from nobody waits for its lease first; the machine may be busy besides. */
const STEP_MAX_MS = 180_000
const POLL_MS = 500
const NAMESPACE = 'shop'

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'fake', labels: { 'kubernetes.io/hostname': 'fake', 'kubernetes.io/os': 'linux' } },
}
const resources = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' }

/** The node's controller takes one that is not heard of for 40 s for dead. */
const HEARTBEAT_MS = 10_000

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }], terminationGracePeriodSeconds: 0 },
    },
  },
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string' }, 'keep-logs': { type: 'string' } } })
  await using etcd = await startEtcd()
  await using server = await startKeelson({
    etcdUrl: etcd.clientUrl,
    args: ['--controllers=*', '--disable-admission-plugins='],
  })
  await using kubectl = await kubectlFor(server, { namespace: NAMESPACE })
  const kubeconfig = join(kubectl.dir, 'config')
  await using manager = await startComponent('kube-controller-manager', kubeconfig, [
    `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
    `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
    '--v=2',
  ])
  await using scheduler = await startComponent('kube-scheduler', kubeconfig, ['--v=2'])
  const components = [manager, scheduler]
  const began = performance.now()
  try {
    await using beating = new AsyncDisposableStack()
    beating.use(await startNode(kubectl))
    await reconcile(kubectl)
    const minutes = Number(values.minutes ?? MINUTES)
    await sleep(Math.max(0, began + minutes * 60_000 - performance.now()))
    await reconcile(kubectl)
  } finally {
    const minutes = (performance.now() - began) / 60_000
    for (const component of components) report(component, minutes)
    const folder = values['keep-logs']
    if (folder !== undefined) await keepLogs(folder, components, server.dir)
  }
}

/** From a Namespace and a Deployment to bound Pods, and back to nothing. */
async function reconcile(kubectl: Kubectl): Promise<void> {
  const create = async (object: object): Promise<void> => {
    await kubectl.out('create', '--validate=false', '-f', await kubectl.file('object.json', object))
  }
  const get = async (what: string, path: string): Promise<string> =>
    (await kubectl.run('get', what, '-o', `jsonpath=${path}`)).out
  const isGone = async (what: string): Promise<boolean> => (await kubectl.run('get', what)).err.includes('NotFound')

  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await until('the default service account', async () => (await get('sa', '{.items[*].metadata.name}')) === 'default')
  await until('the certificate of the authority', async () => (await get('cm/kube-root-ca.crt', '{.data}')) !== '')
  await create(deployment)
  await until('a ReplicaSet', async () => (await get('rs', '{.items[*].spec.replicas}')) === '2')
  await until('two bound Pods', async () => (await get('pods', '{.items[*].spec.nodeName}')) === 'fake fake')
  await until('the status', async () => (await get('deploy/web', '{.status.unavailableReplicas}')) === '2')
  await kubectl.out('delete', 'deploy/web', '--cascade=foreground', '--wait=false')
  // Nobody is there to stop the containers: the node that does not exist is played by the one who deletes for good.
  await until('an end of the Pods', async () => {
    await kubectl.run('delete', 'pods', '--all', '--force', '--grace-period=0', '--wait=false')
    return (await get('pods', '{.items[*].metadata.name}')) === ''
  })
  await until('an end of the Deployment', () => isGone('deploy/web'))
  await until('an end of the ReplicaSet', async () => (await get('rs', '{.items[*].metadata.name}')) === '')
  await kubectl.out('delete', 'namespace', NAMESPACE, '--wait=false')
  await until('an end of the Namespace', () => isGone(`ns/${NAMESPACE}`))
}

/** A node that is only an object, and is ready as long as somebody says so. */
async function startNode(kubectl: Kubectl): Promise<AsyncDisposable> {
  await kubectl.run('create', '--validate=false', '-f', await kubectl.file('node.json', node))
  const ending = new AbortController()
  const beat = async (): Promise<void> => {
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, reason: 'KubeletReady', message: '' }]
    const status = { status: { capacity: resources, allocatable: resources, conditions } }
    await kubectl.out('patch', 'node', 'fake', '--subresource=status', '-p', JSON.stringify(status))
  }
  await beat()
  const beating = (async () => {
    while (!ending.signal.aborted) {
      await sleep(HEARTBEAT_MS, undefined, { signal: ending.signal }).catch(() => undefined)
      if (!ending.signal.aborted) await beat()
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await beating
    },
  }
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await isThere())) {
    if (performance.now() - began > STEP_MAX_MS) throw new Error(`${what} did not come in ${STEP_MAX_MS} ms`)
    await sleep(POLL_MS)
  }
  console.log(`${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

/** Errors as klog has them: `E1115 06:30:00.000000 123 file.go:12] "what" …`, by the file that wrote them. */
function report({ name, restarts, log }: Component, minutes: number): void {
  const lines = log.split('\n')
  const errors = lines.filter((line) => /^[EF]\d{4} /.test(line))
  const bySource = Map.groupBy(errors, (line) => /([\w-]+\.go):\d+\]/.exec(line)?.[1] ?? 'elsewhere')
  const taken = lines.filter((line) => line.includes('successfully acquired lease')).length
  console.log(
    `${name}: ${minutes.toFixed(1)} minutes, ${restarts} restarts, lease taken ${taken} times, ${errors.length} errors`,
  )
  for (const [source, found] of bySource)
    console.log(`  ${found.length} from ${source}, first: ${found[0]?.slice(0, 400)}`)
}

async function keepLogs(folder: string, components: readonly Component[], serverDir: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { name, log } of components) await writeFile(join(folder, `${name}.log`), log)
  await cp(join(serverDir, 'log'), join(folder, 'keelson.log'))
}

await main()
