/**
 * Merges the OpenAPI 2.0 document of a remote server into that of this server, by kube-apiserver's
 * rules. If a path already exists, it is not replaced. If a definition or parameter differs from an
 * existing one of the same name, the new one is renamed. Differences in descriptions are ignored.
 */
import { isFields, type Json, listOf } from '../../../api/object.ts'
import { parseText } from '../../../api/json-value.ts'
import { printFast, printSorted } from '../../../objects/codec/json.ts'
import type { Slices } from '../../../lib/scheduling/slices.ts'
import {
  definitionPrefix,
  type OlderSpec,
  parameterPrefix,
  withPaths,
  withRefs,
} from './older-spec.ts'

/** Serialized parts of the whole document, by name. */
export type OlderWhole = {
  readonly paths: Map<string, string>
  readonly definitions: Map<string, string>
  readonly parameters: Map<string, string>
}

const kindsField = 'x-kubernetes-group-version-kind'

/**
 * Merges a document. `whole` is changed only at the end, in one tick of the event loop. If the
 * merge fails, `whole` is unchanged.
 */
export async function mergeOlder(
  whole: OlderWhole,
  given: OlderSpec,
  slices: Slices,
): Promise<void> {
  const fresh = [...given.paths.keys()].filter((path) => !whole.paths.has(path))
  if (fresh.length === 0) return
  const isFresh = new Set(fresh)
  const spec =
    fresh.length === given.paths.size ? given : await withPaths(given, (path) => isFresh.has(path))
  const definitions = await newNames(whole.definitions, spec.definitions, slices)
  const parameters = await newNames(whole.parameters, spec.parameters, slices)
  const renamed = new Map([
    ...[...definitions].map(([name, to]): [string, string] => [
      definitionPrefix + name,
      definitionPrefix + to,
    ]),
    ...[...parameters].map(([name, to]): [string, string] => [
      parameterPrefix + name,
      parameterPrefix + to,
    ]),
  ])
  const print = async (parts: Definitions, names?: ReadonlyMap<string, string>): Promise<Texts> => {
    const texts = new Map<string, string>()
    for (const [name, { text, refs }] of parts) {
      const isSame = !refs.some((ref) => renamed.has(ref))
      texts.set(
        names?.get(name) ?? name,
        isSame ? text : printFast(withRefs(parseText(text), renamed)),
      )
      if (slices.isOver) await slices.turn()
    }
    return texts
  }
  const printed = {
    paths: await print(spec.paths),
    definitions: await print(spec.definitions, definitions),
    parameters: await print(spec.parameters, parameters),
  }
  const changed: [string, string][] = []
  for (const [name, text] of printed.definitions) {
    const known = whole.definitions.get(name)
    const both = known === undefined ? undefined : withKinds(known, text)
    if (both !== undefined) changed.push([name, both])
    if (slices.isOver) await slices.turn()
  }
  for (const [name, text] of printed.paths) whole.paths.set(name, text)
  for (const [name, text] of printed.definitions)
    if (!whole.definitions.has(name)) whole.definitions.set(name, text)
  for (const [name, text] of printed.parameters)
    if (!whole.parameters.has(name)) whole.parameters.set(name, text)
  for (const [name, text] of changed) whole.definitions.set(name, text)
}

type Texts = ReadonlyMap<string, string>
type Definitions = OlderSpec['definitions']

/**
 * Maximum number of different definitions with the same name. Real servers have far fewer
 * conflicts.
 */
const SAME_NAMES_MAX = 100

/**
 * Returns new names for parts whose names are already used for different parts: `name_v2`,
 * `name_v3` and so on.
 */
async function newNames(
  taken: Texts,
  parts: Definitions,
  slices: Slices,
): Promise<Map<string, string>> {
  const renamed = new Map<string, string>()
  const used = new Set<string>()
  for (const [name, { text }] of parts) {
    if (slices.isOver) await slices.turn()
    const known = taken.get(name)
    if (known === undefined || known === text) continue
    const meaning = meaningOf(parseText(text))
    const isSame = (other: string): boolean => meaningOf(parseText(other)) === meaning
    if (isSame(known)) continue
    for (let count = 2; ; count++) {
      if (count > SAME_NAMES_MAX)
        throw new Error(`more than ${SAME_NAMES_MAX} different definitions have the name ${name}`)
      const to = `${name}_v${count}`
      const other = taken.get(to)
      const isFree = other === undefined ? !used.has(to) && !parts.has(to) : isSame(other)
      if (slices.isOver) await slices.turn()
      if (!isFree) continue
      renamed.set(name, to)
      used.add(to)
      break
    }
  }
  return renamed
}

/**
 * Returns a string that is equal for equivalent parts. Descriptions and lists of kinds are left
 * out.
 */
function meaningOf(part: Json): string {
  if (!isFields(part)) return printSorted(part)
  const { [kindsField]: _, ...rest } = part
  return printSorted(withoutWords(rest))
}

/**
 * Removes descriptions. The value of a property named `description` is a schema, so such a property
 * is not removed.
 */
function withoutWords(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWords)
  if (!isFields(value)) return value
  const entries = Object.entries(value).filter(
    ([name, inner]) => name !== 'description' || typeof inner !== 'string',
  )
  return Object.fromEntries(
    entries.map(([name, inner = null]): [string, Json] => [name, withoutWords(inner)]),
  )
}

/**
 * Returns the known definition with the kinds of both definitions. Returns undefined if it already
 * has these kinds.
 */
function withKinds(known: string, given: string): string | undefined {
  const [one, other] = [parseText(known), parseText(given)]
  if (!isFields(one) || !isFields(other)) return undefined
  const kinds = listOf(one[kindsField])
  const texts = new Set(kinds.map(printSorted))
  const added = listOf(other[kindsField]).filter((kind) => !texts.has(printSorted(kind)))
  return added.length === 0 ? undefined : printFast({ ...one, [kindsField]: [...kinds, ...added] })
}
