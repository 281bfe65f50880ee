/**
 * Writes src/access/rbac/bootstrap-policy.ts: the roles and bindings that every new cluster has,
 * read from a real kube-apiserver. Run by hand when the pinned version changes, not at build time;
 * the output is reviewed and committed.
 *
 *   node scripts/bootstrap-policy.ts     needs test/support/tools/install kube-apiserver
 */
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../src/api/object.ts'
import type { ApiServerProcess } from '../test/support/harness/api-server.ts'
import { startEtcd } from '../test/support/harness/etcd.ts'
import { startReference } from '../test/support/harness/reference.ts'

const file = join(import.meta.dirname, '..', 'src', 'access', 'rbac', 'bootstrap-policy.ts')

const header = `/**
 * The roles and bindings that every new cluster has, as in Kubernetes v1.33. Written by
 * scripts/bootstrap-policy.ts and parsed by read-policy.ts, which adds what all of them have in
 * common.
 *
 *    ClusterRole name, Role namespace/name   begins a role, which the indented lines describe
 *      label key=value                       a label of the role
 *      selects key=value                     a label that its aggregation rule selects
 *      verbs | groups | resources | names    a rule; - is the core group
 *      verbs | paths                         a rule for paths
 *    ClusterRoleBinding name = Kind/role: Kind/subject …
 *                                            a binding; ServiceAccount/namespace/name is an account
 *    … ? Gate,!Other                         the line applies only if Gate is on and Other is off;
 *                                            on the first line of an object, for the whole object
 */
export const bootstrapPolicy = \``

/**
 * The feature gates that affect roles, and whether they are on by default. `with` is another gate
 * that must be on.
 */
const probes: readonly { readonly gate: string; readonly isOn: boolean; readonly with?: string }[] =
  [
    { gate: 'DynamicResourceAllocation', isOn: false },
    { gate: 'DRADeviceTaints', isOn: false, with: 'DynamicResourceAllocation' },
    { gate: 'VolumeAttributesClass', isOn: false },
    { gate: 'ClusterTrustBundle', isOn: false },
    { gate: 'StorageVersionMigrator', isOn: false },
    { gate: 'ComponentFlagz', isOn: false },
    { gate: 'ComponentStatusz', isOn: false },
    { gate: 'KubeletServiceAccountTokenForCredentialProviders', isOn: false },
    { gate: 'KubeletFineGrainedAuthz', isOn: true },
    { gate: 'MultiCIDRServiceAllocator', isOn: true },
    { gate: 'SELinuxChangePolicy', isOn: true },
  ]

/**
 * A line that describes a part of an object, and the feature gates that it depends on. A gate with
 * the prefix `!` must be off. A policy maps the first line of each object to all lines of the
 * object.
 */
type Line = { readonly text: string; readonly gates: readonly string[] }
type Policy = Map<string, Line[]>

const recorded = new Map<string, Policy>()
const base = await record([])
const merged: Policy = new Map([...base].map(([head, own]) => [head, [...own]]))
for (const { gate, isOn, with: other } of probes) {
  const besides = other === undefined ? [] : [`${other}=true`]
  const [before, after] = [await record(besides), await record([...besides, `${gate}=${!isOn}`])]
  const [off, on] = isOn ? [after, before] : [before, after]
  markDifferences({ gates: other === undefined ? [gate] : [other, gate], off, on })
}
const kinds = ['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding']
const lines = [...merged]
  .toSorted(([one], [other]) => kindAt(one) - kindAt(other))
  .flatMap(([, own]) => own)
  .map(({ text, gates }) => (gates.length === 0 ? text : `${text} ? ${gates.join()}`))
writeFileSync(file, `${header}\n${lines.join('\n')}\n\`\n`)
console.log(`${base.size} objects, ${lines.length} lines written to ${file}`)

function kindAt(head: string): number {
  return kinds.indexOf(head.slice(0, head.indexOf(' ')))
}

/**
 * Adds gates to the lines that only one of two policies contains. Lines that only `on` contains
 * require all `gates`. Lines that only `off` contains require that the last of the `gates` is off
 * and the others are on.
 */
function markDifferences({
  gates,
  off,
  on,
}: {
  gates: readonly string[]
  off: Policy
  on: Policy
}): void {
  const negated = [...gates.slice(0, -1), `!${gates.at(-1)}`]
  for (const head of new Set([...off.keys(), ...on.keys()])) {
    markOnly(head, { from: on.get(head), without: off.get(head), gates })
    markOnly(head, { from: off.get(head), without: on.get(head), gates: negated })
  }
}

type Marking = {
  readonly from: readonly Line[] | undefined
  readonly without: readonly Line[] | undefined
  readonly gates: readonly string[]
}

