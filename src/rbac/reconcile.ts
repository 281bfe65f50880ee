/**
 * What becomes of a role or a binding of the cluster itself that is there already: it gets what it lacks, and keeps what somebody
 * added. `rbac.authorization.kubernetes.io/autoupdate: "false"` leaves it as it is. A binding to another role is made anew, since
 * the role of a binding cannot change.
 */
import { type Fields, fieldsOf, itemsOf, type Json } from '../api/object.ts'
import { inSlices } from '../lib/slices.ts'
import { identityOf, isSame } from '../schema/equal.ts'
import { missingRights } from './covers.ts'
import { readRules } from './read-objects.ts'

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'

export type Reconciled =
  | { readonly operation: 'none' }
  | { readonly operation: 'update' | 'recreate'; readonly object: Fields }

const none: Reconciled = { operation: 'none' }

export async function reconcile(current: Fields, wanted: Fields): Promise<Reconciled> {
  if (fieldsOf(fieldsOf(current['metadata'])['annotations'])[autoUpdate] === 'false') return none
  const isBinding = 'roleRef' in wanted
  // Without the subjects that it had: they were given another role.
  if (isBinding && !isSame(current['roleRef'], wanted['roleRef'])) return { operation: 'recreate', object: wanted }
  const content = isBinding ? { subjects: allSubjects(current, wanted) } : await roleContent(current, wanted)
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
  return [...subjects, ...itemsOf(wanted['subjects']).filter((subject) => !known.has(identityOf(subject)))]
}

async function roleContent(current: Fields, wanted: Fields): Promise<Fields> {
  const { rights } = await inSlices(missingRights(readRules(current['rules']), readRules(wanted['rules'])))
  const lacking = rights.map((right) => Object.fromEntries(Object.entries(right).filter(([, list]) => list.length > 0)))
  return { rules: [...itemsOf(current['rules']), ...lacking], ...aggregation(current, wanted) }
}

/** One that is not to aggregate any more does not; otherwise selectors are added. */
function aggregation({ aggregationRule: own }: Fields, { aggregationRule: wanted }: Fields): Fields {
  if (wanted === undefined) return { aggregationRule: undefined }
  const selectors = itemsOf(fieldsOf(own)['clusterRoleSelectors'])
  const known = new Set(selectors.map(identityOf))
  const lacking = itemsOf(fieldsOf(wanted)['clusterRoleSelectors']).filter((one) => !known.has(identityOf(one)))
  return { aggregationRule: { ...fieldsOf(own), clusterRoleSelectors: [...selectors, ...lacking] } }
}
