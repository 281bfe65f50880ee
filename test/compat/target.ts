/** The server that the scenarios run against: one that runs already, or one that is started for them on an etcd of its own. */
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import { startReference } from '../harness/reference.ts'
import type { ClientOptions } from './client.ts'
import type { ServerChoice } from './options.ts'

/** Ends what it started when it is disposed of. */
export type Target = ClientOptions & AsyncDisposable

export async function openTarget(choice: ServerChoice): Promise<Target> {
  if (choice.kind === 'running') {
    const { url, token, cert, key } = choice
    return { server: url, token, cert, key, [Symbol.asyncDispose]: async () => {} }
  }
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startEtcd())
  const start = choice.kind === 'keelson' ? startKeelson : startReference
  const { url, token } = stack.use(await start({ etcdUrl: etcd.clientUrl, args: choice.args }))
  const started = stack.move()
  return { server: url, token, [Symbol.asyncDispose]: () => started.disposeAsync() }
}
