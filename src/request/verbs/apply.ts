/**
 * Server-side apply. The client sends the fields that it wants to own. If it owned a field before
 * and does not send it, the field is removed, unless it has other owners. All other fields remain
 * unchanged.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { type Application, type ApplyResult, applyOver } from '../../objects/apply/apply.ts'
import { Differences, type Versions } from '../../objects/apply/differences.ts'
import { annotationsAfter, isLastApplier } from '../../objects/apply/last-applied.ts'
import type { Owners, Writer } from '../../objects/apply/managers.ts'
import { mergeTypeOfObjects } from '../../objects/apply/object-merge-type.ts'
import type { StructMerge } from '../../objects/apply/merge-type.ts'
import type { Convert } from '../../objects/apply/prune-across.ts'
import { recordUpdate } from '../../objects/apply/record.ts'
import {
  formatFaults,
  validateApplied,
  validateStored,
  validateTyped,
} from '../../objects/apply/validate.ts'
import { storedWire } from '../../objects/apply/wire.ts'
import { inParts, once } from '../../lib/scheduling/parts.ts'
import { badRequest, conflict, notFound, unclassified } from '../../api/errors.ts'
import {
  type Fields,
  fieldsOf,
  type KubeObject,
  textOf,
  withManagedFields,
} from '../../api/object.ts'
import { decodePatched } from '../../objects/codec/decode-body.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { RestoreError, restoreStruct } from '../../objects/patch/restore.ts'
import { apiVersionOf, type Resource, type View } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import {
  askWebhook,
  fittingIn,
  otherVersion,
  UnknownVersionError,
  versionsOf,
  wireIn,
} from './owner-versions.ts'
import { emptyObject, emptyWire, ignoredAt, type Tracking, trackingOf, writerOf } from './owners.ts'
import { type AppliedBody, type ApplyPayload, readApplied } from './read-applied.ts'
import { type Change, mayCreateAt, type Write } from './write/write.ts'
import type { PatchOptions } from './write-options.ts'

/**
 * Manager that is recorded for all fields of an object that had no managedFields before its first
 * apply.
 */
const firstManager = 'before-first-apply'

type ApplyContext = Pick<Write, 'access'> & { readonly options: PatchOptions }

/**
 * Reads the body of an apply and returns the change of the object. The object is created if it does
 * not exist.
 */
export async function readApply(
  request: ResourceRequest,
  body: ApplyPayload,
  writing: ApplyContext,
): Promise<Change> {
  const { resource, name, subresource, context } = request
  const applied = await readApplied(body, writing.access, request)
  context.recordText(applied.textBytes)
  const expected = request.view ?? resource
  return async (current, stored): Promise<KubeObject> => {
    if (current === undefined && subresource !== '' && !mayCreateAt(request))
      throw notFound(resource, name)
    context.enter('apply')
    checkApplied(applied.value, expected)
    const uid = textOf(fieldsOf(applied.value['metadata'])['uid'])
    const object = await applyTo(current, {
      request,
      expected,
      applied: applied.value,
      stored,
      writing,
    })
    reportDuplicates(applied, request, writing.options)
    if (current === undefined && uid !== '') {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
      throw conflict(resource, name, why)
    }
    return object
  }
}

type ApplyTo = {
  readonly request: ResourceRequest
  /**
   * The resource or subresource in the path. The applied configuration must have its kind and type.
   */
  readonly expected: Resource | View
  readonly applied: Fields
  readonly stored: KubeObject | undefined
  readonly writing: ApplyContext
}

