/**
 * Sends the same requests to Keelson and to kube-apiserver at the same times: `node
 * test/recorded/flow-traces/run.ts`. Two values must not differ by more than a tenth: each priority
 * level's share of the served requests, and the fraction of rejected requests. Needs
 * `test/support/tools/install kube-apiserver`.
 *
 *   --only TEXT   only traces whose name contains the text.
 *   --seed N      seed of the arrivals (1).
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ApiServerOptions, ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { startReference } from '../../support/harness/reference.ts'
import { until } from '../../support/harness/until.ts'
import { startDelayingAuthorizer } from './delaying-authorizer.ts'
import { judge } from './judge.ts'
import { Sender } from './send.ts'
import { createTraces, users } from './traces.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, seed: { type: 'string', default: '1' } },
})

/** Number of seats of the server. It is so low that a small load occupies all seats. */
const seats = ['--max-requests-inflight=20', '--max-mutating-requests-inflight=10']
/** Timeout of requests. A request waits in a queue for at most a quarter of this time. */
const timeout = '--request-timeout=4s'
/** Number of objects. A list of all of them takes five seats. */
const OBJECTS = 500
const admin = 'admin-token'
const PAUSE_MS = 3_000

await using parts = new AsyncDisposableStack()
const authorizer = parts.use(await startDelayingAuthorizer())
const prepare = async (dir: string): Promise<readonly string[]> => {
  const [tokens, config] = [join(dir, 'users.csv'), join(dir, 'authorizer.json')]
  const rows = [...users].map(([name, groups]) => `${name},${name},${name},"${groups.join(',')}"`)
  await writeFile(tokens, `${admin},admin,admin,"system:masters"\n${rows.join('\n')}\n`)
  await writeFile(config, authorizer.kubeconfig)
  return [
    `--token-auth-file=${tokens}`,
    '--authorization-mode=Webhook',
    `--authorization-webhook-config-file=${config}`,
    '--authorization-webhook-version=v1',
    '--authorization-webhook-cache-authorized-ttl=0s',
    '--authorization-webhook-cache-unauthorized-ttl=0s',
  ]
}

type Server = { readonly sender: Sender; readonly levels: ReadonlyMap<string, string> }

async function start(
  launch: (options: ApiServerOptions) => Promise<ApiServerProcess>,
): Promise<Server> {
  const etcd = parts.use(await startEtcd())
  // Leave out the authorization modes of other tests. Repeated values of this flag are combined,
  // and RBAC would allow some requests without calling the webhook.
  const omit = ['authorization-mode']
  const options = { etcdUrl: etcd.clientUrl, args: [...seats, timeout], omit, prepare }
  {
    // Create the objects before the measured server starts. kube-apiserver counts objects when it
    // starts, but after that only once a minute.
    await using seeding = await launch(options)
    await seed(seeding)
  }
  const server = parts.use(await launch(options))
  const sender = parts.use(new Sender(server.url))
  await call(sender, '/api/v1/configmaps')
  return { sender, levels: await levelNames(sender) }
}

async function seed({ url }: ApiServerProcess): Promise<void> {
  using sender = new Sender(url)
  const path = '/api/v1/namespaces/default/configmaps'
  const names = ['one', ...Array.from({ length: OBJECTS - 1 }, (_, at) => `map-${at}`)]
  await until(
    async () => (await call(sender, '/api/v1/namespaces/default')).status === 200,
    'the namespace',
  )
  for (const name of names) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
    const { status, text } = await sender.call({ user: admin, method: 'POST', path, body })
    if (status !== 201) throw new Error(`${name} could not be created: ${status} ${text}`)
  }
}

const call = (sender: Sender, path: string) => sender.call({ user: admin, method: 'GET', path })

async function levelNames(sender: Sender): Promise<ReadonlyMap<string, string>> {
  const path = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'
  type Items = {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly uid: string }
    }[]
  }
  let found: Items['items'] = []
  await until(async () => {
    const list: Items = JSON.parse((await call(sender, path)).text)
    found = list.items
    return found.length === 8
  }, 'all levels')
  return new Map(found.map(({ metadata }) => [metadata.uid, metadata.name]))
}

/**
 * Waits until the server has just redistributed seats among the priority levels. Otherwise the
 * traces would start at different times of this period, and the levels would borrow different
 * numbers of seats.
 */
async function divided({ sender }: Server): Promise<void> {
  // Each redistribution updates this metric, which is the average demand. The value changes each
  // time, because the requests of this loop change the demand.
  const shown = async (): Promise<string> => {
    const { text } = await call(sender, '/metrics')
    return (
      /^apiserver_flowcontrol_demand_seats_average\{priority_level="exempt"\} (\S+)$/m.exec(
        text,
      )?.[1] ?? ''
    )
  }
  const before = await shown()
  while ((await shown()) === before) await sleep(20)
}

const ours = await start(startKeelson)
const theirs = await start(startReference)
const failed: string[] = []
for (const trace of createTraces(Number(values.seed)).filter(({ name }) =>
  name.includes(values.only),
)) {
  const [one, other] = await Promise.all(
    [ours, theirs].map(async (server) => {
      await divided(server)
      return server.sender.send(trace.arrivals)
    }),
  )
  const verdict = judge(one ?? [], other ?? [], { Keelson: ours.levels, reference: theirs.levels })
  console.log(
    `${verdict.faults.length === 0 ? 'same' : 'DIFFERS'}: ${trace.name} (${trace.arrivals.length} requests)`,
  )
  for (const line of verdict.lines)
    console.log(`  ${verdict.faults.includes(line) ? '!' : ' '} ${line}`)
  for (const fault of verdict.faults.filter((text) => !verdict.lines.includes(text)))
    console.log(`  ! ${fault}`)
  if (verdict.faults.length > 0) failed.push(trace.name)
  await sleep(PAUSE_MS)
}
console.log(failed.length === 0 ? 'all the same' : `${failed.length} differ: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
