/**
 * Compares the output of `kubectl get` and `kubectl describe` for every kind on Keelson and on
 * kube-apiserver, which share one etcd. The text must be equal except for ages. Prints the
 * differences and exits with 1 if there are any.
 *
 *   node test/clients/kubectl-get.ts
 */
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../support/harness/kubectl.ts'
import { startReference } from '../support/harness/reference.ts'
import { SoakClient } from '../chaos/soak/client.ts'
import { createSet, listables } from './every-kind.ts'

/** Matches ages, because the two outputs are created at different times. */
const age = /\b(?:\d+[smhdy])+\b|<invalid>/g
/**
 * Masks ages and sorts the lines, because kube-apiserver lists component statuses in random order.
 */
const masked = (text: string): string =>
  text.replace(age, 'AGE').replace(/ +/g, ' ').split('\n').toSorted().join('\n')

const forms = [['get'], ['get', '-o', 'wide', '--show-labels'], ['describe']] as const

async function main(): Promise<void> {
  await using etcd = await startEtcd()
  await using reference = await startReference({ etcdUrl: etcd.clientUrl })
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  using client = new SoakClient(keelson.url)
  for (const refused of await createSet(client, { name: 'shown', number: 13 }))
    console.log(`refused: ${refused}`)
  await using ours = await kubectlFor(keelson)
  await using theirs = await kubectlFor(reference)
  let same = 0
  let differing = 0
  for (const { id } of await listables(client)) {
    for (const [verb, ...form] of forms) {
      const args = [verb, id, '-A', ...form]
      const [own, other] = await Promise.all([shown(ours, args), shown(theirs, args)])
      if (own === other) same++
      else {
        differing++
        console.log(`kubectl ${args.join(' ')}\n${differences(own, other)}`)
      }
    }
  }
  console.log(`${same} the same, ${differing} differ`)
  if (differing > 0) process.exitCode = 1
}

async function shown(kubectl: Kubectl, args: readonly string[]): Promise<string> {
  const { out, err } = await kubectl.run(...args)
  return masked(`${out}${err}`)
}

function differences(own: string, other: string): string {
  const [mine, theirs] = [own.split('\n'), other.split('\n')]
  const extra = mine.filter((line) => !theirs.includes(line)).map((line) => `  Keelson:   ${line}`)
  const missing = theirs
    .filter((line) => !mine.includes(line))
    .map((line) => `  reference: ${line}`)
  return [...extra, ...missing].join('\n')
}

await main()
