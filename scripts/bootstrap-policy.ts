/**
 * Writes src/rbac/bootstrap-policy.ts: the roles and bindings that every cluster begins with, as the reference kube-apiserver shows them.
 * Run by hand when the pin changes, never at build; what it writes is reviewed and kept.
 *
 *   node scripts/bootstrap-policy.ts     writes (needs test/tools/install kube-apiserver)
 */
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { type Fields, fieldsOf, itemsOf, type Json, type KubeObject, textOf, textsOf } from '../src/api/object.ts'
import { startEtcd } from '../test/harness/etcd.ts'
import { startReference } from '../test/harness/reference.ts'

const file = join(import.meta.dirname, '..', 'src', 'rbac', 'bootstrap-policy.ts')

const header = `/**
 * The roles and bindings that every cluster begins with, as v1.33 has them. Written by scripts/bootstrap-policy.ts; read by
 * read-policy.ts, which knows what all of them have in common.
 *
 *   ClusterRole name, Role namespace/name                  what follows is its own
 *     label key=value, selects key=value                   a label; one of the labels that its aggregation rule selects by
 *     verbs | groups | resources | names                   a rule; - is the core group
 *     verbs | paths                                        a rule for paths
 *   ClusterRoleBinding name = Kind/role: Kind/subject …    a binding; accounts as ServiceAccount/namespace/name
 */
export const bootstrapPolicy = \``

await using etcd = await startEtcd()
await using server = await startReference({ etcdUrl: etcd.clientUrl })
const lines = [
  ...(await list('clusterroles')).flatMap((role) => roleLines('ClusterRole', role)),
  ...(await list('roles')).flatMap((role) => roleLines('Role', role)),
  ...(await list('clusterrolebindings')).map((binding) => bindingLine('ClusterRoleBinding', binding)),
  ...(await list('rolebindings')).map((binding) => bindingLine('RoleBinding', binding)),
]
writeFileSync(file, `${header}\n${lines.join('\n')}\n\`\n`)
console.log(`${lines.length} lines written to ${file}`)

async function list(plural: string): Promise<readonly KubeObject[]> {
  const body = await get(`/apis/rbac.authorization.k8s.io/v1/${plural}`)
  return itemsOf(fieldsOf(body)['items']).map(checked)
}

function get(path: string): Promise<Json> {
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

/** What the text does not say all of them have. */
function checked(object: Fields): KubeObject {
  const { name, namespace, labels, annotations } = fieldsOf(object['metadata'])
  const isUsual =
    JSON.stringify(annotations) === '{"rbac.authorization.kubernetes.io/autoupdate":"true"}' &&
    fieldsOf(labels)['kubernetes.io/bootstrapping'] === 'rbac-defaults'
  if (!isUsual) throw new Error(`${textOf(name)} has other metadata than the rest`)
  const metadata = {
    name: textOf(name),
    namespace: textOf(namespace),
    labels: Object.fromEntries(Object.entries(fieldsOf(labels)).map(([key, value]) => [key, textOf(value)])),
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
      Object.entries(fieldsOf(matchLabels)).map(([key, value]) => `  selects ${key}=${textOf(value)}`),
    ),
    ...itemsOf(role['rules']).map((rule) => `  ${ruleText(rule)}`),
  ]
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Fields): string {
  const groups = textsOf(apiGroups).map((group) => group || '-')
  const ofResources = groups.length === 0 ? [] : [groups, textsOf(resources), textsOf(resourceNames)]
  const columns = [textsOf(verbs), ...ofResources, textsOf(nonResourceURLs)].filter(({ length }) => length > 0)
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
