/**
 * Records the spans of kube-apiserver for the requests in exercise.ts, into recorded.json.
 *
 *   node test/recorded/traces/record.ts      (then npm run format)
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../compat/client.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { startReceiver } from '../../integration/observe/receiver.ts'
import { exercise, tracingFlag } from './exercise.ts'

await using receiver = await startReceiver()
await using etcd = await startEtcd()
using tracing = tracingFlag(receiver.endpoint)
await using server = await startReference({ etcdUrl: etcd.clientUrl, args: [tracing.flag] })
using client = createClient({ server: server.url, token: server.token })
const traced = await exercise(client, receiver)
writeFileSync(join(import.meta.dirname, 'recorded.json'), `${JSON.stringify(traced, null, 2)}\n`)
