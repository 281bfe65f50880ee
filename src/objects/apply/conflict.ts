/**
 * Creates the error for an apply that would change fields of other managers. Its messages are those
 * of kube-apiserver.
 */
import { applyConflict, type ApiError, type StatusCause } from '../../api/errors.ts'
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'
import { quote } from '../../api/quote.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import type { FieldSet } from './field-set.ts'
import { identityOf, type Owner } from './managers.ts'
import { inOrder, printElement } from './path-element.ts'

/**
 * Returns the Conflict error. `conflicts` contains, for each manager, the fields that it would no
 * longer own.
 */
export function conflictError(conflicts: readonly Owner[]): ApiError {
  const reported = new BoundedTexts(FAULTS_CHARACTERS_MAX)
  const byOwner = conflicts
    .toSorted((one, other) => (identityOf(one) < identityOf(other) ? -1 : 1))
    .map((owner) => ({ about: describe(owner), paths: pathsOf(owner.fields, reported) }))
  const causes = byOwner.flatMap(({ about, paths }) =>
    paths.map(
      (field): StatusCause => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${about}`,
        field,
      }),
    ),
  )
  const [only] = causes
  const text =
    causes.length === 1 && only !== undefined
      ? ` conflict: ${only.message}: ${only.field}`
      : ` conflicts: ${byOwner.map(listText).join('\n')}`
  return applyConflict(`Apply failed with ${causes.length}${text}`, causes)
}

const listText = ({
  about,
  paths,
}: {
  readonly about: string
  readonly paths: readonly string[]
}): string => [`conflicts with ${about}:`, ...paths.map((path) => `- ${path}`)].join('\n')

function describe({ manager, operation, apiVersion, subresource }: Owner): string {
  const part = subresource === '' ? '' : ` with subresource ${quote(subresource)}`
  return `${quote(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

/**
 * Adds the paths of all fields in a set to `paths`. At each level, the fields in the set come
 * first, followed by the fields below them.
 */
function addPaths({ children }: FieldSet, prefix: string, paths: BoundedTexts): void {
  const sorted = inOrder(children)
  for (const [element, { isOwned }] of sorted)
    if (isOwned) paths.add(() => prefix + printElement(element))
  for (const [element, below] of sorted) {
    if (paths.isFull) return
    if (below.children.size > 0) addPaths(below, prefix + printElement(element), paths)
  }
}

/**
 * Returns the paths of one manager's fields, and adds them to `paths`. The size limit of `paths`
 * applies to all managers together.
 */
function pathsOf(fields: FieldSet, paths: BoundedTexts): readonly string[] {
  const before = paths.all.length
  addPaths(fields, '', paths)
  return paths.all.slice(before)
}
