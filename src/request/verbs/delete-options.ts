/** Reads DeleteOptions from the body or, if the body is empty, from the query parameters. */
import { ApiError, badRequest, bodyTooLarge, invalid, unclassified } from '../../api/errors.ts'
import { type FieldFault, invalidValue, notSupported } from '../../api/field-fault.ts'
import { fieldsOf, type Fields, isNumber, type Json } from '../../api/object.ts'
import type { ApiRequest } from '../../api/request.ts'
import { quote } from '../../api/quote.ts'
import { decodeStruct } from '../../objects/codec/decode.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { CborError, cborToJson } from '../../objects/codec/cbor/to-json.ts'
import { bodyForm } from '../../objects/codec/body-form.ts'
import { decodeObject, openEnvelope } from '../../objects/codec/protobuf/envelope.ts'
import { ProtobufError } from '../../objects/codec/protobuf/reader.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import { commonType } from '../../registry/types.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { WriteAccess } from './access.ts'
import type { DeletionOptions, Propagation } from '../../registry/deletion.ts'
import { parseBoolean, parseExactInteger } from './options.ts'
import { faultsOfRelease } from '../../registry/release-faults.ts'
import { dryRunFaults } from './write-options.ts'

export type DeleteOptions = DeletionOptions & {
  /** UID precondition. Undefined if there is none. */
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly isDryRun: boolean
  /**
   * Whether to delete an object that cannot be decoded. If true, the deletion of an object that can
   * be decoded fails.
   */
  readonly isUnsafe: boolean
}

export const unsafeOption = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const notWithUnsafe = [
  'dryRun',
  'propagationPolicy',
  'orphanDependents',
  'gracePeriodSeconds',
  'preconditions',
]

/**
 * Maximum length of the body. DeleteOptions are always small, and are decoded in one tick of the
 * event loop.
 */
const BODY_BYTES_MAX = 64 << 10

/**
 * The first release in which a body that cannot be decoded gets 400. Before, it gets 500 without a
 * reason.
 */
const BAD_REQUEST_SINCE = 35

const propagations: readonly Propagation[] = ['Foreground', 'Background', 'Orphan']

/**
 * Reads the options of a delete. Fails with Invalid if they contradict each other. Must be called
 * before the object is read.
 */
export async function readDeleteOptions(
  { http, context, resource }: Pick<ResourceRequest, 'http' | 'context' | 'resource'>,
  access: Pick<WriteAccess, 'convertYaml' | 'permissions'>,
): Promise<DeleteOptions> {
  const body = await context.readBody(http)
  if (body.length > BODY_BYTES_MAX) throw bodyTooLarge(BODY_BYTES_MAX)
  const fields =
    body.length > 0
      ? await fromBody(http, body, access).catch((error: unknown) => {
          throw undecodable(error, resource.release)
        })
      : fromQuery(http.query)
  if (body.length > 0) context.audited?.requestObject(undefined, () => printSent(fields))
  const allowsUnsafe = access.permissions.authorizeUnsafeDelete !== undefined
  return checkDeleteOptions(fields, resource.release, allowsUnsafe)
}

/**
 * Serializes the options for the audit log. kube-apiserver records the options in its internal
 * version, regardless of the version in the body.
 */
