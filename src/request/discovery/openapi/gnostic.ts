/**
 * Encodes OpenAPI documents as protobuf, with the messages of gnostic
 * (github.com/google/gnostic-models). The input is JSON. kubectl requests both versions of OpenAPI
 * in this form.
 *
 * A field is a function that writes a value under a field number, and a message is a table of such
 * functions.
 */
import { type Fields, fieldsOf, isFields, isNumber, type Json } from '../../../api/object.ts'
import { parseJson } from '../../../api/json-value.ts'
import { printFast } from '../../../objects/codec/json.ts'
import { jsonToYaml } from '../../../objects/codec/yaml-print.ts'
import { BYTES, FIXED64, VARINT, ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'

/**
 * Writes a value under a field number. The writer works from the end to the start, so the last part
 * is written first.
 */
type Write = (value: Json, writer: ProtobufWriter, number: number) => void
type Rows = { readonly [name: string]: readonly [number: number, write: Write] }

const text: Write = (value, writer, number) => {
  writer.varint(writer.text(typeof value === 'string' ? value : printFast(value)))
  writer.tag(number, BYTES)
}

const flag: Write = (value, writer, number) => {
  writer.byte(value === true ? 1 : 0)
  writer.tag(number, VARINT)
}

const double: Write = (value, writer, number) => {
  writer.double(Number(value))
  writer.tag(number, FIXED64)
}

/**
 * Writes an integer. Any other value is written as 0, because the document can come from a remote
 * server.
 */
const integer: Write = (value, writer, number) => {
  const given = Number(value)
  writer.integer(Number.isInteger(given) ? given : 0)
  writer.tag(number, VARINT)
}

/** Writes any value as YAML. JSON would be valid YAML, but clients compare the string. */
const any: Write = (value, writer, number) =>
  writer.message(number, () => text(jsonToYaml(value), writer, 2))

const list =
  (write: Write): Write =>
  (value, writer, number) => {
    if (Array.isArray(value)) for (const item of value.toReversed()) write(item, writer, number)
  }

/** Writes a message that contains a single field. */
const within =
  (inner: number, write: Write): Write =>
  (value, writer, number) =>
    writer.message(number, () => write(value, writer, inner))

/** Writes a JSON object with arbitrary keys, as pairs of a name and a value. */
const named =
  (write: Write): Write =>
  (value, writer, number) => {
    for (const [name, item] of Object.entries(fieldsOf(value)).toReversed()) {
      if (item === undefined) continue
      writer.message(number, () => {
        write(item, writer, 2)
        text(name, writer, 1)
      })
    }
  }

const reference = message({ $ref: [1, text] }, 0)

/** Writes one of two messages: a reference, or the value itself. */
const orReference =
  (write: Write): Write =>
  (value, writer, number) => {
    const isReference = isFields(value) && value['$ref'] !== undefined
    writer.message(number, () =>
      isReference ? reference(value, writer, 2) : write(value, writer, 1),
    )
  }

/** Writes a schema, or a boolean that states whether any value is allowed. */
const orFlag =
  (write: Write): Write =>
  (value, writer, number) =>
    writer.message(number, () =>
      typeof value === 'boolean' ? flag(value, writer, 2) : write(value, writer, 1),
    )

/**
 * Writes a message. `extensions` is the field number for `x-…` extensions, each of which is a pair
 * of a name and a value.
 */
function message(rows: Rows, extensions: number): Write {
  return (value, writer, number) =>
    writer.message(number, () => writeFields(rows, extensions, fieldsOf(value), writer))
}

function writeFields(rows: Rows, extensions: number, fields: Fields, writer: ProtobufWriter): void {
  const others: [string, Json][] = []
  for (const [name, field] of Object.entries(fields).toReversed()) {
    if (field === undefined) continue
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined
    if (row !== undefined) row[1](field, writer, row[0])
    else if (name.startsWith('x-')) others.push([name, field])
  }
  if (extensions > 0) named(any)(Object.fromEntries(others.toReversed()), writer, extensions)
}

/**
 * Writes a default value of v3, which can be a number, a boolean or a string. An object or a list
 * is left out.
 */
const simple: Write = (value, writer, number) => {
  const [inner, write] = isNumber(value)
    ? ([1, double] as const)
    : typeof value === 'boolean'
      ? ([2, flag] as const)
      : ([3, text] as const)
  if (!isFields(value) && !Array.isArray(value))
    writer.message(number, () => write(value, writer, inner))
}

const schema3: Write = (value, writer, number) => ownSchema3(value, writer, number)
const schemaOrReference = orReference(schema3)
const ownSchema3 = message(
  {
    nullable: [1, flag],
    readOnly: [3, flag],
    writeOnly: [4, flag],
    example: [7, any],
    deprecated: [8, flag],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, list(text)],
    enum: [24, list(any)],
    type: [25, text],
    allOf: [26, list(schemaOrReference)],
    oneOf: [27, list(schemaOrReference)],
    anyOf: [28, list(schemaOrReference)],
    not: [29, schema3],
    items: [30, within(1, schemaOrReference)],
    properties: [31, within(1, named(schemaOrReference))],
    additionalProperties: [32, orFlag(schemaOrReference)],
    default: [33, simple],
    description: [34, text],
    format: [35, text],
  },
  36,
)

