/**
 * The server against which the scenarios run: a running server, or a server that is started with
 * its own etcd.
 */
import { join } from 'node:path'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { ApiServerOptions, ApiServerProcess } from '../../support/harness/api-server.ts'
import { startComponent } from '../../support/harness/component.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { kubectlFor } from '../../support/harness/kubectl.ts'
import { releaseTool, startReference } from '../../support/harness/reference.ts'
import type { ClientOptions } from './client.ts'
import type { Companions } from './companions.ts'
import type { Options } from './options.ts'
import { releaseFlags } from './release-flags.ts'
import { baseRelease } from './release-recordings.ts'
import type { SetUp } from './set-ups.ts'
import { fill } from './template.ts'

/** A server. When it is disposed of, it stops all processes that it started. */
export type Target = ClientOptions & AsyncDisposable

/**
 * Opens the server. A server that is started here gets the configuration of the set-up; a running
 * server must already have this configuration.
 */
export async function openTarget(
  { server: choice, release }: Pick<Options, 'server' | 'release'>,
  {
    flags,
    since = {},
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
  const start = (options: ApiServerOptions): Promise<ApiServerProcess> =>
    choice.kind === 'keelson'
      ? startKeelsonOf(release, options)
      : startReference({ ...options, release })
  if (isRestarted) await (await start({ etcdUrl: etcd.clientUrl })).stop()
  const ownFlags = choice.kind === 'reference' ? referenceFlags : keelsonFlags
  const laterFlags = Object.entries(since).flatMap(([first, more]) =>
    release >= Number(first) ? more : [],
  )
  const allFlags = releaseFlags([...flags, ...laterFlags, ...ownFlags], release)
  const server = stack.use(
    await start({
      etcdUrl: etcd.clientUrl,
      omit,
      prepare: (dir) => companions.writeFiles(dir, allFlags),
      args: choice.args,
    }),
  )
  const { url, token } = server
  if (choice.kind === 'reference' && manager !== undefined) {
    const { dir } = stack.use(await kubectlFor(server))
    const args = releaseFlags(manager, release).map((flag) =>
      String(fill(flag, { dir: server.dir })),
    )
    const name = releaseTool('kube-controller-manager', release)
    stack.use(await startComponent(name, join(dir, 'config'), args))
  }
  if (isCompacted) await compact(etcd.clientUrl)
  const started = stack.move()
  return { server: url, token, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/**
 * Starts Keelson as this Kubernetes release, even if Keelson does not fully implement the release
 * yet.
 */
function startKeelsonOf(release: number, options: ApiServerOptions): Promise<ApiServerProcess> {
  if (release === baseRelease) return startKeelson(options)
  const args = [`--kubernetes=1.${release}`, ...(options.args ?? [])]
  return startKeelson({ ...options, args, env: { KEELSON_UNFINISHED_RELEASES: '1' } })
}

/** Compacts the history up to the current revision. */
async function compact(etcdUrl: string): Promise<void> {
  await using client = new EtcdClient({ endpoints: [etcdUrl] })
  const { revision } = await client.kv.head(Buffer.from('\0'))
  await client.kv.compact({ revision })
}
