import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { failure, until } from './wait.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

test('the etcd client supports users, passwords and roles, and replaces tokens that etcd no longer accepts', async () => {
  // A token expires 2 s after its last use, so that this happens during the test.
  await using etcd = await startEtcd({ args: ['--auth-token-ttl', '2', '--bcrypt-cost', '4'] })
  const endpoints = [etcd.clientUrl]
  await using setup = new EtcdClient({ endpoints })
  // A client that has a user and a password also works before authentication is enabled in etcd.
  await using root = new EtcdClient({ endpoints, user: 'root', password: 'secret' })
  await root.kv.put({ key: bytes('a'), value: bytes('1') })

  await setup.auth.userAdd('root', 'secret')
  await setup.auth.roleAdd('root')
  await setup.auth.userGrantRole({ user: 'root', role: 'root' })
  await setup.auth.userAdd('reader', 'r')
  await setup.auth.roleAdd('reading')
  await setup.auth.roleGrantPermission('reading', {
    type: 'read',
    key: bytes('open/'),
    rangeEnd: bytes('open0'),
  })
  await setup.auth.userGrantRole({ user: 'reader', role: 'reading' })
  await setup.auth.authEnable()

  await root.kv.put({ key: bytes('open/a'), value: bytes('2') })
  const nobody = await failure(setup.kv.put({ key: bytes('a'), value: bytes('3') }))
  deepEqual([nobody.code, nobody.ambiguous], ['InvalidArgument', false])

  await using wrong = new EtcdClient({ endpoints, user: 'root', password: 'wrong' })
  equal((await failure(wrong.kv.range({ key: bytes('a') }))).code, 'InvalidArgument')

  await using reader = new EtcdClient({ endpoints, user: 'reader', password: 'r' })
  equal((await reader.kv.range({ key: bytes('open/a') })).kvs[0]?.value.toString(), '2')
  const denied = await failure(reader.kv.put({ key: bytes('open/a'), value: bytes('4') }))
  deepEqual([denied.code, denied.ambiguous], ['PermissionDenied', false])

  const reasons: string[] = []
  const stream = reader.watch.open({ onEnd: () => undefined })
  let created = 0
  const handler = {
    onCreated: () => {
      created++
    },
    onEvents: () => undefined,
    onCanceled: (end: { readonly reason: string }) => reasons.push(end.reason),
  }
  stream.create({ key: bytes('a') }, handler)
  stream.create({ key: bytes('open/a') }, handler)
  await until(() => created === 1 && reasons.length === 1, 'one watch denied, one created')
  ok(reasons[0]?.includes('permission denied'))
  stream.close()

  // A change of roles makes older tokens invalid. The client retries the write with a new token.
  await root.auth.roleAdd('another')
  await root.kv.put({ key: bytes('open/b'), value: bytes('5') })
  // Wait until the token has expired.
  await new Promise((resolve) => setTimeout(resolve, 4000))
  await Promise.all(
    [1, 2, 3].map((index) => root.kv.put({ key: bytes(`open/${index}`), value: bytes('6') })),
  )
  await root.auth.authDisable()
})
