/** The server that the scenarios run against: one that runs already, or one that is started for them on an etcd of its own. */
import { EtcdClient } from '../../src/etcd/client.ts'
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import { startReference } from '../harness/reference.ts'
import type { ClientOptions } from './client.ts'
import type { Companions } from './companions.ts'
import type { ServerChoice } from './options.ts'
import type { SetUp } from './set-ups.ts'

/** Ends what it started when it is disposed of. */
export type Target = ClientOptions & AsyncDisposable

/** A server that is started is set up so; one that runs has to be. */
export async function openTarget(
  choice: ServerChoice,
  { flags, referenceFlags = [], omit = [], isCompacted }: SetUp,
  companions: Companions,
): Promise<Target> {
  if (choice.kind === 'running') {
    const { url, token, cert, key } = choice
    return { server: url, token, cert, key, [Symbol.asyncDispose]: async () => {} }
  }
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startEtcd())
  const start = choice.kind === 'keelson' ? startKeelson : startReference
  const { url, token } = stack.use(
    await start({
      etcdUrl: etcd.clientUrl,
      omit,
      prepare: (dir) => companions.writeFiles(dir, [...flags, ...(choice.kind === 'reference' ? referenceFlags : [])]),
      args: choice.args,
    }),
  )
  if (isCompacted) await compact(etcd.clientUrl)
  const started = stack.move()
  return { server: url, token, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/** Its history reaches back to now only. */
async function compact(etcdUrl: string): Promise<void> {
  await using client = new EtcdClient({ endpoints: [etcdUrl] })
  const { revision } = await client.kv.head(Buffer.from('\0'))
  await client.kv.compact({ revision })
}
