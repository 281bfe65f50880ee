/**
 * Reconciles an existing default role or binding: adds missing rules, subjects, labels and
 * annotations, and keeps additions by users. Objects with the annotation
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` are not changed. A binding with another
 * roleRef is recreated, because a roleRef is immutable.
 */
import { type Fields, fieldsOf, itemsOf, type Json } from '../../api/object.ts'
import { inSlices } from '../../lib/scheduling/slices.ts'
import { identityOf, isSame } from '../../objects/schema/equal.ts'
import { missingRights } from './covers.ts'
import { readRules } from './read-objects.ts'

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'

export type ReconcileResult =
  | { readonly operation: 'none' }
  | { readonly operation: 'update' | 'recreate'; readonly object: Fields }

const none: ReconcileResult = { operation: 'none' }

export async function reconcile(current: Fields, wanted: Fields): Promise<ReconcileResult> {
  if (fieldsOf(fieldsOf(current['metadata'])['annotations'])[autoUpdate] === 'false') return none
  const isBinding = 'roleRef' in wanted
  // The recreated binding has only the default subjects, because the existing subjects were granted
  // a different role.
  if (isBinding && !isSame(current['roleRef'], wanted['roleRef']))
    return { operation: 'recreate', object: wanted }
  const content = isBinding
    ? { subjects: allSubjects(current, wanted) }
    : await roleContent(current, wanted)
  const metadata = merged(fieldsOf(current['metadata']), fieldsOf(wanted['metadata']))
  const object = { ...current, metadata, ...content }
  return isSame(object, current) ? none : { operation: 'update', object }
}

const merged = (own: Fields, wanted: Fields): Fields => ({
  ...own,
  labels: { ...fieldsOf(wanted['labels']), ...fieldsOf(own['labels']) },
  annotations: { ...fieldsOf(wanted['annotations']), ...fieldsOf(own['annotations']) },
})

function allSubjects(current: Fields, wanted: Fields): Json {
  const subjects = itemsOf(current['subjects'])
  const known = new Set(subjects.map(identityOf))
  return [
    ...subjects,
    ...itemsOf(wanted['subjects']).filter((subject) => !known.has(identityOf(subject))),
  ]
}

async function roleContent(current: Fields, wanted: Fields): Promise<Fields> {
  // Default roles are short, so the comparison needs no limits.
  const noLimits = { comparedMax: Infinity, missingMax: Infinity }
  const { rights } = await inSlices(
    missingRights([readRules(current['rules'])], readRules(wanted['rules']), noLimits),
  )
  const lacking = rights.map((right) =>
    Object.fromEntries(Object.entries(right).filter(([, list]) => list.length > 0)),
  )
  return { rules: [...itemsOf(current['rules']), ...lacking], ...aggregation(current, wanted) }
}

/**
 * Removes the aggregationRule if the default role has no aggregationRule. Otherwise adds missing
 * selectors.
 */
function aggregation(
  { aggregationRule: own }: Fields,
  { aggregationRule: wanted }: Fields,
): Fields {
  if (wanted === undefined) return { aggregationRule: undefined }
  const selectors = itemsOf(fieldsOf(own)['clusterRoleSelectors'])
  const known = new Set(selectors.map(identityOf))
  const lacking = itemsOf(fieldsOf(wanted)['clusterRoleSelectors']).filter(
    (one) => !known.has(identityOf(one)),
  )
  return { aggregationRule: { ...fieldsOf(own), clusterRoleSelectors: [...selectors, ...lacking] } }
}