const content = within(1, named(message({ schema: [1, schemaOrReference] }, 5)))
const parameter3 = orReference(
  message(
    {
      name: [1, text],
      in: [2, text],
      description: [3, text],
      required: [4, flag],
      schema: [10, schemaOrReference],
    },
    14,
  ),
)
const response3 = orReference(message({ description: [1, text], content: [3, content] }, 5))
const operation3 = message(
  {
    tags: [1, list(text)],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, list(parameter3)],
    requestBody: [
      7,
      orReference(
        message({ description: [1, text], content: [2, content], required: [3, flag] }, 4),
      ),
    ],
    responses: [8, within(2, named(response3))],
  },
  13,
)
const pathItem3 = message(
  {
    get: [4, operation3],
    put: [5, operation3],
    post: [6, operation3],
    delete: [7, operation3],
    options: [8, operation3],
    head: [9, operation3],
    patch: [10, operation3],
    parameters: [13, list(parameter3)],
  },
  14,
)
const securityScheme = orReference(
  message({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] }, 9),
)

const schema2: Write = (value, writer, number) => ownSchema2(value, writer, number)
const ownSchema2 = message(
  {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, list(text)],
    enum: [20, list(any)],
    additionalProperties: [21, orFlag(schema2)],
    type: [22, within(1, text)],
    items: [23, within(1, schema2)],
    allOf: [24, list(schema2)],
    properties: [25, within(1, named(schema2))],
    example: [30, any],
  },
  31,
)

/**
 * Query parameters have one field that path parameters do not have, so the numbers of later fields
 * differ.
 */
const inQuery = message(
  {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  },
  23,
)
const inPath = message(
  {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  },
  22,
)
const inBody = message(
  {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, schema2],
  },
  6,
)
const parameter2: Write = (value, writer, number) => {
  const place = fieldsOf(value)['in']
  writer.message(number, () => {
    if (place === 'body') inBody(value, writer, 1)
    else
      writer.message(2, () =>
        place === 'path' ? inPath(value, writer, 4) : inQuery(value, writer, 3),
      )
  })
}
const parameterItem2 = orReference(parameter2)
const operation2 = message(
  {
    tags: [1, list(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, list(text)],
    consumes: [7, list(text)],
    parameters: [8, list(parameterItem2)],
    responses: [
      9,
      within(
        1,
        named(within(1, message({ description: [1, text], schema: [2, within(1, schema2)] }, 5))),
      ),
    ],
    schemes: [10, list(text)],
  },
  13,
)
const pathItem2 = message(
  {
    get: [2, operation2],
    put: [3, operation2],
    post: [4, operation2],
    delete: [5, operation2],
    options: [6, operation2],
    head: [7, operation2],
    patch: [8, operation2],
    parameters: [9, list(parameterItem2)],
  },
  10,
)
const apiKey = message(
  { type: [1, text], name: [2, text], in: [3, text], description: [4, text] },
  5,
)

export async function encodeV3(json: Buffer): Promise<Buffer> {
  const { openapi, info, paths, components } = fieldsOf(parseJson(json))
  const { schemas, securitySchemes } = fieldsOf(components)
  const slices = new Slices()
  return joined([
    small(openapi, text, 1),
    small(info, message({ title: [1, text], version: [6, text] }, 7), 2),
    ...framed(4, await large(paths, pathItem3, { number: 1, slices })),
    ...framed(5, [
      ...framed(1, await large(schemas, schemaOrReference, { number: 1, slices })),
      small(securitySchemes, within(1, named(securityScheme)), 7),
    ]),
  ])
}

export async function encodeV2(json: Buffer): Promise<Buffer> {
  const { swagger, info, paths, definitions, parameters, security, securityDefinitions } = fieldsOf(
    parseJson(json),
  )
  const slices = new Slices()
  return joined([
    small(swagger, text, 1),
    small(info, message({ title: [1, text], version: [2, text] }, 7), 2),
    ...framed(8, await large(paths, pathItem2, { number: 2, slices })),
    ...framed(9, await large(definitions, schema2, { number: 1, slices })),
    ...framed(10, await large(parameters, parameter2, { number: 1, slices })),
    small(security, list(within(1, named(within(1, list(text))))), 12),
    small(securityDefinitions, within(1, named(within(2, apiKey))), 13),
  ])
}

function small(value: Json | undefined, write: Write, number: number): Buffer {
  const writer = new ProtobufWriter()
  if (value !== undefined) write(value, writer, number)
  return writer.take()
}

/**
 * Encodes pairs of a name and a value in slices, so that other requests are served between them.
 */
async function large(
  value: Json | undefined,
  write: Write,
  { number, slices }: { readonly number: number; readonly slices: Slices },
): Promise<Buffer[]> {
  const parts: Buffer[] = []
  const pair = named(write)
  for (const [name, item] of Object.entries(fieldsOf(value))) {
    parts.push(small({ [name]: item }, pair, number))
    if (slices.isOver) await slices.turn()
  }
  return parts
}

/**
 * Encodes the parts as one message under a field number. Returns an empty list if there are no
 * parts.
 */
function framed(number: number, parts: readonly Buffer[]): readonly Buffer[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length === 0) return []
  const writer = new ProtobufWriter()
  writer.varint(length)
  writer.tag(number, BYTES)
  return [writer.take(), ...parts]
}

const joined = (parts: readonly Buffer[]): Buffer => Buffer.concat(parts)
