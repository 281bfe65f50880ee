/**
 * The plugin OwnerReferencesPermissionEnforcement. The garbage collector deletes objects whose
 * owners do not exist. Therefore a user who changes the owner references of an object must be
 * allowed to delete the object. A user who sets blockOwnerDeletion must be allowed to update the
 * owner's finalizers.
 */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import { type Fields, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import type { Resource } from '../registry/resource.ts'
import { isSame } from '../objects/schema/equal.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import type { AskAuthorizer } from './ask-authorizer.ts'

export type OwnerReferencesOptions = {
  readonly authorize: AskAuthorizer
  /** Returns the resources that serve a kind. A kind can have several resources. */
  readonly resourcesOf: (apiVersion: string, kind: string) => readonly Resource[]
}

export function createOwnerReferencesPermission({
  authorize,
  resourcesOf,
}: OwnerReferencesOptions): Plugin {
  const ask = (
    attributes: Attributes,
    asked: Partial<ResourceAccess>,
  ): MaybePromise<AccessDecision> =>
    authorize(attributes.context.user, { ...anything, ...asked }, attributes.context)

  const checkDelete = async (attributes: Attributes): Promise<void> => {
    const { resource, subresource, namespace, name } = attributes
    const { group, version, plural } = resource
    const decision = await ask(attributes, {
      verb: 'delete',
      group,
      version,
      plural,
      subresource,
      namespace,
      name,
    })
    if (decision.verdict === 'allow') return
    throw refusal(
      attributes,
      `cannot set an ownerRef on a resource you can't delete: ${described(decision)}`,
    )
  }

  const checkFinalizers = async (attributes: Attributes, owner: Fields): Promise<void> => {
    const apiVersion = textOf(owner['apiVersion'])
    const kind = textOf(owner['kind'])
    const resources = resourcesOf(apiVersion, kind)
    if (resources.length === 0) {
      const why = `no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`
      const what = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`
      throw refusal(
        attributes,
        `cannot set blockOwnerDeletion in this case because ${what}: ${why}`,
      )
    }
    for (const { group, version, plural, isNamespaced } of resources) {
      const namespace = isNamespaced ? attributes.namespace : ''
      const name = textOf(owner['name'])
      const decision = await ask(attributes, { group, version, plural, namespace, name })
      if (decision.verdict === 'allow') continue
      const why =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
      throw refusal(attributes, `${why}: ${described(decision)}`)
    }
  }

  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate: async (attributes) => {
      const { operation, object, oldObject } = attributes
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      // Do not check a status update of a pod. It cannot change the owner references, although old
      // kubelets omit them.
      if (targetOf(attributes) === 'pods/status') return
      const owners = ownersOf(object)
      if (isSame(owners, ownersOf(oldObject))) return
      if (operation === 'UPDATE') await checkDelete(attributes)
      const blocking = newlyBlocking(owners, ownersOf(oldObject))
      if (blocking.length === 0 || (await ask(attributes, {})).verdict === 'allow') return
      for (const owner of blocking) await checkFinalizers(attributes, owner)
    },
  }
}

type ResourceAccess = Extract<AccessAttributes, { kind: 'resource' }>

/** Access to the finalizers of objects of every resource. */
const anything: ResourceAccess = {
  kind: 'resource',
  verb: 'update',
  group: '*',
  version: '*',
  plural: '*',
  subresource: 'finalizers',
  namespace: '',
  name: '*',
}

/** Prints a reason and an error as Go does. */
const described = ({ reason, error = '<nil>' }: AccessDecision): string => `${reason}, ${error}`

const ownersOf = (object: KubeObject | undefined): readonly Fields[] =>
  itemsOf(object?.metadata['ownerReferences'])

function newlyBlocking(owners: readonly Fields[], before: readonly Fields[]): readonly Fields[] {
  const blocked = new Map(
    before.map((owner) => [owner['uid'], owner['blockOwnerDeletion'] === true]),
  )
  return owners.filter(
    (owner) => owner['blockOwnerDeletion'] === true && blocked.get(owner['uid']) !== true,
  )
}
