/** Removes duplicate ownerReferences, with a warning. */
import type { RequestContext } from '../../../api/context.ts'
import { fieldsOf, type Json, type KubeObject } from '../../../api/object.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import { eachItem } from '../../../lib/scheduling/parts.ts'

/**
 * Returns the object without duplicate owners. Duplicates are removed again after mutating
 * admission (`isMutated`), with a different warning.
 */
export function withoutDuplicateOwners(
  object: KubeObject,
  context: RequestContext,
  { isMutated = false } = {},
): KubeObject {
  const owners = object.metadata['ownerReferences']
  if (!Array.isArray(owners) || owners.length < 2) return object
  const { kept, repeated } = eachItem(
    'owner references',
    owners,
    newSearch,
    ({ seen, kept: others, repeated: found }, owner: Json) => {
      const form = formOf(owner)
      const { uid } = fieldsOf(owner)
      if (seen.has(form)) found.push(typeof uid === 'string' ? uid : '')
      else others.push(owner)
      seen.add(form)
      return true
    },
  )
  if (repeated.length === 0) return object
  const when = isMutated ? ' after mutating admission happens' : ''
  context.warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  )
  return { ...object, metadata: { ...object.metadata, ownerReferences: kept } }
}

type Search = { readonly seen: Set<string>; readonly kept: Json[]; readonly repeated: string[] }

const newSearch = (): Search => ({ seen: new Set(), kept: [], repeated: [] })

/** Returns a string that is equal for references with the same values in all fields. */
function formOf(owner: Json): string {
  const fields = fieldsOf(owner)
  return Object.keys(fields)
    .toSorted()
    .map((name) => `${name}=${printOrdered(fields[name] ?? null)}`)
    .join()
}
