/** Parses the text of bootstrap-policy.ts into objects. */
import type { Gates } from '../../api/gates.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { rbacGroup } from './role.ts'

export type PolicyObject = { readonly resource: string; readonly object: KubeObject }

/**
 * Returns the roles and then the bindings, in the order in which they appear in the text. Lines
 * that depend on disabled feature gates or on another release are omitted.
 */
export function readPolicy(text: string, gates: Gates): PolicyObject[] {
  const paragraphs: string[][] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [content = '', conditions = ''] = line.split(' ? ')
    const isThere = isMet(conditions, gates)
    if (!line.startsWith(' ')) paragraphs.push(isThere ? [content] : [])
    else if (isThere && paragraphs.at(-1)?.length !== 0) paragraphs.at(-1)?.push(content.trim())
  }
  return paragraphs
    .filter(({ length }) => length > 0)
    .map(([head = '', ...lines]) => {
      const [kind = '', place = '', ...binding] = head.split(' ')
      const [name = '', namespace] = place.split('/').toReversed()
      const labels = lines.flatMap((line) => pairAfter('label ', line))
      const metadata = {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        labels: Object.fromEntries([['kubernetes.io/bootstrapping', 'rbac-defaults'], ...labels]),
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
      }
      const content = kind.endsWith('Binding') ? bindingOf(binding) : roleOf(lines)
      const object = { apiVersion: `${rbacGroup}/v1`, kind, metadata, ...content }
      return { resource: `${kind.toLowerCase()}s`, object }
    })
}

/**
 * Whether conditions such as `Gate,!Other,34-36` are met: `Gate` is on, `Other` is off, and the
 * release is between 34 and 36. In a range, the first or last release can be missing.
 */
const isMet = (conditions: string, { release, isOn }: Gates): boolean =>
  conditions === '' ||
  conditions.split(',').every((condition) => {
    const [, first, last] = /^(\d*)-(\d*)$/.exec(condition) ?? []
    if (first !== undefined) return release >= Number(first) && release <= Number(last || Infinity)
    return condition.startsWith('!') ? !isOn(condition.slice(1)) : isOn(condition)
  })

/**
 * Returns the key and value of a line that begins with `word`, such as `label key=value`. Returns
 * an empty list for any other line.
 */
function pairAfter(word: string, line: string): (readonly [string, string])[] {
  if (!line.startsWith(word)) return []
  const [key = '', value = ''] = line.slice(word.length).split('=')
  return [[key, value]]
}

function roleOf(lines: readonly string[]): Fields {
  const selected = lines.flatMap((line) => pairAfter('selects ', line))
  const rules = lines.filter((line) => line.includes(' | ')).map(ruleOf)
  if (selected.length === 0) return { rules }
  return {
    aggregationRule: {
      clusterRoleSelectors: selected.map((pair) => ({ matchLabels: Object.fromEntries([pair]) })),
    },
    rules: rules.length === 0 ? null : rules,
  }
}

function ruleOf(line: string): Fields {
  const [verbs = [], second = [], resources, resourceNames] = line
    .split(' | ')
    .map((column) => column.split(','))
  if (resources === undefined) return { verbs, nonResourceURLs: second }
  const apiGroups = second.map((group) => (group === '-' ? '' : group))
  return { verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) }
}

/** Parses the part of a binding that follows its name: `= Kind/role: Kind/subject …`. */
function bindingOf([, role = '', ...subjects]: readonly string[]): Fields {
  const [kind = '', name = ''] = role.replace(/:$/, '').split('/')
  return {
    roleRef: { apiGroup: rbacGroup, kind, name },
    ...(subjects.length === 0 ? {} : { subjects: subjects.map(subjectOf) }),
  }
}

function subjectOf(text: string): Fields {
  const [kind = '', ...place] = text.split('/')
  const [name = '', namespace = ''] = place.toReversed()
  return kind === 'ServiceAccount' ? { kind, name, namespace } : { apiGroup: rbacGroup, kind, name }
}
