/** Tests that the policy, the commands and the file of docs/admission.md do what the page says. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { kubectlFor } from '../support/harness/kubectl.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'admission.md'), 'utf8')
const blocks = (page.match(/(?:^ {4}.*\n|^\n(?= {4}))+/gm) ?? []).map((block) =>
  block.replaceAll(/^ {4}/gm, ''),
)
const blockWith = (text: string): string =>
  blocks.find((block) => block.includes(text)) ??
  assert.fail(`docs/admission.md has no block with ${text}`)

test('the policy of the page applies once it is created, and the file of the page configures plugins', {
  timeout: 300_000,
}, async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({
    etcdUrl: etcd.clientUrl,
    prepare: async (dir) => {
      const file = join(dir, 'admission.yaml')
      writeFileSync(file, blockWith('PodSecurityConfiguration'))
      return [`--admission-control-config-file=${file}`]
    },
  })
  await using kubectl = await kubectlFor(server)
  const [policy = ''] = blockWith('owners.yaml').split(/^kubectl .*\n/m)
  const file = await kubectl.file('owners.yaml', policy)
  await kubectl.out('apply', '-f', file)
  const create = blockWith('kubectl create deployment').trim().split(/\s+/).slice(1)
  const refused = await kubectl.run(...create)
  assert.match(refused.err, /denied request: label owner is missing: who answers for shop\?/)
  await kubectl.out('delete', '-f', file)
  // The command succeeds with a warning from PodSecurity.
  assert.equal((await kubectl.run(...create)).code, 0)
  const spec = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
  const pod = await kubectl.file('pod.json', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec,
  })
  const privileged = await kubectl.run('create', '-f', pod)
  assert.match(privileged.err, /violates PodSecurity "baseline:latest": privileged/)
})
