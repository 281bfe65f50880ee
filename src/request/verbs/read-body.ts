/**
 * Decodes the body of a create or an update, in any supported format, to an object of the resource.
 */
import { emptyMetadata } from '../../api/zero-time.ts'
import { ApiError, badRequest } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import {
  type Body,
  cborBody,
  type DecodedBody,
  decodeBody,
  decodeProtobufBody,
  type Expected,
  type FieldValidation,
  summary,
} from '../../objects/codec/decode-body.ts'
import { bodyForm } from '../../objects/codec/body-form.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { printObject } from '../../objects/codec/object.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import { customSchemeName } from '../../registry/custom/custom-schema.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import { holdFields, holdValues } from './hold-values.ts'
import { inNamespace } from './identity.ts'
import { withoutDuplicateOwners } from './write/owner-references.ts'

/**
 * Decodes the object, and sets its namespace from the path. Warnings are added to the context.
 * Fails with a BadRequest error if the object cannot be decoded.
 */
export async function readObject(
  request: ResourceRequest,
  fieldValidation: FieldValidation,
  access: Pick<WriteAccess, 'convertYaml'>,
): Promise<KubeObject> {
  const { resource } = request
  const view = request.view
  try {
    return await readAs(request, view ?? resource, { fieldValidation, access })
  } catch (error) {
    const isUnreadable =
      error instanceof ApiError && error.message.includes(' cannot be handled as a ')
    if (view === undefined || !resource.isCustom || !isUnreadable) throw error
    throw badRequest(
      `no kind is registered for the type v1.${view.kind} in scheme ${quote(customSchemeName(resource.release))}`,
      error,
    )
  }
}

/**
 * Reads an object whose kind differs from the kind of the resource. For example, the bodies of
 * actions such as a Binding or an Eviction have their own kinds.
 */
export async function readAs(
  request: ResourceRequest,
  expected: Expected,
  {
    fieldValidation,
    access,
  }: {
    readonly fieldValidation: FieldValidation
    readonly access: Pick<WriteAccess, 'convertYaml'>
  },
): Promise<KubeObject> {
  const { context, http } = request
  const form = bodyForm(http)
  const bytes = await context.readBody(http)
  context.enter('decode')
  if (form === 'cbor') context.recordText(bytes.length * CBOR_EXPANSION)
  const body: Body =
    form === 'yaml'
      ? await fromYaml(bytes, request, access)
      : form === 'cbor'
        ? await fromCbor(bytes, request, expected)
        : { bytes }
  if (context.isLarge && form !== 'protobuf') await holdValues(request, body.bytes)
  const decode = (): DecodedBody =>
    form === 'protobuf'
      ? { object: decodeProtobufBody(bytes, expected, holdFields(request)), warnings: [] }
      : decodeBody(body, expected, fieldValidation)
  const { object, warnings, refusal } = context.isLarge ? await context.inParts(decode) : decode()
  for (const warning of warnings) context.warn(warning)
  if (refusal !== undefined) throw refusal
  context.audited?.requestObject(object.metadata, () =>
    printGiven(object, expected.shape, request.resource.release),
  )
  const place = (): KubeObject => withoutDuplicateOwners(inNamespace(object, request), context)
  return context.isLarge ? context.inParts(place) : place()
}

/**
 * Maximum length of the JSON for a CBOR body, as a multiple of the body's length. For example, the
 * JSON `null,` is one byte in CBOR.
 */
const CBOR_EXPANSION = 5

async function fromCbor(
  bytes: Buffer,
  { context }: ResourceRequest,
  expected: Expected,
): Promise<Body> {
  const convert = (): Body => cborBody(bytes, expected)
  return context.isLarge ? context.inParts(convert) : convert()
}

/** Serializes a decoded object for the audit log, in the format of kube-apiserver. */
function printGiven(object: KubeObject, shape: ObjectSchema, release: number): string | Buffer {
  if (shape.custom === undefined) return printObject(object, shape)
  return printOrdered({
    ...object,
    metadata: { ...object.metadata, ...emptyMetadata(release), ...object.metadata },
  })
}

async function fromYaml(
  bytes: Buffer,
  { resource, context }: ResourceRequest,
  { convertYaml }: Pick<WriteAccess, 'convertYaml'>,
): Promise<Body> {
  try {
    const { json, duplicates } = await convertYaml(bytes)
    context.recordText(json.length)
    return { bytes: json, yamlDuplicates: duplicates, sent: bytes }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const what = `the object provided is unrecognized (must be of type ${resource.kind})`
    throw badRequest(`${what}: ${error.message} (${summary(bytes)})`, error)
  }
}
