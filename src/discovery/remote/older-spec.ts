/**
 * The OpenAPI 2.0 document of a remote server, taken apart: its paths and what they refer to. It is read in slices, a path or a definition at
 * a time.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { parseText } from '../../api/json-value.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { inSlices, type Steps } from '../../lib/slices.ts'

/** A path or a definition, which is decoded at once. */
const PART_CHARS_MAX = 1 << 20

export type OlderSpec = {
  readonly paths: ReadonlyMap<string, Fields>
  readonly definitions: ReadonlyMap<string, Fields>
  readonly parameters: ReadonlyMap<string, Fields>
  /** What else it says, as it stands there. */
  readonly rest: Fields
}

export const definitionPrefix = '#/definitions/'
export const parameterPrefix = '#/parameters/'

/** Fails if it is not a JSON object. */
export const readOlderSpec = (json: Buffer): Promise<OlderSpec> => inSlices(specSteps(json.toString()))

function* specSteps(text: string): Steps<OlderSpec> {
  const spec = {
    paths: new Map<string, Fields>(),
    definitions: new Map<string, Fields>(),
    parameters: new Map<string, Fields>(),
  }
  const rest = new Map<string, Json>()
  const scanner = new JsonScanner(text)
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    const name = scanner.readKey()
    const parts = name === 'paths' || name === 'definitions' || name === 'parameters' ? spec[name] : undefined
    if (parts === undefined || scanner.peekType() !== 'object') {
      rest.set(name, partOf(scanner))
      continue
    }
    for (let next = scanner.beginObject(); next; next = scanner.nextInObject()) {
      const key = scanner.readKey()
      const part = partOf(scanner)
      if (isFields(part)) parts.set(key, part)
      yield
    }
  }
  scanner.end()
  return { ...spec, rest: Object.fromEntries(rest) }
}

function partOf(scanner: JsonScanner): Json {
  scanner.peekType()
  const start = scanner.at
  scanner.skipValue()
  if (scanner.at - start > PART_CHARS_MAX) throw new Error(`a part has more than ${PART_CHARS_MAX} characters`)
  return parseText(scanner.text.slice(start, scanner.at))
}

/** Only these paths, and without the definitions that only the others need. One that nothing needs stays, as upstream. */
export const withPaths = (spec: OlderSpec, isKept: (path: string) => boolean): Promise<OlderSpec> =>
  inSlices(withPathsSteps(spec, isKept))

function* withPathsSteps(spec: OlderSpec, isKept: (path: string) => boolean): Steps<OlderSpec> {
  const paths = new Map([...spec.paths].filter(([path]) => isKept(path)))
  const before = yield* neededBy(spec.paths.values(), spec)
  const needed = yield* neededBy(paths.values(), spec)
  const definitions = new Map([...spec.definitions].filter(([name]) => needed.has(name) || !before.has(name)))
  return { ...spec, paths, definitions }
}

/** The names of the definitions that paths lead to. */
function* neededBy(paths: Iterable<Fields>, { definitions, parameters }: OlderSpec): Steps<Set<string>> {
  const found = new Set<string>()
  const shared = new Set<string>()
  const look = (ref: string): void => {
    if (ref.startsWith(definitionPrefix)) found.add(ref.slice(definitionPrefix.length))
    else if (ref.startsWith(parameterPrefix)) shared.add(ref.slice(parameterPrefix.length))
  }
  for (const path of paths) {
    eachRef(path, look)
    yield
  }
  for (const name of shared) eachRef(parameters.get(name), look)
  // Iteration over a Set includes entries that are added meanwhile.
  for (const name of found) {
    eachRef(definitions.get(name), look)
    yield
  }
  return found
}

function eachRef(value: Json | undefined, look: (ref: string) => void): void {
  if (Array.isArray(value)) for (const item of value) eachRef(item, look)
  else if (isFields(value))
    for (const [name, inner] of Object.entries(value)) {
      if (name === '$ref' && typeof inner === 'string') look(inner)
      else eachRef(inner, look)
    }
}

/** The same with other references. */
export function withRefs(value: Json, renamed: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item) => withRefs(item, renamed))
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner = null]): [string, Json] =>
      name === '$ref' && typeof inner === 'string'
        ? [name, renamed.get(inner) ?? inner]
        : [name, withRefs(inner, renamed)],
    ),
  )
}