async function applyTo(current: KubeObject | undefined, applying: ApplyTo): Promise<KubeObject> {
  const { request, expected, applied, writing } = applying
  const { context } = request
  const { options, access } = writing
  const slices = context.isLarge ? context.slices : undefined
  const read = (): ApplyInput => readInput(current, applying)
  const input = slices === undefined ? read() : await inParts(read, slices)
  refuseMisfits(input, applying)
  const { type, live, tracking } = input
  const writer: Writer = { ...writerOf(request, options), operation: 'Apply' }
  const state: ApplyState = { current, input, writer, applying }
  const begin = (): Owners => firstOwners(state)
  const owners =
    tracking.owners.size > 0
      ? tracking.owners
      : slices === undefined
        ? begin()
        : await inParts(begin, slices)
  const { result, owners: left } = await orUnclassified({
    writer,
    type,
    live,
    applied,
    owners,
    force: options.force,
    ignored: ignoredAt(request),
    now: access.now(),
    slices,
    typeIn: typesOfOwners(state),
    ...(request.view !== undefined || access.versions.convertTo !== undefined
      ? {}
      : { convert: convertIn(request, writing) }),
    versions: (after) => versionsWith(after, state),
  })
  const why = request.view?.refusesApply
  if (why !== undefined && result !== undefined) {
    throw unclassified(
      `failed to convert new object (${nameOf(applied, expected)}) to proper version: ${why}`,
    )
  }
  const managedFields =
    slices === undefined
      ? tracking.finish(left)
      : await inParts(() => tracking.finish(left), slices)
  if (current !== undefined && result === undefined) {
    return withManagedFields(withLastApplied(current, applied, writer), managedFields)
  }
  const make = (): KubeObject =>
    objectOf(result ?? live, { applied, expected, live, current, isDefaulted: true })
  const object = slices === undefined ? make() : await inParts(make, slices)
  return withManagedFields(withLastApplied(object, applied, writer), managedFields)
}

/** State of an apply after its input has been read. */
type ApplyState = {
  readonly current: KubeObject | undefined
  readonly input: ApplyInput
  readonly writer: Writer
  readonly applying: ApplyTo
}

/** Input of an apply, with the errors that were found in it. */
type ApplyInput = {
  readonly type: StructMerge
  /** The object to which the configuration is applied, in the form that clients receive. */
  readonly live: Fields
  readonly tracking: Tracking
  /**
   * Validation errors of the stored object. `faults` has the validation errors of the applied
   * configuration.
   */
  readonly misfits: readonly string[]
  readonly faults: readonly string[]
}

function readInput(
  current: KubeObject | undefined,
  { request, expected, applied, stored }: ApplyTo,
): ApplyInput {
  const { struct } = expected.shape
  const type = mergeTypeOfObjects(struct)
  const live = current === undefined ? emptyWire(struct) : storedWire(current, struct)
  const tracking = once('tracking', () => trackingOf(request, stored))
  const validateLive =
    request.resource.isCustom && request.view === undefined ? validateTyped : validateStored
  return {
    type,
    live,
    tracking,
    misfits: validateLive(live, type),
    faults: validateApplied(applied, type),
  }
}

/**
 * Fails if the stored object or the applied configuration does not match the type, or if the path
 * does not support apply.
 */
function refuseMisfits(
  { live, tracking, misfits, faults }: ApplyInput,
  { request, expected, applied }: ApplyTo,
): void {
  if (misfits.length > 0 && tracking.owners.size === 0) {
    const what = `failed to convert new object (${nameOf(live, expected)}) to smd typed`
    throw unclassified(
      `failed to create manager for existing fields: ${what}: ${formatFaults(misfits)}`,
    )
  }
  if (faults.length > 0) {
    throw unclassified(
      `failed to create typed patch object (${nameOf(applied, expected)}): ${formatFaults(faults)}`,
    )
  }
  if (misfits.length > 0) {
    throw unclassified(
      `failed to create typed live object (${nameOf(live, expected)}): ${formatFaults(misfits)}`,
    )
  }
  const why = request.view?.refusesApply
  if (why !== undefined && tracking.owners.size === 0) {
    const what = `failed to convert live object (/; ${apiVersionOf(expected)}, Kind=${expected.kind}) to proper version`
    throw unclassified(`failed to create manager for existing fields: ${what}: ${why}`)
  }
}

/**
 * Returns a function that returns the type of the object in the version of a field manager. The
 * type for each version is looked up only once.
 */