const printSent = (fields: Fields): string =>
  printOrdered({ ...fields, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' })

/** Validates decoded options. Fails with Invalid if an option is invalid. */
export function checkDeleteOptions(
  fields: Fields,
  release: number,
  allowsUnsafe = false,
): DeleteOptions {
  const { preconditions, orphanDependents, propagationPolicy, gracePeriodSeconds } = fields
  const dryRun = stringsOf(fields['dryRun'])
  const isUnsafe = allowsUnsafe && fields[unsafeOption] === true
  const faults = [
    ...propagationFaults(orphanDependents, propagationPolicy),
    ...dryRunFaults(dryRun),
    ...(isUnsafe ? unsafeFaults(fields) : []),
  ]
  if (faults.length > 0) {
    const kind = { group: 'meta.k8s.io', kind: 'DeleteOptions' }
    throw invalid(kind, '', faultsOfRelease(faults, release))
  }
  const { uid, resourceVersion } = fieldsOf(preconditions)
  return {
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    gracePeriodSeconds: isNumber(gracePeriodSeconds) ? gracePeriodSeconds : undefined,
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    propagation: propagations.find((one) => one === propagationPolicy),
    isDryRun: dryRun.length > 0,
    isUnsafe,
  }
}

const unsafeFaults = (fields: Fields): FieldFault[] =>
  notWithUnsafe
    .filter((name) =>
      name === 'dryRun' ? stringsOf(fields[name]).length > 0 : (fields[name] ?? null) !== null,
    )
    .map((name) => invalidValue(unsafeOption, true, `cannot be set together with .${name}`))

function undecodable(error: unknown, release: number): unknown {
  const isUnclassified = error instanceof ApiError && error.code === 500 && !error.reason
  return isUnclassified && release >= BAD_REQUEST_SINCE ? badRequest(error.message, error) : error
}

/**
 * Decodes the options from a body. If the body cannot be decoded, the error has no reason, unlike
 * the error of other verbs.
 */
async function fromBody(
  http: ApiRequest,
  body: Buffer,
  access: Pick<WriteAccess, 'convertYaml'>,
): Promise<Fields> {
  const form = bodyForm(http)
  if (form === 'protobuf') return fromProtobuf(body)
  const text = await textOf(body, form, access)
  if (text.trim() === 'null') return {}
  try {
    checkIsObject(text)
    const { kind = '', apiVersion = '' } = readHead(text)
    if (kind !== '' && kind !== 'DeleteOptions') throw unclassified(otherKind(kind, apiVersion))
    const { value, fault } = decodeStruct(text, commonType('meta/v1', 'DeleteOptions'))
    if (fault !== undefined) throw unclassified(fault)
    return value
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw unclassified(`couldn't get version/kind; json parse error: ${error.message}`, error)
  }
}

function fromProtobuf(body: Buffer): Fields {
  try {
    const envelope = openEnvelope(body)
    const { kind, apiVersion } = envelope
    if (kind !== '' && kind !== 'DeleteOptions') throw unclassified(otherKind(kind, apiVersion))
    return decodeObject(envelope, commonType('meta/v1', 'DeleteOptions'))
  } catch (error) {
    throw error instanceof ProtobufError ? unclassified(error.message, error) : error
  }
}

async function textOf(
  body: Buffer,
  form: 'json' | 'yaml' | 'cbor',
  { convertYaml }: Pick<WriteAccess, 'convertYaml'>,
): Promise<string> {
  if (form === 'json') return body.toString('utf8')
  try {
    return form === 'cbor' ? cborToJson(body) : (await convertYaml(body)).json.toString('utf8')
  } catch (error) {
    if (error instanceof CborError)
      throw unclassified(`unable to determine group/version/kind: ${error.message}`, error)
    throw error instanceof YamlError ? unclassified(error.message, error) : error
  }
}

const goTypeOfHead =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function checkIsObject(text: string): void {
  const scanner = new JsonScanner(text)
  const type = scanner.peekType()
  if (type === 'object') return
  scanner.skipValue()
  scanner.end()
  const why = `json: cannot unmarshal ${type} into Go value of type ${goTypeOfHead}`
  throw unclassified(`couldn't get version/kind; json parse error: ${why}`)
}

function readHead(text: string): { readonly kind?: string; readonly apiVersion?: string } {
  const { value, fault } = decodeStruct(text, commonType('meta/v1', 'TypeMeta'))
  if (fault !== undefined)
    throw unclassified(`couldn't get version/kind; json parse error: ${fault}`)
  const { kind, apiVersion } = value
  return {
    ...(typeof kind === 'string' ? { kind } : {}),
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
  }
}

/**
 * Kinds of options for other verbs. kube-apiserver's decoder also accepts them in the body of a
 * delete. They cause an error only when they are converted to DeleteOptions.
 */
const otherOptions: readonly string[] = [
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'GetOptions',
]
const scheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'

function otherKind(kind: string, apiVersion: string): string {
  const version = apiVersion === '' ? 'v1' : apiVersion
  if (otherOptions.includes(kind))
    return `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`
  return `no kind ${quote(kind)} is registered for version ${quote(version)} in scheme ${quote(scheme)}`
}

function fromQuery(query: URLSearchParams): Fields {
  if (query.size === 0) return {}
  const orphan = query.get('orphanDependents')
  const uid = query.get('uid') || undefined
  const resourceVersion = query.get('resourceVersion') || undefined
  const unsafe = query.get(unsafeOption)
  return {
    gracePeriodSeconds: parseExactInteger(query.get('gracePeriodSeconds')),
    // Unlike in a body, an empty uid or resourceVersion is not a precondition.
    preconditions:
      uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
    orphanDependents: orphan === null ? undefined : parseBoolean(orphan),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    dryRun: query.getAll('dryRun'),
    [unsafeOption]: unsafe === null ? undefined : parseBoolean(unsafe),
  }
}

const stringsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

function propagationFaults(
  orphanDependents: Json | undefined,
  policy: Json | undefined,
): FieldFault[] {
  if (typeof policy !== 'string') return []
  const faults: FieldFault[] = []
  if (typeof orphanDependents === 'boolean') {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    faults.push(invalidValue('propagationPolicy', policy, why))
  }
  if (!propagations.some((one) => one === policy)) {
    faults.push(notSupported('propagationPolicy', policy, [...propagations, 'nil']))
  }
  return faults
}
