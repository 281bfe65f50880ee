/**
 * Builds the spec of a SubjectAccessReview from a user and attributes. Authorization webhooks and
 * their match conditions receive it.
 */
import type { AccessAttributes, AccessSelectors } from '../../api/access.ts'
import type { FieldTerm } from '../../api/field-selector.ts'
import type { Requirement } from '../../api/label-selector.ts'
import { type Fields, present } from '../../api/object.ts'
import type { User } from '../../api/user.ts'

export type ReviewSpec = {
  readonly resourceAttributes?: Fields | undefined
  readonly nonResourceAttributes?: Fields | undefined
  readonly user: string
  readonly groups: readonly string[]
  readonly extra: { readonly [key: string]: readonly string[] }
  readonly uid: string
}

/**
 * Returns the spec with all of its fields, including empty ones. `hasSelectors` is whether the
 * AuthorizeWithSelectors feature gate is enabled.
 */
export function reviewSpecOf(
  user: User,
  attributes: AccessAttributes,
  hasSelectors: boolean,
): ReviewSpec {
  const { name, uid, groups, extra = {} } = user
  const who = { user: name, groups, extra, uid }
  if (attributes.kind === 'path') {
    return { ...who, nonResourceAttributes: { path: attributes.path, verb: attributes.verb } }
  }
  const {
    namespace,
    verb,
    group,
    version,
    plural,
    subresource,
    name: object,
    selectors,
  } = attributes
  const resourceAttributes = {
    namespace,
    verb,
    group,
    version,
    resource: plural,
    subresource,
    name: object,
    ...(hasSelectors && selectors !== undefined ? selectorsOf(selectors()) : {}),
  }
  return { ...who, resourceAttributes }
}

function selectorsOf({ fields, labels }: AccessSelectors): Fields {
  const fieldRequirements = fields.map(fieldRequirement)
  const labelRequirements = labels.flatMap(labelRequirement)
  return present({
    fieldSelector: fieldRequirements.length === 0 ? undefined : { requirements: fieldRequirements },
    labelSelector: labelRequirements.length === 0 ? undefined : { requirements: labelRequirements },
  })
}

const fieldRequirement = ({ field, isEqual, value }: FieldTerm): Fields => ({
  key: field,
  operator: isEqual ? 'In' : 'NotIn',
  values: [value],
})

/**
 * Converts a label requirement. Numeric comparisons are omitted, because reviews cannot express
 * them. This can make the review broader, but never narrower.
 */
function labelRequirement(requirement: Requirement): Fields[] {
  const { key, operator } = requirement
  switch (operator) {
    case 'exists':
      return [{ key, operator: 'Exists' }]
    case 'absent':
      return [{ key, operator: 'DoesNotExist' }]
    case 'in':
    case 'notin':
      return [
        { key, operator: operator === 'in' ? 'In' : 'NotIn', values: [...requirement.values] },
      ]
    case 'gt':
    case 'lt':
      return []
  }
}
