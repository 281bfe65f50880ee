/** Conflicts between appliers and owners, in the words of upstream. */
import { applyConflict, type ApiError, type StatusCause } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import type { FieldSet } from './field-set.ts'
import type { Owner } from './managers.ts'
import { compareElements, printElement } from './path-element.ts'

/** `conflicts`: the owners, each with the fields that it would lose. */
export function conflictError(conflicts: readonly Owner[]): ApiError {
  const byOwner = conflicts
    .map((owner) => ({ about: describe(owner), paths: pathsOf(owner.fields, '') }))
    .toSorted((one, other) => (one.about < other.about ? -1 : 1))
  const causes = byOwner.flatMap(({ about, paths }) =>
    paths.map((field): StatusCause => ({ reason: 'FieldManagerConflict', message: `conflict with ${about}`, field })),
  )
  const [only] = causes
  const text =
    causes.length === 1 && only !== undefined
      ? ` conflict: ${only.message}: ${only.field}`
      : ` conflicts: ${byOwner.map(listText).join('\n')}`
  return applyConflict(`Apply failed with ${causes.length}${text}`, causes)
}

const listText = ({ about, paths }: { readonly about: string; readonly paths: readonly string[] }): string =>
  [`conflicts with ${about}:`, ...paths.map((path) => `- ${path}`)].join('\n')

function describe({ manager, operation, apiVersion, subresource }: Owner): string {
  const part = subresource === '' ? '' : ` with subresource ${quote(subresource)}`
  return `${quote(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

/** At each place what is owned there comes before what lies deeper. */
function pathsOf({ children }: FieldSet, prefix: string): string[] {
  const sorted = [...children].toSorted(([one], [other]) => compareElements(one, other))
  const own = sorted.filter(([, { isOwned }]) => isOwned).map(([element]) => prefix + printElement(element))
  return [...own, ...sorted.flatMap(([element, below]) => pathsOf(below, prefix + printElement(element)))]
}
