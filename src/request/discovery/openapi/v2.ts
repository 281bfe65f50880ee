/**
 * OpenAPI 2.0: one document for all APIs. It has the same paths and definitions as v3, with the
 * limitations of v2. There are no defaults, and no other fields next to a reference. A value that
 * can have two types is published with at most one type. Shared parameters are in one place.
 */
import { type Fields, fieldsOf, isFields, type Json, textsOf } from '../../../api/object.ts'
import { printFast } from '../../../objects/codec/json.ts'
import { fieldTexts } from './bytes.ts'
import { type OpenApiDefinition, refPrefix } from './definitions.ts'
import { definition } from './fixed-schemas.ts'
import { anyText, type RequestBody, type OpenApiOperation, type PathItem } from './operations.ts'
import type { Parameter } from './parameters.ts'
import { codeText, type Info, kubernetesFields, securityScheme } from './v3.ts'

/** JSON of the paths, by path, and JSON of the definitions, by name. */
export type OlderTexts = {
  readonly paths: ReadonlyMap<string, string>
  readonly definitions: ReadonlyMap<string, string>
}

export class V2Printer {
  readonly #texts = new WeakMap<OpenApiDefinition, string>()
  /** Shared parameters that the serialized paths reference. */
  readonly #shared = new Map<string, Fields>()

  definition(made: OpenApiDefinition): string {
    const known = this.#texts.get(made)
    if (known !== undefined) return known
    const text = printFast(olderKind(made))
    this.#texts.set(made, text)
    return text
  }

  path({ parameters, operations }: PathItem): string {
    const entries = operations.map((one): [string, Json] => [one.method, this.#operation(one)])
    if (parameters.length > 0)
      entries.push(['parameters', parameters.map((one) => this.#parameter(one))])
    return JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))))
  }

  /** Returns the shared parameters that the serialized paths reference, as JSON. */
  parameters(): Map<string, string> {
    return new Map([...this.#shared].map(([name, fields]) => [name, JSON.stringify(fields)]))
  }

  /** Yields the document in pieces. */
  *print(
    info: Info,
    {
      paths,
      definitions,
      parameters,
    }: OlderTexts & { readonly parameters: ReadonlyMap<string, string> },
  ): Generator<string> {
    yield '{"definitions":'
    yield* fieldTexts(sorted(definitions))
    yield `,"info":${JSON.stringify(info)},"parameters":`
    yield* fieldTexts(sorted(parameters))
    yield ',"paths":'
    yield* fieldTexts(sorted(paths))
    yield ',"security":[{"BearerToken":[]}]'
    yield `,"securityDefinitions":${JSON.stringify({ BearerToken: securityScheme })},"swagger":"2.0"}`
  }

  #operation(operation: OpenApiOperation): Fields {
    const { id, description, parameters, body, answers, tag, produces, consumes } = operation
    const all = [
      ...(body === undefined ? [] : [this.#body(body)]),
      ...parameters.map((one) => this.#parameter(one)),
    ]
    return {
      ...(consumes.length === 0 ? {} : { consumes }),
      description,
      operationId: id,
      ...(all.length === 0 ? {} : { parameters: all }),
      produces,
      responses: {
        ...Object.fromEntries(
          answers.map(([code, name]) => [
            `${code}`,
            { description: codeText(code), schema: schemaOf(name) },
          ]),
        ),
        401: { description: codeText(401) },
      },
      schemes: ['https'],
      tags: [tag],
      ...kubernetesFields(operation),
    }
  }

  #parameter({ name, in: place, type, description, sharedName }: Parameter): Fields {
    const isRequired = place === 'path'
    const fields = {
      description,
      in: place,
      name,
      ...(isRequired ? { required: true } : {}),
      type,
      uniqueItems: true,
    }
    return sharedName === undefined ? fields : this.#share(sharedName, fields)
  }

  #body({ name, isRequired }: RequestBody): Fields {
    const fields = {
      in: 'body',
      name: 'body',
      ...(isRequired ? { required: true } : {}),
      schema: schemaOf(name),
    }
    const sharedName = sharedBodies.get(name)
    return sharedName === undefined ? fields : this.#share(sharedName, fields)
  }

  #share(name: string, fields: Fields): Fields {
    this.#shared.set(name, fields)
    return { $ref: `#/parameters/${name}` }
  }
}

function* sorted(texts: ReadonlyMap<string, string>): Generator<[string, string]> {
  for (const name of [...texts.keys()].toSorted()) yield [name, texts.get(name) ?? '']
}

const sharedBodies: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', 'body-2Y1dVQaQ'],
  [definition.patch, 'body-78PwaGsr'],
])

const olderPrefix = '#/definitions/'

const schemaOf = (name: string): Fields =>
  name === anyText ? { type: 'string' } : { $ref: `${olderPrefix}${name}` }

/**
 * Removes everything from a schema that older clients cannot read. This includes the types of
 * values that can be null or preserve unknown fields, because those clients would reject valid
 * objects.
 */
function olderSchema(schema: Fields): Fields {
  const { allOf, default: _, oneOf, anyOf: __, not: ___, nullable, ...rest } = schema
  const [only] = Array.isArray(allOf) ? allOf : []
  const { $ref } = fieldsOf(only)
  const fields = Object.entries({
    ...($ref === undefined ? {} : { $ref }),
    ...rest,
    required: stillRequired(schema),
  })
  if (oneOf !== undefined && rest['type'] === undefined) fields.push(['type', 'string'])
  const isUntyped = nullable === true || rest[openMark] === true
  const kept = isUntyped ? fields.filter(([name]) => !typing.has(name)) : fields
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined).map(olderField))
}

const openMark = 'x-kubernetes-preserve-unknown-fields'
const typing: ReadonlySet<string> = new Set(['type', 'items', 'properties'])

/**
 * Returns the names of the required fields. Fields that can be null are left out. For embedded
 * resources that preserve unknown fields, `kind` and `apiVersion` are also left out, because they
 * are implied.
 */
function stillRequired(schema: Fields): Json | undefined {
  const { required, properties, additionalProperties } = schema
  if (!Array.isArray(required)) return undefined
  if (isNullable(fieldsOf(additionalProperties))) return undefined
  const isOpenObject =
    schema[openMark] === true && schema['x-kubernetes-embedded-resource'] === true
  const implied = isOpenObject ? ['kind', 'apiVersion'] : []
  const left = textsOf(required).filter(
    (name) => !implied.includes(name) && !isNullable(fieldsOf(fieldsOf(properties)[name])),
  )
  return left.length === 0 ? undefined : left
}

const isNullable = ({ nullable }: Fields): boolean => nullable === true

function olderField([name, value]: [string, Json | undefined]): [string, Json | undefined] {
  if (name === '$ref' && typeof value === 'string')
    return [name, olderPrefix + value.slice(refPrefix.length)]
  if (name === 'properties' && isFields(value)) return [name, mapFields(value, olderSchema)]
  if ((name === 'items' || name === 'additionalProperties') && isFields(value))
    return [name, olderSchema(value)]
  return [name, value]
}

/**
 * Converts a definition. If a custom resource preserves unknown fields, its fields are not
 * described.
 */
function olderKind({ schema, isOpen = false }: OpenApiDefinition): Fields {
  if (schema[openMark] !== true && !isOpen) return olderSchema(schema)
  const { type, 'x-kubernetes-group-version-kind': kinds } = schema
  return { type, 'x-kubernetes-group-version-kind': kinds }
}

const mapFields = (fields: Fields, change: (value: Fields) => Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isFields(value) ? change(value) : value]),
  )
