/** Builds the AdmissionReview that is sent to a webhook. */
import { type Fields, present } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { printOrdered, printString } from '../../objects/codec/json.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { namespaceOf } from '../match/namespaces.ts'
import { kindAt } from '../match/versions.ts'
import type { ReviewVersion } from './webhook.ts'
import type { VersionedObjects } from './versioned.ts'

export type ReviewInput = {
  readonly attributes: Attributes
  /** Resource in the version that the matching rule names. */
  readonly resource: Resource
  readonly versioned: VersionedObjects
}

/** Encodes a review. v1 and v1beta1 have the same fields. */
export function printReview(
  version: ReviewVersion,
  uid: string,
  { attributes, resource, versioned }: ReviewInput,
): string {
  const known = printOrdered({ uid, ...requestFields(attributes, resource) })
  const { object, oldObject } = versioned
  const options = attributes.options()
  return (
    `{"kind":"AdmissionReview","apiVersion":${printString(`admission.k8s.io/${version}`)},"request":${known.slice(0, -1)},` +
    `"object":${object?.text ?? 'null'},"oldObject":${oldObject?.text ?? 'null'},"dryRun":${attributes.isDryRun},` +
    `"options":${options === undefined ? 'null' : printOrdered(options)}}}`
  )
}

/** Returns the fields of a review except for the objects and the options. */
export function requestFields(attributes: Attributes, resource: Resource): Fields {
  const { operation, subresource, context } = attributes
  const part = subresource === '' ? undefined : subresource
  return present({
    kind: kindAt(resource, subresource),
    resource: resourceFields(resource),
    subResource: part,
    requestKind: kindAt(attributes.resource, subresource),
    requestResource: resourceFields(attributes.resource),
    requestSubResource: part,
    name: nameOf(attributes) || undefined,
    namespace: namespaceOf(attributes) || undefined,
    operation,
    userInfo: userFields(context.user),
  })
}

/**
 * Returns the name of the object. As in kube-apiserver, reviews for the objects of a
 * deletecollection do not contain their names.
 */
const nameOf = ({ name, context: { info } }: Attributes): string =>
  info.kind === 'resource' && info.verb === 'deletecollection' ? '' : name

const resourceFields = ({ group, version, plural }: Resource): Fields => ({
  group,
  version,
  resource: plural,
})

const userFields = ({ name, uid, groups, extra = {} }: User): Fields =>
  present({
    username: name,
    uid: uid || undefined,
    groups: groups.length === 0 ? undefined : groups,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  })
