/**
 * The OpenAPI 2.0 document of a remote server, split into its paths and the definitions and
 * parameters that they reference. All parts are JSON strings. The document is read in slices, one
 * path or definition at a time.
 */
import type { JsonScanner } from '../../../api/json-scanner.ts'
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import { printFast } from '../../../objects/codec/json.ts'
import { ownText } from '../../../lib/text/own-text.ts'
import { inSlices, type Steps } from '../../../lib/scheduling/slices.ts'
import { eachEntry, readFields, readPart } from '../../../api/bounded-json.ts'

/** Maximum number of paths, and of definitions. kube-apiserver has about 1,000 of each. */
const PARTS_MAX = 10_000

/** A path, a definition or a parameter. */
export type OlderPart = {
  /** The path, definition or parameter as JSON. */
  readonly text: string
  /** The references in the JSON to definitions and parameters. */
  readonly refs: readonly string[]
}

type OlderSection = ReadonlyMap<string, OlderPart>

export type OlderSpec = {
  readonly paths: OlderSection
  readonly definitions: OlderSection
  readonly parameters: OlderSection
  /** Other required fields as JSON, by name: `info`, `securityDefinitions`. */
  readonly rest: ReadonlyMap<string, string>
}

export const definitionPrefix = '#/definitions/'
export const parameterPrefix = '#/parameters/'

/** Reads an OpenAPI 2.0 document. Fails if it is not a JSON object. */
export const readOlderSpec = (json: Buffer): Promise<OlderSpec> =>
  inSlices(specSteps(json.toString()))

function* specSteps(text: string): Steps<OlderSpec> {
  const spec = {
    paths: new Map<string, OlderPart>(),
    definitions: new Map<string, OlderPart>(),
    parameters: new Map<string, OlderPart>(),
  }
  const rest = new Map<string, string>()
  // Names are substrings of the document. Copy them, so that the memory of the document can be
  // released.
  const into = (parts: Map<string, OlderPart>) => (scanner: JsonScanner) =>
    eachEntry(scanner, PARTS_MAX, (name, part) =>
      parts.set(ownText(name), { text: printFast(part), refs: refsOf(part) }),
    )
  const asText = (name: string) =>
    function* (scanner: JsonScanner): Steps<void> {
      rest.set(name, printFast(yield* readPart(scanner)))
    }
  yield* readFields(text, {
    paths: into(spec.paths),
    definitions: into(spec.definitions),
    parameters: into(spec.parameters),
    info: asText('info'),
    securityDefinitions: asText('securityDefinitions'),
  })
  return { ...spec, rest }
}

/** Returns the approximate memory used by a document, in characters. */
export function sizeOf({ paths, definitions, parameters }: OlderSpec): number {
  let size = 0
  for (const parts of [paths, definitions, parameters])
    for (const [name, { text, refs }] of parts)
      size += PART_CHARS + name.length + text.length + REF_CHARS * refs.length
  return size
}

/** Estimated overhead of an entry in a map or a list. */
const PART_CHARS = 200
const REF_CHARS = 50

/**
 * Returns the document reduced to the selected paths. Definitions that only other paths need are
 * removed. As in kube-apiserver, a definition that no path needs is retained.
 */
export const withPaths = (spec: OlderSpec, isKept: (path: string) => boolean): Promise<OlderSpec> =>
  inSlices(withPathsSteps(spec, isKept))

function* withPathsSteps(spec: OlderSpec, isKept: (path: string) => boolean): Steps<OlderSpec> {
  const paths = new Map([...spec.paths].filter(([path]) => isKept(path)))
  const before = yield* neededBy(spec.paths, spec)
  const needed = yield* neededBy(paths, spec)
  const definitions = new Map(
    [...spec.definitions].filter(([name]) => needed.has(name) || !before.has(name)),
  )
  return { ...spec, paths, definitions }
}

/** Returns the names of the definitions that the paths reference, directly or indirectly. */
function* neededBy(
  paths: OlderSection,
  { definitions, parameters }: OlderSpec,
): Steps<Set<string>> {
  const found = new Set<string>()
  const shared = new Set<string>()
  const look = ({ refs = [] }: Partial<OlderPart> = {}): void => {
    for (const ref of refs) {
      if (ref.startsWith(definitionPrefix)) found.add(ref.slice(definitionPrefix.length))
      else if (ref.startsWith(parameterPrefix)) shared.add(ref.slice(parameterPrefix.length))
    }
  }
  for (const path of paths.values()) {
    look(path)
    yield
  }
  for (const name of shared) look(parameters.get(name))
  // The loop also visits names that are added to the Set while it runs.
  for (const name of found) {
    look(definitions.get(name))
    yield
  }
  return found
}

function refsOf(part: Fields): string[] {
  const found = new Set<string>()
  eachRef(part, (ref) => found.add(ref))
  return [...found]
}

function eachRef(value: Json | undefined, look: (ref: string) => void): void {
  if (Array.isArray(value)) for (const item of value) eachRef(item, look)
  else if (isFields(value))
    for (const [name, inner] of Object.entries(value)) {
      if (name === '$ref' && typeof inner === 'string') look(inner)
      else eachRef(inner, look)
    }
}

/** Returns a copy of a JSON value in which references are renamed. */
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
