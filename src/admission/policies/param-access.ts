/**
 * Requires that users who write the paramKind or paramRef of a policy or binding are allowed to
 * read the parameters. Otherwise they could read parameters through the messages of a policy. This
 * check runs after the rest of the object is validated, whether or not policies are enforced.
 */
import type { RequestContext } from '../../api/context.ts'
import type { AccessAttributes } from '../../api/access.ts'
import { refuseInvalid } from '../../api/errors.ts'
import { forbiddenField } from '../../api/field-fault.ts'
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { Resource } from '../../registry/resource.ts'
import { admissionGroup, type Attributes, type Plugin } from '../admission.ts'
import type { AskAuthorizer } from '../ask-authorizer.ts'
import type { Objects, ResourceId } from '../../api/object-access.ts'

export type ParamAccessOptions = {
  readonly objects: Pick<Objects, 'get'>
  readonly authorize: AskAuthorizer
  readonly resourcesOf: (apiVersion: string, kind: string) => readonly Resource[]
}

/** Resource names of policies, by the resource names of their bindings. */
const policiesOf: ReadonlyMap<string, string> = new Map([
  ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
  ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'],
])

export function createParamAccess(options: ParamAccessOptions): Plugin {
  const plurals = [...policiesOf.keys(), ...policiesOf.values()]
  return {
    name: 'ParamAccess',
    resources: new Set(plurals.map((plural) => `${plural}.${admissionGroup}`)),
    validate: (attributes) => {
      const { object, subresource, context } = attributes
      if (object === undefined || subresource !== '' || context.user.groups.includes(mastersGroup))
        return undefined
      return policiesOf.has(attributes.resource.plural)
        ? checkBinding(attributes, fieldsOf(object['spec']), options)
        : checkPolicy(attributes, fieldsOf(object['spec']), options)
    },
  }
}

async function checkPolicy(
  attributes: Attributes,
  { paramKind }: Fields,
  options: ParamAccessOptions,
): Promise<void> {
  if (paramKind === undefined || paramKind === null) return
  const { user } = attributes.context
  const { apiVersion, kind } = kindOf(paramKind)
  const before = kindOf(fieldsOf(attributes.oldObject?.['spec'])['paramKind'])
  if (
    attributes.oldObject !== undefined &&
    before.apiVersion === apiVersion &&
    before.kind === kind
  )
    return
  const target = targetOf(paramKind, options)
  if (
    await isAllowed(
      attributes.context,
      { ...target, verb: 'get', name: '*', namespace: '*' },
      options,
    )
  )
    return
  const kindText = `(kind=${kind}, apiVersion=${apiVersion})`
  const why = `user ${goUser(user)} must have "get" permission on all objects of the referenced paramKind ${kindText}`
  refuse(attributes, 'spec.paramKind', why)
}

async function checkBinding(
  attributes: Attributes,
  spec: Fields,
  options: ParamAccessOptions,
): Promise<void> {
  const { paramRef } = spec
  if (paramRef === undefined || paramRef === null) return
  const { resource, context } = attributes
  const { user } = context
  const policyName = textOf(spec['policyName'])
  const id: ResourceId = {
    group: admissionGroup,
    version: resource.version,
    plural: policiesOf.get(resource.plural) ?? '',
  }
  const policy = await options.objects.get(id, { namespace: '', name: policyName }, 'latest')
  const paramKind = fieldsOf(policy?.['spec'])['paramKind']
  const target = targetOf(paramKind, options)
  const { name, namespace } = fieldsOf(paramRef)
  const verb = textOf(name) === '' ? 'list' : 'get'
  const asked = { ...target, verb, name: textOf(name), namespace: textOf(namespace) }
  if (await isAllowed(context, asked, options)) return
  const everywhere = `does not have "${verb}" permission for all groups, versions and resources`
  const unknown = `to determine minimum required permissions and user ${goUser(user)} ${everywhere}`
  const { apiVersion, kind } = kindOf(paramKind)
  const why =
    policy === undefined
      ? `unable to get policy ${policyName} ${unknown}`
      : target.plural === '*' && target.group !== '*'
        ? `unable to resolve paramKind &{${apiVersion} ${kind}} ${unknown}`
        : `user ${goUser(user)} does not have "${verb}" permission on the object referenced by paramRef`
  refuse(attributes, 'spec.paramRef', why)
}

const kindOf = (
  paramKind: Fields[string],
): { readonly apiVersion: string; readonly kind: string } => {
  const { apiVersion, kind } = fieldsOf(paramKind)
  return { apiVersion: textOf(apiVersion), kind: textOf(kind) }
}

type Target = { readonly group: string; readonly version: string; readonly plural: string }

/** Returns the resource of the parameters. Parts of the resource that are unknown are `*`. */
function targetOf(paramKind: Fields[string], { resourcesOf }: ParamAccessOptions): Target {
  if (paramKind === undefined || paramKind === null)
    return { group: '*', version: '*', plural: '*' }
  const { apiVersion, kind } = kindOf(paramKind)
  const [version = '', of = ''] = apiVersion.split('/').toReversed()
  const [resource] = resourcesOf(apiVersion, kind)
  return { group: of, version, plural: resource?.plural ?? '*' }
}

type ParamAttributes = Target &
  Pick<AccessAttributes & { readonly kind: 'resource' }, 'verb' | 'name' | 'namespace'>

async function isAllowed(
  context: RequestContext,
  asked: ParamAttributes,
  { authorize }: ParamAccessOptions,
): Promise<boolean> {
  return (
    (await authorize(context.user, { kind: 'resource', subresource: '', ...asked }, context))
      .verdict === 'allow'
  )
}

function refuse({ resource, object }: Attributes, path: string, why: string): void {
  if (object !== undefined) refuseInvalid(resource, object, [forbiddenField(path, why)])
}

/** Formats a user as Go does with %v. */
function goUser({ name, uid, groups, extra = {} }: User): string {
  const entries = Object.keys(extra).toSorted()
  const more = entries.map((key) => `${key}:[${(extra[key] ?? []).join(' ')}]`).join(' ')
  return `&{${name} ${uid} [${groups.join(' ')}] map[${more}]}`
}