function typesOfOwners({
  current,
  input,
  writer,
  applying: { request, writing },
}: ApplyState): Application['typeIn'] {
  const { inVersion, convertTo } = writing.access.versions
  const types = new Map<string, StructMerge | undefined>([[writer.apiVersion, input.type]])
  return (apiVersion) =>
    once('type of owner', () => {
      if (types.has(apiVersion)) return types.get(apiVersion)
      const other = otherVersion(request, inVersion, apiVersion)
      // `before` throws if the object cannot be converted to this version. It is called only for
      // this check. If a webhook converts the objects, `versionsWith` later calls the webhook
      // instead.
      if (convertTo === undefined && current !== undefined) other?.before(current)
      types.set(apiVersion, other?.type)
      return other?.type
    })
}

/**
 * Converts the object before and after the apply to the versions of its field managers. If the
 * resource has a conversion webhook, the webhook is called for all versions first.
 */
async function versionsWith(
  after: Fields,
  { current, input, writer, applying }: ApplyState,
): Promise<(apiVersion: string) => Versions | undefined> {
  const { request, expected, applied, writing } = applying
  const { type, live, tracking } = input
  const { versions } = writing.access
  const before = current ?? emptyObject
  const objects = {
    before: () => before,
    after: () => objectOf(after, { applied, expected, live, current, isDefaulted: false }),
  }
  const asking = askWebhook(request, versions, { owners: tracking.owners, objects })
  const asked = asking instanceof Promise ? await asking : asking
  const others = versionsOf(request, versions, {
    ...objects,
    asked,
    wires: { before: live, after },
  })
  return (apiVersion) =>
    apiVersion === writer.apiVersion ? { type, before: live, after } : others(apiVersion)
}

/**
 * Returns the conversion between versions of a kind. If there is no webhook, the versions of a
 * custom resource differ only in the schema that objects must match.
 */
function convertIn(request: ResourceRequest, { access }: ApplyContext): Convert {
  const { resource } = request
  const inVersion = (apiVersion: string): Resource =>
    apiVersion === apiVersionOf(resource)
      ? resource
      : (access.versions.inVersion(apiVersion) ?? resource)
  return (fields, { from, to }, step) => {
    if (from === to) return fields
    if (resource.isCustom) {
      return fittingIn(
        { ...fields, apiVersion: to },
        inVersion(to),
        `failed to prune fields: ${step}`,
      )
    }
    const { shape, kind } = inVersion(from)
    const { value } = restoreStruct(fields, shape.struct)
    const object = { ...value, kind, apiVersion: from, metadata: fieldsOf(value['metadata']) }
    return fittingIn(
      wireIn(object, shape, inVersion(to)),
      inVersion(to),
      `failed to prune fields: ${step}`,
    )
  }
}

async function orUnclassified(application: Application): Promise<ApplyResult> {
  try {
    return await applyOver(application)
  } catch (error) {
    throw error instanceof UnknownVersionError ? unclassified(error.message, error) : error
  }
}

/**
 * Returns the field manager that is recorded for the fields that existed before the first apply.
 */
function firstOwners({ input, writer, applying }: ApplyState): Owners {
  const { request, expected, writing } = applying
  const { type, live } = input
  const versions = { type, before: emptyWire(expected.shape.struct), after: live }
  const differences = new Differences(versions, ignoredAt(request))
  const first: Writer = { ...writer, manager: firstManager, operation: 'Update' }
  return recordUpdate(new Map(), { writer: first, now: writing.access.now(), differences })
}

/**
 * Fails with BadRequest if the applied configuration has the wrong kind or version, or has
 * managedFields.
 */
function checkApplied(applied: Fields, expected: Resource | View): void {
  const given = `${textOf(applied['apiVersion'])} ${textOf(applied['kind'])}`
  if (given !== `${apiVersionOf(expected)} ${expected.kind}`) {
    throw badRequest(`invalid object type: ${gvkOf(applied)}`)
  }
  const { managedFields } = fieldsOf(applied['metadata'])
  if (managedFields !== undefined && managedFields !== null)
    throw badRequest('metadata.managedFields must be nil')
}

