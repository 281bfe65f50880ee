/**
 * Records what the real kube-controller-manager writes into the status of policies on a
 * kube-apiserver: `node test/recorded/type-checking/record.ts`. Policies that kube-apiserver does
 * not accept are omitted from the recording and printed.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  numberOf,
  textOf,
} from '../../../src/api/object.ts'
import { startComponent } from '../../support/harness/component.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { type Kubectl, kubectlFor } from '../../support/harness/kubectl.ts'
import { startReference } from '../../support/harness/reference.ts'
import { cases, definition, policyOf } from './cases.ts'

const CHECKED_MS_MAX = 120_000
const POLL_MS = 500

await using etcd = await startEtcd()
await using server = await startReference({ etcdUrl: etcd.clientUrl })
await using kubectl = await kubectlFor(server)
await kubectl.out('create', '-f', await kubectl.file('definition.json', definition))
await kubectl.out('wait', '--for=condition=Established', 'crd/widgets.example.com')
const items = Object.entries(cases).map(([name, one]) => policyOf(name, one))
const list = { apiVersion: 'v1', kind: 'List', items }
const { err } = await kubectl.run('create', '-f', await kubectl.file('policies.json', list))
if (err !== '') console.error(err)
await using manager = await startComponent('kube-controller-manager', join(kubectl.dir, 'config'), [
  '--controllers=validatingadmissionpolicy-status-controller',
  '--leader-elect=false',
])
const recorded = Object.fromEntries(
  (await checked(kubectl)).map((policy) => [nameOf(policy), warningsOf(policy)]),
)
await writeFile(
  join(import.meta.dirname, 'recorded.json'),
  `${JSON.stringify(recorded, null, 1)}\n`,
)
console.log(
  `${Object.keys(recorded).length} policies; the controller restarted ${manager.restarts} times`,
)

/** Waits until the controller has checked all policies, and returns them. */
async function checked(client: Kubectl): Promise<readonly Fields[]> {
  const until = performance.now() + CHECKED_MS_MAX
  for (;;) {
    const answer: Json = JSON.parse(
      await client.out('get', 'validatingadmissionpolicies', '-o', 'json'),
    )
    const policies = itemsOf(isFields(answer) ? answer['items'] : undefined)
    if (policies.every(({ status }) => numberOf(fieldsOf(status)['observedGeneration']) > 0))
      return policies
    if (performance.now() > until)
      throw new Error('the controller has not checked all policies in time')
    await sleep(POLL_MS)
  }
}

function nameOf({ metadata }: Fields): string {
  return textOf(fieldsOf(metadata)['name'])
}

function warningsOf({ status }: Fields): Json {
  return itemsOf(fieldsOf(fieldsOf(status)['typeChecking'])['expressionWarnings'])
}
