/** What the expressions of policies see of a request. Values are made when the first policy matches, and shared by all of them. */
import { type Fields, type KubeObject, present } from '../../api/object.ts'
import { wholeWire } from '../../apply/wire.ts'
import { requestType } from '../../cel/admission.ts'
import { valueOf } from '../../cel/json-values.ts'
import { dyn } from '../../cel/types.ts'
import type { Result } from '../../cel/values.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { namespaceOf } from '../match/namespaces.ts'
import { type ConvertByWebhook, convertTo, kindAt } from '../match/versions.ts'

export type ObjectValues = { readonly object: Result; readonly oldObject: Result }

export class RequestValues {
  readonly #attributes: Attributes
  readonly #convertByWebhook: ConvertByWebhook
  readonly #objects = new Map<Resource, Promise<ObjectValues>>()
  readonly #requests: Map<Resource, Result>

  constructor(attributes: Attributes, convertByWebhook: ConvertByWebhook, requests = new Map<Resource, Result>()) {
    this.#attributes = attributes
    this.#convertByWebhook = convertByWebhook
    this.#requests = requests
  }

  /** The same request with another object. */
  with(object: KubeObject): RequestValues {
    return new RequestValues({ ...this.#attributes, object }, this.#convertByWebhook, this.#requests)
  }

  /** The object and the old object in the version of this resource. */
  objectsIn(resource: Resource): Promise<ObjectValues> {
    const known = this.#objects.get(resource)
    if (known !== undefined) return known
    const made = this.#convert(resource)
    this.#objects.set(resource, made)
    return made
  }

  /** `matched`: the resource in the version that the policy asks for. */
  requestAs(matched: Resource): Result {
    const known = this.#requests.get(matched)
    if (known !== undefined) return known
    const made = valueOf(requestFields(this.#attributes, matched), requestType)
    this.#requests.set(matched, made)
    return made
  }

  async #convert(to: Resource): Promise<ObjectValues> {
    const { object, oldObject, resource: from, subresource, shape } = this.#attributes
    const converted = async (one: KubeObject | undefined): Promise<Result> => {
      if (one === undefined) return null
      const inVersion = await convertTo(one, { from, to, subresource }, this.#convertByWebhook)
      const { struct } = inVersion === one ? shape() : to.shape
      return valueOf(wholeWire(inVersion, struct), dyn)
    }
    return { object: await converted(object), oldObject: await converted(oldObject) }
  }
}

/** Fields that are empty are absent, as in an AdmissionReview. */
function requestFields(attributes: Attributes, matched: Resource): Fields {
  const { resource, subresource, name, operation, isDryRun, context } = attributes
  const { user } = context
  return present({
    kind: kindAt(matched, subresource),
    resource: resourceFields(matched),
    subResource: orAbsent(subresource),
    requestKind: kindAt(resource, subresource),
    requestResource: resourceFields(resource),
    requestSubResource: orAbsent(subresource),
    name: orAbsent(name),
    namespace: orAbsent(namespaceOf(attributes)),
    operation,
    userInfo: present({
      username: orAbsent(user.name),
      uid: orAbsent(user.uid),
      groups: user.groups.length === 0 ? undefined : user.groups,
      extra: user.extra === undefined || Object.keys(user.extra).length === 0 ? undefined : user.extra,
    }),
    dryRun: isDryRun,
    options: attributes.options(),
  })
}

const orAbsent = (text: string): string | undefined => (text === '' ? undefined : text)

const resourceFields = ({ group, version, plural }: Resource): Fields => ({ group, version, resource: plural })

/** These parts are declared. Values are as in JSON, whatever their declared types: times are strings, and there is a `uid` but no `UID`. */
export const namespaceValue = ({ metadata, spec, status }: KubeObject): Result =>
  valueOf(present({ metadata, spec, status }), dyn)