/**
 * Formats a kind as in kube-apiserver, for example `apps/v1, Kind=Deployment`. Group, version and
 * kind are empty if the apiVersion is malformed.
 */
function gvkOf(applied: Fields): string {
  const apiVersion = textOf(applied['apiVersion'])
  const parts = apiVersion.split('/')
  if (parts.length > 2) return '/, Kind='
  const kind = cutText(textOf(applied['kind']))
  return `${parts.length === 1 ? '/' : ''}${cutText(apiVersion)}, Kind=${kind}`
}

function nameOf(applied: Fields, expected: Resource | View): string {
  const { namespace, name } = fieldsOf(applied['metadata'])
  return `${cutText(textOf(namespace))}/${cutText(textOf(name))}; ${gvkOf({ apiVersion: apiVersionOf(expected), kind: expected.kind })}`
}

type Making = {
  readonly applied: Fields
  readonly expected: Resource | View
  /**
   * The object to which the configuration was applied, decoded (`current`) and in the form that
   * clients receive (`live`).
   */
  readonly current: KubeObject | undefined
  readonly live: Fields
  /**
   * Whether to set defaults. False for an object that is converted to the API versions that other
   * field managers used, because built-in kinds get no defaults in those versions.
   */
  readonly isDefaulted: boolean
}

/**
 * Converts fields that match the schema to an object. The fields have the form that clients
 * receive.
 */
function objectOf(
  wire: Fields,
  { applied, expected, current, live, isDefaulted }: Making,
): KubeObject {
  const { kind, shape } = expected
  const apiVersion = apiVersionOf(expected)
  const refuse = (fault: string): Error => {
    const why = `unable to convert unstructured object to ${gvkOf({ apiVersion, kind })}: ${fault}`
    return unclassified(
      `failed to convert new object (${nameOf(applied, expected)}) to proper version: ${why}`,
    )
  }
  if (shape.custom !== undefined) {
    const said = { ...wire, kind, apiVersion, metadata: withEmpty(fieldsOf(wire['metadata'])) }
    const text = once('text of applied object', () => printOrdered(said))
    const decoded = decodePatched(text, expected, 'apply')
    if ('fault' in decoded) throw refuse(decoded.fault)
    return decoded.object
  }
  try {
    const { value } = once('restore applied object', () =>
      restoreStruct(wire, shape.struct, { tree: live, value: current }),
    )
    const object = { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
    if (!isDefaulted) return object
    const why = shape.refuse?.(object)
    if (why !== undefined)
      throw unclassified(`failed to convert to unversioned (${nameOf(applied, expected)}): ${why}`)
    return shape.setDefaults(object)
  } catch (error) {
    throw error instanceof RestoreError ? refuse(error.message) : error
  }
}

/** Replaces null in these fields with an empty value, as kube-apiserver does. */
const withEmpty = (metadata: Fields): Fields =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      value === null ? (emptyMetadata[name] ?? value) : value,
    ]),
  )

const emptyMetadata: Fields = { annotations: {}, finalizers: [], labels: {}, ownerReferences: [] }

function withLastApplied(object: KubeObject, applied: Fields, writer: Writer): KubeObject {
  const { annotations, ...metadata } = object.metadata
  const next = isLastApplier(writer) ? annotationsAfter(annotations ?? {}, applied) : undefined
  return next === undefined
    ? object
    : { ...object, metadata: { ...metadata, annotations: textsOf(next) } }
}

const textsOf = (fields: Fields): { readonly [key: string]: string } =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, textOf(value)]))

function reportDuplicates(
  { duplicates }: AppliedBody,
  { context }: ResourceRequest,
  { fieldValidation }: PatchOptions,
): void {
  if (duplicates.length === 0 || fieldValidation === 'Ignore') return
  if (fieldValidation === 'Warn') return duplicates.forEach((duplicate) => context.warn(duplicate))
  const lines = ['yaml: unmarshal errors:', ...duplicates.map((line) => `  ${line}`)].join('\n')
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${lines}`)
}
