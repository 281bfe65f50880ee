/**
 * The real kube-controller-manager and kube-scheduler on Keelson: workloads of every kind become Pods, which are bound to a
 * node that is played; deletions leave nothing behind. Then they stay connected, and what they complain
 * about is counted by the part of them that does.
 *
 *   node test/clients/kube-controllers.ts [--minutes 10] [--keep-logs FOLDER] [--reference]
 *
 * With --reference they run on the real kube-apiserver, to know which complaints are their own.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Component, startComponent } from '../harness/component.ts'
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../harness/kubectl.ts'
import { startReference } from '../harness/reference.ts'
import { PlayedNode } from './played-node.ts'
import { outcomes, volume, workloads } from './workloads.ts'

const MINUTES = 10
/** A controller that has to take over from nobody waits for its lease first; the machine may be busy besides. */
const STEP_MAX_MS = 180_000
const POLL_MS = 500
const NAMESPACE = 'shop'

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, 'keep-logs': { type: 'string' }, reference: { type: 'boolean' } },
  })
  await using etcd = await startEtcd()
  // Each controller has an account of its own, with the rights of its role.
  // Watches end after one or two minutes, so that resuming them is part of it.
  const args = ['--disable-admission-plugins=', '--min-request-timeout=60']
  const options = { etcdUrl: etcd.clientUrl, args }
  await using server = await (values.reference === true ? startReference(options) : startKeelson({ ...options, args }))
  await using kubectl = await kubectlFor(server, { namespace: NAMESPACE })
  const kubeconfig = join(kubectl.dir, 'config')
  await using manager = await startComponent('kube-controller-manager', kubeconfig, [
    `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
    '--use-service-account-credentials',
    `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
    '--v=2',
  ])
  await using scheduler = await startComponent('kube-scheduler', kubeconfig, ['--v=2'])
  await using node = new PlayedNode(server.url, 'played')
  const components = [manager, scheduler]
  const began = performance.now()
  try {
    await reconcile(kubectl)
    const minutes = Number(values.minutes ?? MINUTES)
    await sleep(Math.max(0, began + minutes * 60_000 - performance.now()))
    await reconcile(kubectl)
  } finally {
    const minutes = (performance.now() - began) / 60_000
    await node[Symbol.asyncDispose]()
    for (const component of components) report(component, minutes)
    const folder = values['keep-logs']
    if (folder !== undefined) await keepLogs(folder, components, server.dir)
  }
}

/** From a Namespace and what is put into it to running Pods, and back to nothing. */
async function reconcile(kubectl: Kubectl): Promise<void> {
  const create = async (...items: readonly object[]): Promise<void> => {
    const list = { apiVersion: 'v1', kind: 'List', items }
    await kubectl.out('create', '-f', await kubectl.file('objects.json', list))
  }
  const get = async (what: string, path: string): Promise<string> =>
    (await kubectl.run('get', ...what.split(' '), '-o', `jsonpath=${path}`)).out
  const isGone = async (what: string): Promise<boolean> => (await kubectl.run('get', what)).err.includes('NotFound')

  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, volume)
  await until('serviceaccount', async () => (await get('sa', '{.items[*].metadata.name}')) === 'default')
  await until('root-ca-certificate-publisher', async () => (await get('cm/kube-root-ca.crt', '{.data}')) !== '')
  await create(...workloads)
  for (const [controller, what, path, wanted] of outcomes) {
    await until(controller, async () => wanted.test(await get(what, path)))
  }
  await kubectl.out('set', 'image', 'deploy/web', 'web=web:2')
  await until('deployment, a new image', async () => /^(0 2|2 0)$/.test(await get('rs', '{.items[*].status.replicas}')))
  await kubectl.out('delete', 'deploy/web', '--cascade=foreground', '--wait=false')
  await until('garbagecollector, foreground', () => isGone('deploy/web'))
  await until('garbagecollector, dependents', async () => (await get('pods -l app=web', '{.items[*].kind}')) === '')
  await kubectl.out('delete', 'sts/db', '--cascade=orphan')
  await until('garbagecollector, orphans', async () => (await get('pods/db-0', '{.metadata.ownerReferences}')) === '')
  await kubectl.out('delete', 'namespace', NAMESPACE, '--wait=false')
  await until('namespace', () => isGone(`ns/${NAMESPACE}`))
  await kubectl.out('delete', 'pv/disk', '--wait=false')
  await until('persistentvolume-protection', () => isGone('pv/disk'))
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
