/**
 * Serializes OpenAPI 3.0 documents as JSON. Most definitions occur in several documents, so each
 * definition is serialized only once.
 */
import type { Fields } from '../../../api/object.ts'
import { printFast } from '../../../objects/codec/json.ts'
import type { Slices } from '../../../lib/scheduling/slices.ts'
import { fieldTexts } from './bytes.ts'
import { type OpenApiDefinition, type DefinitionSource, refTo } from './definitions.ts'
import { anyText, definitionsOf, type OpenApiOperation, type PathItem } from './operations.ts'
import type { Parameter } from './parameters.ts'

export type Info = { readonly title: string; readonly version: string }

/** JSON of the parts of a document, by name. */
export type DocumentText = {
  readonly info: Info
  readonly paths: ReadonlyMap<string, string>
  readonly schemas: ReadonlyMap<string, string>
  /** Whether the document has a security scheme. */
  readonly isSecured: boolean
}

export class V3Printer {
  readonly #texts = new WeakMap<OpenApiDefinition, string>()

  path(item: PathItem): string {
    return JSON.stringify(pathFields(item))
  }

  definition(made: OpenApiDefinition): string {
    const known = this.#texts.get(made)
    if (known !== undefined) return known
    const text = printFast(made.schema)
    this.#texts.set(made, text)
    return text
  }
}

/** Returns the sorted names of all definitions that paths reference, directly or indirectly. */
export async function reachable(
  items: readonly PathItem[],
  definitions: DefinitionSource,
  slices: Slices,
): Promise<readonly string[]> {
  const found = definitionsOf(items)
  // The loop also visits names that are added to the Set while it runs.
  for (const name of found) {
    for (const used of definitions.get(name).uses) found.add(used)
    if (slices.isOver) await slices.turn()
  }
  return [...found].toSorted()
}

export const securityScheme = {
  description: 'A token in the Authorization header, after the word Bearer.',
  in: 'header',
  name: 'authorization',
  type: 'apiKey',
} as const

/** Yields the document in pieces. */
export function* printV3({ info, paths, schemas, isSecured }: DocumentText): Generator<string> {
  yield '{"components":{'
  if (schemas.size > 0) {
    yield '"schemas":'
    yield* fieldTexts(schemas)
  }
  if (isSecured) {
    if (schemas.size > 0) yield ','
    yield `"securitySchemes":${JSON.stringify({ BearerToken: securityScheme })}`
  }
  yield `},"info":${JSON.stringify(info)},"openapi":"3.0.0","paths":`
  yield* fieldTexts(paths)
  yield '}'
}

function pathFields({ parameters, operations }: PathItem): Fields {
  const entries = operations.map((one): [string, Fields | readonly Fields[]] => [
    one.method,
    operationFields(one),
  ])
  if (parameters.length > 0) entries.push(['parameters', parameters.map(parameterFields)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function operationFields(operation: OpenApiOperation): Fields {
  const { id, description, parameters, body, answers, tag, produces, consumes } = operation
  return {
    description,
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterFields) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: contentOf(consumes, body.name),
            ...(body.isRequired ? { required: true } : {}),
          },
        }),
    responses: {
      ...Object.fromEntries(
        answers.map(([code, name]) => [
          `${code}`,
          { content: contentOf(produces, name), description: codeText(code) },
        ]),
      ),
      401: { description: codeText(401) },
    },
    tags: [tag],
    ...kubernetesFields(operation),
  }
}

/** Returns the Kubernetes extensions of an operation. */
export function kubernetesFields({ action, kind }: OpenApiOperation): Fields {
  if (action === undefined || kind === undefined) return {}
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': {
      group: kind.group,
      kind: kind.kind,
      version: kind.version,
    },
  }
}

/** Returns the reason phrase of an HTTP status code. */
export function codeText(code: number): string {
  switch (code) {
    case 200:
      return 'OK'
    case 201:
      return 'Created'
    case 202:
      return 'Accepted'
    default:
      return 'Unauthorized'
  }
}

function contentOf(types: readonly string[], name: string): Fields {
  const schema = name === anyText ? { type: 'string' } : refTo(name)
  return Object.fromEntries(types.toSorted().map((type) => [type, { schema }]))
}

function parameterFields({ name, in: place, type, description }: Parameter): Fields {
  return {
    description,
    in: place,
    name,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }
}
