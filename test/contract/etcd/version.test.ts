/**
 * Tests members that run etcd versions with incorrect progress reports. Watches must not be opened
 * on them.
 */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Http2Server } from 'node:http2'
import { test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import { checkVersions } from '../../../src/storage/etcd-versions.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { until } from './wait.ts'

/** A member that responds to status requests only. */
class OldMember implements AsyncDisposable {
  readonly url: string
  readonly paths: string[] = []
  readonly #server: Http2Server

  constructor(port: number, version: string) {
    this.url = `http://127.0.0.1:${port}`
    const message = Buffer.concat([Buffer.from([0x12, version.length]), Buffer.from(version)]) // the version is field 2
    const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message])
    this.#server = createServer()
    this.#server.on('stream', (stream, headers) => {
      this.paths.push(headers[':path'] ?? '')
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      )
      stream.end(frame)
    })
    this.#server.listen(port, '127.0.0.1')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }
}

async function startOld(version: string): Promise<OldMember> {
  const [port = 0] = await freePorts(1)
  return new OldMember(port, version)
}

test('a watch stream with progress reports uses a member that sends correct reports, or fails with upgrade advice', async () => {
  await using old = await startOld('3.5.7')
  await using etcd = await startEtcd()
  await using both = new EtcdClient({ endpoints: [old.url, etcd.clientUrl] })
  const reported: number[] = []
  const stream = both.watch.open({
    onProgressAll: (revision) => reported.push(revision),
    onEnd: () => undefined,
  })
  const ignore = { onEvents: () => undefined, onCanceled: () => undefined }
  stream.create({ key: Buffer.from('a') }, { ...ignore, onCreated: () => stream.requestProgress() })
  await until(() => reported.length > 0, 'progress')
  stream.close()
  deepEqual(old.paths, ['/etcdserverpb.Maintenance/Status'])

  await using alone = new EtcdClient({ endpoints: [old.url] })
  const ended = Promise.withResolvers<string | undefined>()
  alone.watch.open({
    onProgressAll: () => undefined,
    onEnd: (error) => ended.resolve(error?.message),
  })
  match((await ended.promise) ?? '', /3\.5\.7.*upgrade it to 3\.5\.13 or newer/)
})

test('the version check passes if one member is usable, and otherwise fails with upgrade advice', async () => {
  await using old = await startOld('3.5.12')
  await using etcd = await startEtcd()
  const logged: string[] = []
  await rejects(
    checkVersions({ endpoints: [old.url] }, (_, message) => logged.push(message)),
    /etcd at .* has version 3\.5\.12, .*: upgrade it to 3\.5\.13 or newer/,
  )
  equal(logged.length, 1)
  await checkVersions({ endpoints: [old.url, etcd.clientUrl] }, silent)
  await checkVersions({ endpoints: ['http://127.0.0.1:1', etcd.clientUrl] }, silent)
  // If no member responds, the check passes. The first read then reports that etcd is unavailable.
  await checkVersions({ endpoints: ['http://127.0.0.1:1'] }, silent)
})
