/**
 * The server against which the scenarios run: a running server, or a server that is started with
 * its own etcd.
 */
import { join } from 'node:path'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { startComponent } from '../../support/harness/component.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { kubectlFor } from '../../support/harness/kubectl.ts'
import { startReference } from '../../support/harness/reference.ts'
import type { ClientOptions } from './client.ts'
import type { Companions } from './companions.ts'
import type { ServerChoice } from './options.ts'
import type { SetUp } from './set-ups.ts'
import { fill } from './template.ts'

/** A server. When it is disposed of, it stops all processes that it started. */
export type Target = ClientOptions & AsyncDisposable

/**
 * Opens the server. A server that is started here gets the configuration of the set-up; a running
 * server must already have this configuration.
 */
export async function openTarget(
  choice: ServerChoice,
  {
    flags,
    referenceFlags = [],
    keelsonFlags = [],
    manager,
    omit = [],
    isCompacted,
    isRestarted,
  }: SetUp,
  companions: Companions,
): Promise<Target> {
  if (choice.kind === 'running') {
    const { url, token, cert, key } = choice
    return { server: url, token, cert, key, [Symbol.asyncDispose]: async () => {} }
  }
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startEtcd())
  const start = choice.kind === 'keelson' ? startKeelson : startReference
  if (isRestarted) await (await start({ etcdUrl: etcd.clientUrl })).stop()
  const ownFlags = choice.kind === 'reference' ? referenceFlags : keelsonFlags
  const server = stack.use(
    await start({
      etcdUrl: etcd.clientUrl,
      omit,
      prepare: (dir) => companions.writeFiles(dir, [...flags, ...ownFlags]),
      args: choice.args,
    }),
  )
  const { url, token } = server
  if (choice.kind === 'reference' && manager !== undefined) {
    const { dir } = stack.use(await kubectlFor(server))
    const args = manager.map((flag) => String(fill(flag, { dir: server.dir })))
    stack.use(await startComponent('kube-controller-manager', join(dir, 'config'), args))
  }
  if (isCompacted) await compact(etcd.clientUrl)
  const started = stack.move()
  return { server: url, token, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/** Compacts the history up to the current revision. */
async function compact(etcdUrl: string): Promise<void> {
  await using client = new EtcdClient({ endpoints: [etcdUrl] })
  const { revision } = await client.kv.head(Buffer.from('\0'))
  await client.kv.compact({ revision })
}
