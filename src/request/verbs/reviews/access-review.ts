/**
 * SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview: they report whether a
 * user has access.
 */
import type { AccessAttributes, AccessDecision, AccessSelectors } from '../../../api/access.ts'
import { invalid } from '../../../api/errors.ts'
import { type FieldFault, invalidShown, invalidValue, tooMany } from '../../../api/field-fault.ts'
import {
  type Fields,
  fieldsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { User } from '../../../api/user.ts'
import {
  validateFieldRequirements,
  validateLabelRequirements,
  validateSelectorSizes,
} from './access-selectors.ts'
import { faultsOfRelease } from '../../../registry/release-faults.ts'
import { readReview, type Review } from './question.ts'
import { readSelectors } from './read-selectors.ts'

/**
 * Maximum number of groups of the user in a review. Directory services support about a thousand
 * groups per user.
 */
const GROUPS_MAX = 10_000
/**
 * Maximum total number of keys and values in `extra` of the user in a review. Real users have fewer
 * than a hundred.
 */
const EXTRAS_MAX = 10_000

/**
 * Asks the authorizers whether the user has access. Aborted when the signal of the `waiting`
 * request is aborted.
 */
export type AskAboutAccess = (
  user: User,
  attributes: AccessAttributes,
  waiting: { readonly signal: AbortSignal },
) => Promise<AccessDecision>

type Kind = 'SubjectAccessReview' | 'SelfSubjectAccessReview' | 'LocalSubjectAccessReview'

/**
 * Creates the review. `hasSelectors` states whether the feature gate AuthorizeWithSelectors is on.
 * If it is off, selectors are removed from the review and from the response.
 */
export type AccessReviewOptions = {
  readonly askAboutAccess: AskAboutAccess
  readonly hasSelectors: boolean
}

export const createAccessReview =
  (kind: Kind, { askAboutAccess, hasSelectors }: AccessReviewOptions): Review =>
  async (request, access) => {
    const validateSize = (review: KubeObject): FieldFault[] => [
      ...validateSubjectSize(fieldsOf(review['spec'])),
      ...(hasSelectors ? validateSelectorSizes(review) : []),
    ]
    const {
      object: sent,
      validate: admit,
      respond,
    } = await readReview(request, access, { validateSize })
    const object = hasSelectors ? sent : withoutSelectors(sent)
    const faults = validate(object, kind)
    const { group, release } = request.resource
    if (faults.length > 0)
      throw invalid(
        { group, kind: '' },
        '',
        await request.context.divide(() => faultsOfRelease(faults, release)),
      )
    await admit(object)
    const spec = fieldsOf(object['spec'])
    const user = kind === 'SelfSubjectAccessReview' ? request.user : subjectOf(spec)
    const { selectors, faults: ignored } = readSelectors(fieldsOf(spec['resourceAttributes']))
    const { verdict, reason, error } = await askAboutAccess(
      user,
      attributesOf(spec, selectors),
      request.context,
    )
    const errors = [...(error === undefined ? [] : [error]), ...ignored]
    const status = {
      allowed: verdict === 'allow',
      ...(verdict === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
    }
    return respond({ ...object, status })
  }

function withoutSelectors(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  if (spec['resourceAttributes'] === undefined) return object
  const {
    fieldSelector: _,
    labelSelector: __,
    ...resourceAttributes
  } = fieldsOf(spec['resourceAttributes'])
  return { ...object, spec: { ...spec, resourceAttributes } }
}

function subjectOf({ user, uid, groups, extra }: Fields): User {
  const more = Object.entries(fieldsOf(extra)).map(
    ([key, values]) => [key, textsOf(values)] as const,
  )
  return {
    name: textOf(user),
    uid: textOf(uid),
    groups: textsOf(groups),
    ...(more.length === 0 ? {} : { extra: Object.fromEntries(more) }),
  }
}

function attributesOf(
  { resourceAttributes, nonResourceAttributes }: Fields,
  selectors: AccessSelectors | undefined,
): AccessAttributes {
  if (resourceAttributes === undefined) {
    const { path, verb } = fieldsOf(nonResourceAttributes)
    return { kind: 'path', verb: textOf(verb), path: textOf(path) }
  }
  const { verb, group, version, resource, subresource, namespace, name } =
    fieldsOf(resourceAttributes)
  return {
    kind: 'resource',
    verb: textOf(verb),
    group: textOf(group),
    // As in kube-apiserver, an empty version matches any version.
    version: textOf(version) || '*',
    plural: textOf(resource),
    subresource: textOf(subresource),
    namespace: textOf(namespace),
    name: textOf(name),
    selectors: selectors && (() => selectors),
  }
}

function validate(object: KubeObject, kind: Kind): FieldFault[] {
  return [
    ...validateSpec(fieldsOf(object['spec']), kind),
    ...validateMetadata(object, kind),
    ...validateLocal(object, kind),
  ]
}

/** Checks limits that only Keelson has. kube-apiserver limits only the size of the body. */
function validateSubjectSize({ groups, extra }: Fields): FieldFault[] {
  const faults: FieldFault[] = []
  const groupCount = lengthOf(groups)
  if (groupCount > GROUPS_MAX) faults.push(tooMany('spec.groups', groupCount, GROUPS_MAX))
  let extraCount = 0
  for (const values of Object.values(fieldsOf(extra))) extraCount += 1 + lengthOf(values)
  if (extraCount > EXTRAS_MAX) faults.push(tooMany('spec.extra', extraCount, EXTRAS_MAX))
  return faults
}

const lengthOf = (list: Json | undefined): number => (Array.isArray(list) ? list.length : 0)

function validateSpec(spec: Fields, kind: Kind): FieldFault[] {
  const { groups, nonResourceAttributes, resourceAttributes, user } = spec
  const faults: FieldFault[] = []
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes'
    faults.push(
      invalidShown('spec.nonResourceAttributes', goPath(fieldsOf(nonResourceAttributes)), why),
    )
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    faults.push(invalidValue('spec.resourceAttributes', null, why))
  }
  if (kind !== 'SelfSubjectAccessReview' && textOf(user) === '' && textsOf(groups).length === 0) {
    faults.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'))
  }
  const { fieldSelector, labelSelector } = fieldsOf(resourceAttributes)
  return [
    ...faults,
    ...validateFieldRequirements(fieldSelector, 'spec.resourceAttributes.fieldSelector'),
    ...validateLabelRequirements(labelSelector, 'spec.resourceAttributes.labelSelector'),
  ]
}

const goPath = ({ path, verb }: Fields): string =>
  `authorization.NonResourceAttributes{Path:${quote(textOf(path))}, Verb:${quote(textOf(verb))}}`

/** Checks that a review has no name or other metadata. */
function validateMetadata({ metadata }: KubeObject, kind: Kind): FieldFault[] {
  const isLocal = kind === 'LocalSubjectAccessReview'
  const allowed = isLocal ? ['managedFields', 'namespace'] : ['managedFields']
  // Bounded: `allowed` has at most two fields, so each search is short.
  const isEmpty = Object.keys(metadata).every(
    (field) => allowed.includes(field) || metadata[field] === undefined,
  )
  if (isEmpty) return []
  const why = isLocal ? 'must be empty except for namespace' : 'must be empty'
  return [
    invalidShown('metadata', 'v1.ObjectMeta{...}', why, {
      type: 'meta.ObjectMeta',
      json: metadata,
    }),
  ]
}

function validateLocal({ metadata, spec }: KubeObject, kind: Kind): FieldFault[] {
  if (kind !== 'LocalSubjectAccessReview') return []
  const { nonResourceAttributes, resourceAttributes } = fieldsOf(spec)
  const namespace = textOf(fieldsOf(resourceAttributes)['namespace'])
  const isElsewhere = resourceAttributes !== undefined && namespace !== (metadata.namespace ?? '')
  const path = 'spec.resourceAttributes.namespace'
  return [
    ...(isElsewhere ? [invalidValue(path, namespace, 'must match metadata.namespace')] : []),
    ...(nonResourceAttributes === undefined
      ? []
      : [
          invalidShown(
            'spec.nonResourceAttributes',
            goPath(fieldsOf(nonResourceAttributes)),
            'disallowed on this kind of request',
          ),
        ]),
  ]
}
