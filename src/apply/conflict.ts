/** Conflicts between appliers and owners, in the words of upstream. */
import { applyConflict, type ApiError, type StatusCause } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import type { FieldSet } from './field-set.ts'
import type { Owner } from './managers.ts'
import { inOrder, printElement } from './path-element.ts'

/** `conflicts`: the owners, each with the fields that it would lose. */
export function conflictError(conflicts: readonly Owner[]): ApiError {
  const room: Room = { characters: PATHS_CHARACTERS_MAX }
  const byOwner = conflicts
    .map((owner) => ({ about: describe(owner), paths: pathsOf(owner.fields, room) }))
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

/** The characters of all paths together: a long key stands in the path of every field below it. */
const PATHS_CHARACTERS_MAX = 4 << 20

/** At each place what is owned there comes before what lies deeper. Those beyond the limit are left out. */
class Paths {
  readonly found: string[] = []
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  add({ children }: FieldSet, prefix: string): void {
    const sorted = inOrder(children)
    for (const [element, { isOwned }] of sorted) if (isOwned) this.#tell(prefix + printElement(element))
    for (const [element, below] of sorted) {
      if (this.#room.characters <= 0) return
      if (below.children.size > 0) this.add(below, prefix + printElement(element))
    }
  }

  #tell(path: string): void {
    if (this.#room.characters <= 0) return
    this.#room.characters -= path.length
    this.found.push(path)
  }
}

/** What is left of the limit. */
type Room = { characters: number }

function pathsOf(fields: FieldSet, room: Room): readonly string[] {
  const paths = new Paths(room)
  paths.add(fields, '')
  return paths.found
}