function markOnly(head: string, { from = [], without = [], gates }: Marking): void {
  const known = merged.get(head) ?? []
  merged.set(head, known)
  let at = 0
  for (const { text } of from) {
    const found = known.findIndex((line) => line.text === text)
    const isOnlyHere = !without.some((line) => line.text === text)
    if (found === -1) known.splice(at, 0, { text, gates })
    else if (isOnlyHere && base.get(head)?.some((line) => line.text === text))
      known[found] = { text, gates }
    at = (found === -1 ? at : found) + 1
  }
}

async function record(gates: readonly string[]): Promise<Policy> {
  const key = gates.join()
  const known = recorded.get(key)
  if (known !== undefined) return known
  await using etcd = await startEtcd()
  const args = gates.length === 0 ? [] : [`--feature-gates=${key}`, '--runtime-config=api/all=true']
  await using server = await startReference({ etcdUrl: etcd.clientUrl, args })
  const policy: Policy = new Map()
  const put = (texts: readonly string[]): void => {
    const [head = ''] = texts
    policy.set(
      head,
      texts.map((text) => ({ text, gates: [] })),
    )
  }
  for (const role of await list(server, 'clusterroles')) put(roleLines('ClusterRole', role))
  for (const role of await list(server, 'roles')) put(roleLines('Role', role))
  for (const binding of await list(server, 'clusterrolebindings'))
    put([bindingLine('ClusterRoleBinding', binding)])
  for (const binding of await list(server, 'rolebindings'))
    put([bindingLine('RoleBinding', binding)])
  recorded.set(key, policy)
  return policy
}

async function list(server: ApiServerProcess, plural: string): Promise<readonly KubeObject[]> {
  const body = await get(server, `/apis/rbac.authorization.k8s.io/v1/${plural}`)
  return itemsOf(fieldsOf(body)['items']).map(checked)
}

function get(server: ApiServerProcess, path: string): Promise<Json> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}` }
    request(`${server.url}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())))
    })
      .on('error', reject)
      .end()
  })
}

/**
 * Checks that an object has the metadata that all objects share, because the file does not contain
 * it.
 */
function checked(object: Fields): KubeObject {
  const { name, namespace, labels, annotations } = fieldsOf(object['metadata'])
  const isUsual =
    JSON.stringify(annotations) === '{"rbac.authorization.kubernetes.io/autoupdate":"true"}' &&
    fieldsOf(labels)['kubernetes.io/bootstrapping'] === 'rbac-defaults'
  if (!isUsual)
    throw new Error(`${textOf(name)} does not have the annotations and labels of the others`)
  const metadata = {
    name: textOf(name),
    namespace: textOf(namespace),
    labels: Object.fromEntries(
      Object.entries(fieldsOf(labels)).map(([key, value]) => [key, textOf(value)]),
    ),
  }
  return { ...object, apiVersion: '', kind: '', metadata }
}

function roleLines(kind: string, role: KubeObject): string[] {
  const { labels = {} } = role.metadata
  const own = Object.entries(labels).filter(([key]) => key !== 'kubernetes.io/bootstrapping')
  const selectors = itemsOf(fieldsOf(role['aggregationRule'])['clusterRoleSelectors'])
  return [
    `${kind} ${placeOf(role)}`,
    ...own.map(([key, value]) => `  label ${key}=${value}`),
    ...selectors.flatMap(({ matchLabels }) =>
      Object.entries(fieldsOf(matchLabels)).map(
        ([key, value]) => `  selects ${key}=${textOf(value)}`,
      ),
    ),
    ...itemsOf(role['rules']).map((rule) => `  ${ruleText(rule)}`),
  ]
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Fields): string {
  const groups = textsOf(apiGroups).map((group) => group || '-')
  const ofResources =
    groups.length === 0 ? [] : [groups, textsOf(resources), textsOf(resourceNames)]
  const columns = [textsOf(verbs), ...ofResources, textsOf(nonResourceURLs)].filter(
    ({ length }) => length > 0,
  )
  return columns.map((column) => column.join(',')).join(' | ')
}

function bindingLine(kind: string, binding: KubeObject): string {
  const { kind: roleKind, name } = fieldsOf(binding['roleRef'])
  const subjects = itemsOf(binding['subjects']).map((subject) =>
    [subject['kind'], subject['namespace'], subject['name']].map(textOf).filter(Boolean).join('/'),
  )
  return `${kind} ${placeOf(binding)} = ${textOf(roleKind)}/${textOf(name)}: ${subjects.join(' ')}`.trimEnd()
}

function placeOf({ metadata: { namespace = '', name = '' } }: KubeObject): string {
  return namespace === '' ? name : `${namespace}/${name}`
}
