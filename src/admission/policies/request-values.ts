/**
 * The values of a request that expressions of policies can use. They are built when the first
 * policy matches, and shared by all policies.
 */
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import {
  awaitMaybe,
  type MaybeAsync,
  type MaybePromise,
  runMaybeAsync,
  thenMaybe,
} from '../../lib/concurrency/maybe-promise.ts'
import { requestType } from '../../objects/cel/admission.ts'
import { lazyValueOf, valueOf } from '../../objects/cel/json-values.ts'
import { dyn } from '../../objects/cel/types.ts'
import type { Result } from '../../objects/cel/values.ts'
import type { User } from '../../api/user.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { namespaceOf } from '../match/namespaces.ts'
import { LazyWire } from './lazy-wire.ts'
import { type ConvertByWebhook, convertTo, kindAt } from '../match/versions.ts'

export type ObjectValues = { readonly object: Result; readonly oldObject: Result }

export class RequestValues {
  readonly #attributes: Attributes
  readonly #convertByWebhook: ConvertByWebhook
  #own: ObjectValues | undefined
  #converted: Map<Resource, MaybePromise<ObjectValues>> | undefined
  readonly #requests: Map<Resource, Result>

  constructor(
    attributes: Attributes,
    convertByWebhook: ConvertByWebhook,
    requests = new Map<Resource, Result>(),
  ) {
    this.#attributes = attributes
    this.#convertByWebhook = convertByWebhook
    this.#requests = requests
  }

  /** Returns the values that expressions can use for the same request, but with another object. */
  with(object: KubeObject): RequestValues {
    return new RequestValues(
      { ...this.#attributes, object },
      this.#convertByWebhook,
      this.#requests,
    )
  }

  /** Object and old object of the request, in the version of the request. */
  get own(): ObjectValues {
    return (this.#own ??= this.#unconverted())
  }

  /** Returns the object and the old object, converted to the version of a resource. */
  objectsIn(resource: Resource): MaybePromise<ObjectValues> {
    if (resource === this.#attributes.resource) return this.own
    const known = this.#converted?.get(resource)
    if (known !== undefined) return known
    const made = runMaybeAsync(this.#convert(resource))
    this.#converted ??= new Map()
    this.#converted.set(resource, made)
    return made
  }

  /**
   * Returns the value of `request`. `matched` is the resource in the version that the policy names.
   */
  requestAs(matched: Resource): Result {
    const known = this.#requests.get(matched)
    if (known !== undefined) return known
    const made = valueOf(requestFields(this.#attributes, matched), requestType)
    this.#requests.set(matched, made)
    return made
  }

  #unconverted(): ObjectValues {
    const { object, oldObject, shape } = this.#attributes
    const valueIn = (one: KubeObject | undefined): Result =>
      one === undefined ? null : lazyValueOf(new LazyWire(one, shape().struct))
    return { object: valueIn(object), oldObject: valueIn(oldObject) }
  }

  *#convert(to: Resource): MaybeAsync<ObjectValues> {
    const object = yield* awaitMaybe(this.#convertOne(this.#attributes.object, to))
    return {
      object,
      oldObject: yield* awaitMaybe(this.#convertOne(this.#attributes.oldObject, to)),
    }
  }

  #convertOne(one: KubeObject | undefined, to: Resource): MaybePromise<Result> {
    if (one === undefined) return null
    const { resource: from, subresource, shape } = this.#attributes
    const valueIn = (inVersion: KubeObject): Result =>
      lazyValueOf(new LazyWire(inVersion, (inVersion === one ? shape() : to.shape).struct))
    const converted = convertTo(one, { from, to, subresource }, this.#convertByWebhook)
    return thenMaybe(converted, valueIn)
  }
}

/** Returns the fields of `request`. Empty fields are omitted, as in an AdmissionReview. */
function requestFields(attributes: Attributes, matched: Resource): Fields {
  const { resource, subresource, name, operation, isDryRun, context } = attributes
  const fields: { [name: string]: Json } = {
    kind: kindAt(matched, subresource),
    resource: resourceFields(matched),
    requestKind: kindAt(resource, subresource),
    requestResource: resourceFields(resource),
    operation,
    userInfo: userFields(context.user),
    dryRun: isDryRun,
  }
  if (subresource !== '') fields['subResource'] = fields['requestSubResource'] = subresource
  if (name !== '') fields['name'] = name
  const namespace = namespaceOf(attributes)
  if (namespace !== '') fields['namespace'] = namespace
  const options = attributes.options()
  if (options !== undefined) fields['options'] = options
  return fields
}

function userFields({ name, uid, groups, extra }: User): Fields {
  const fields: { [name: string]: Json } = {}
  if (name !== '') fields['username'] = name
  if (uid !== '') fields['uid'] = uid
  if (groups.length > 0) fields['groups'] = groups
  if (extra !== undefined && Object.keys(extra).length > 0) fields['extra'] = extra
  return fields
}

const resourceFields = ({ group, version, plural }: Resource): Fields => ({
  group,
  version,
  resource: plural,
})

/**
 * Returns the value of the variable `namespaceObject`. It has only the fields that Kubernetes
 * declares for it. Its values have their JSON form: a time is a string, and the UID is in the field
 * `uid`.
 */
export function namespaceValue({ metadata, spec, status }: KubeObject): Result {
  const fields: { [name: string]: Json } = { metadata }
  if (spec !== undefined) fields['spec'] = spec
  if (status !== undefined) fields['status'] = status
  return valueOf(fields, dyn)
}
