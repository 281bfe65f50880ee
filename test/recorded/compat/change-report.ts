/**
 * Formats what differs between the recordings of a release and those of 1.33: one entry per field,
 * with its most frequent changes and a scenario that shows each. If the status of a step changes,
 * the rest of its response is not listed.
 */
import { type Change, valueAt } from './changes.ts'
import type { Json } from './json.ts'
import type { ChangedScenario } from './release-recordings.ts'

/** Maximum number of different changes that are listed for a field. */
const VARIANTS_MAX = 5
/** Maximum length of a listed value, in characters. */
const SHOWN_LENGTH_MAX = 120

type Variant = { readonly text: string; readonly ids: Set<string> }
type Field = { readonly ids: Set<string>; readonly variants: Map<string, Variant> }

export function formatChanges(changed: readonly ChangedScenario[]): string {
  const fields = new Map<string, Field>()
  for (const { id, base, changes } of changed)
    for (const { name, text } of changes.filter(isListed).map((change) => entryOf(base, change))) {
      const field: Field = fields.get(name) ?? { ids: new Set(), variants: new Map() }
      const variant = field.variants.get(text) ?? { text, ids: new Set() }
      variant.ids.add(id)
      field.ids.add(id)
      field.variants.set(text, variant)
      fields.set(name, field)
    }
  const entries = [...fields].toSorted(([, a], [, b]) => b.ids.size - a.ids.size)
  return entries.map(([name, field]) => formatField(name, field)).join('\n')
}

/**
 * Whether a change is listed. A change is left out if it is only a consequence of another change of
 * the same step, such as a different status.
 */
function isListed({ at }: Change, _: number, changes: readonly Change[]): boolean {
  const [, step = '', ...path] = at.split('/')
  const changesOther = (field: string): boolean =>
    changes.some((other) => other.at.startsWith(`/${step}/${field}`))
  if (path.join('/') !== 'status' && changes.some((other) => other.at === `/${step}/status`))
    return false
  return path.join('/') !== 'body/message' || !changesOther('body/details/causes')
}

function entryOf(base: Json, change: Change): { readonly name: string; readonly text: string } {
  return { name: fieldOf(change.at), text: textOf(base, change) }
}

function formatField(name: string, { ids, variants }: Field): string {
  const sorted = [...variants.values()].toSorted((a, b) => b.ids.size - a.ids.size)
  const lines = sorted
    .slice(0, VARIANTS_MAX)
    .map(({ text, ids: those }) => `  - ${those.size}, ${[...those][0]}: ${text}`)
  if (sorted.length > VARIANTS_MAX) lines.push(`  - ${sorted.length - VARIANTS_MAX} other changes`)
  return [`- \`${name}\`: ${ids.size} scenarios`, ...lines].join('\n')
}

/**
 * Returns the path of a field. The number of the step is removed, and positions in lists are
 * replaced by `*`.
 */
const fieldOf = (at: string): string =>
  at
    .split('/')
    .slice(2)
    .map((key) => (/^\d+$/.test(key) ? '*' : key))
    .join('.')

function textOf(base: Json, change: Change): string {
  const before = valueAt(base, change.at)
  if ('index' in change) {
    const removed = Array.isArray(before)
      ? before.slice(change.index, change.index + change.remove)
      : []
    return `${shown(removed)} → ${shown([...change.insert])}`
  }
  return `${shown(before)} → ${shown(change.value)}`
}

/** Returns a value as text. Long values are cut, so that the list stays readable. */
function shown(value: Json | undefined): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text
}
