/**
 * Converts OpenAPI 2.0 documents to 3.0, for remote servers that support only 2.0. As in
 * kube-apiserver, the conversion is incomplete: references to shared parameters are left
 * unresolved.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  listOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { parseText } from '../../../api/json-value.ts'
import { printFast } from '../../../objects/codec/json.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { gather, fieldTexts } from '../openapi/bytes.ts'
import { definitionPrefix, type OlderSpec, parameterPrefix } from './older-spec.ts'

const methods: ReadonlySet<string> = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
])

/** Returns the converted document, and a hash with which clients can cache it. */
export async function convertOlder(
  spec: OlderSpec,
): Promise<{ readonly json: Buffer; readonly hash: string }> {
  const slices = new Slices()
  return gather(texts(spec), slices)
}

function* texts({ paths, definitions, rest }: OlderSpec): Generator<string> {
  yield '{"openapi":"3.0.0"'
  const info = rest.get('info')
  if (info !== undefined) yield `,"info":${info}`
  yield ',"paths":'
  yield* fieldTexts(printed(paths, pathFields))
  yield ',"components":{"schemas":'
  yield* fieldTexts(printed(definitions, schemaOf))
  const schemes = rest.get('securityDefinitions')
  if (schemes !== undefined) yield `,"securitySchemes":${schemes}`
  yield '}}'
}

function* printed(
  parts: OlderSpec['paths'],
  convert: (part: Fields) => Fields,
): Generator<[string, string]> {
  for (const name of [...parts.keys()].toSorted())
    yield [name, printFast(convert(fieldsOf(parseText(parts.get(name)?.text ?? '{}'))))]
}

function pathFields(path: Fields): Fields {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]): [string, Json | undefined] => {
      if (name === 'parameters')
        return [name, listOf(value).map((one) => parameterFields(fieldsOf(one)))]
      return [name, methods.has(name) ? operationFields(fieldsOf(value)) : value]
    }),
  )
}

function operationFields(operation: Fields): Fields {
  const { parameters, responses, consumes, produces, schemes: _, ...rest } = operation
  const all = listOf(parameters).map(fieldsOf)
  const body = all.find(isBody)
  const others = all.filter((one) => !isBody(one)).map(parameterFields)
  const schema = schemaOf(fieldsOf(body?.['schema']))
  return {
    ...rest,
    ...(others.length === 0 ? {} : { parameters: others }),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(consumes, schema) } }),
    responses: mapFields(fieldsOf(responses), (one) => responseFields(one, produces)),
  }
}

const isBody = ({ name, schema }: Fields): boolean => name === 'body' && isFields(schema)

const contentOf = (types: Json | undefined, schema: Fields): Fields =>
  Object.fromEntries(textsOf(types).map((type) => [type, { schema }]))

function responseFields({ schema, ...rest }: Fields, produces: Json | undefined): Fields {
  return isFields(schema) ? { ...rest, content: contentOf(produces, schemaOf(schema)) } : rest
}

function parameterFields(parameter: Fields): Fields {
  const { $ref, type, format, uniqueItems, schema, ...rest } = parameter
  if (typeof $ref === 'string')
    return { $ref: $ref.replace(parameterPrefix, '#/components/parameters/') }
  const made = isFields(schema)
    ? schemaOf(schema)
    : {
        type: textOf(type),
        ...(format === undefined ? {} : { format }),
        ...(uniqueItems === undefined ? {} : { uniqueItems }),
      }
  return { ...rest, schema: made }
}

/** Converts a schema. In 3.0, a reference has no other fields next to it. */
function schemaOf(schema: Fields): Fields {
  const { $ref, ...rest } = schema
  const fields = Object.fromEntries(Object.entries(rest).map(schemaField))
  if (typeof $ref !== 'string') return fields
  const to = { $ref: $ref.replace(definitionPrefix, '#/components/schemas/') }
  return Object.keys(fields).length === 0 ? to : { ...fields, allOf: [to] }
}

const nested: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'additionalItems'])

function schemaField([name, value]: [string, Json | undefined]): [string, Json | undefined] {
  if (name === 'properties') return [name, mapFields(fieldsOf(value), schemaOf)]
  return [name, nested.has(name) && isFields(value) ? schemaOf(value) : value]
}

const mapFields = (fields: Fields, change: (value: Fields) => Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isFields(value) ? change(value) : value]),
  )
