/**
 * An ApplySet (KEP-3659) records which objects Keelson has created from a folder, so that only they
 * are deleted when their manifests are removed. A parent object lists the kinds of the members, and
 * each member has a label with the ID of the set. The format is that of `kubectl apply --applyset`.
 */
import { createHash } from 'node:crypto'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import {
  type ApiClient,
  type ApiClientResponse,
  CONFLICT,
  CREATED,
  NOT_FOUND,
  OK,
  reasonOf,
} from './api-client.ts'
import { FIELD_MANAGER } from './apply-manifests.ts'
import {
  idLabel,
  kindsAnnotation,
  namespacesAnnotation,
  partOfLabel,
  toolingAnnotation,
} from './labels.ts'
import { DEFAULT_NAMESPACE, groupKindOf } from './object-names.ts'
import type { Manifest } from './parse-manifests.ts'
import { pathOf, type ResourceType, ResourceTypes } from './resource-types.ts'

const TOOL = 'keelson'
/** The field manager of the parent object. KEP-3659 derives its name from the name of the tool. */
const PARENT_MANAGER = `${TOOL}-applyset`
const ACCEPTED = 202

/** Number of objects in each response of a list. */
const LIST_ITEMS_MAX = 500

/**
 * The kinds and namespaces that the parent object of an ApplySet lists. Members are searched only
 * there. There may be kinds and namespaces without members.
 */
export type ApplySetScope = {
  /** The names of kinds, as `groupKindOf` returns them. */
  readonly kinds: ReadonlySet<string>
  /** The namespaces, except the default namespace, which contains the parent object. */
  readonly namespaces: ReadonlySet<string>
}

export type ApplySetOptions = {
  readonly client: ApiClient
  /** The absolute path of the folder, which determines the name of the parent object. */
  readonly folder: string
  /** The version of Keelson. */
  readonly version: string
}

/** Returns the kinds and namespaces of objects. */
export const scopeOf = (
  objects: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[],
): ApplySetScope => ({
  kinds: new Set(objects.map(groupKindOf)),
  namespaces: new Set(
    objects
      .map(({ metadata: { namespace = '' } }) => namespace)
      .filter((namespace) => namespace !== '' && namespace !== DEFAULT_NAMESPACE),
  ),
})

export const unionOf = (one: ApplySetScope, other: ApplySetScope): ApplySetScope => ({
  kinds: new Set([...one.kinds, ...other.kinds]),
  namespaces: new Set([...one.namespaces, ...other.namespaces]),
})

/** Whether two scopes have the same kinds and namespaces. */
export const isSameScope = (one: ApplySetScope, other: ApplySetScope): boolean =>
  printNames(one.kinds) === printNames(other.kinds) &&
  printNames(one.namespaces) === printNames(other.namespaces)

/** Returns the ID of the ApplySet whose parent is a ConfigMap with this name. */
function applySetId(name: string): string {
  const identity = [name, DEFAULT_NAMESPACE, 'ConfigMap', ''].join('.')
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`
}

export class ApplySet {
  readonly id: string
  readonly #name: string
  readonly #options: ApplySetOptions

  constructor(options: ApplySetOptions) {
    const digest = createHash('sha256').update(options.folder).digest('hex')
    this.#name = `keelson-apply-${digest.slice(0, 10)}`
    this.id = applySetId(this.#name)
    this.#options = options
  }

  /**
   * Returns the ID of the ApplySet if the object does not exist on the server or is already a
   * member. Returns undefined if another client has created the object. Throws if the object is a
   * member of another ApplySet.
   */
  idFor({ object }: Manifest, existing: KubeObject | undefined): string | undefined {
    if (object.metadata.labels?.[partOfLabel] !== undefined)
      throw new Error(`its label ${partOfLabel} marks members of an ApplySet: remove the label`)
    if (existing === undefined || this.#isMember(existing)) return this.id
    const other = existing.metadata.labels?.[partOfLabel]
    if (other !== undefined && other !== this.id && isLabeledByKeelson(existing)) {
      throw new Error(
        `is applied from another folder, which has the ApplySet ${other}: remove one of the manifests`,
      )
    }
    return undefined
  }

  /** Returns the recorded scope, or undefined if there is no parent object yet. */
  async read(): Promise<ApplySetScope | undefined> {
    const response = await this.#options.client({ method: 'GET', path: this.#path })
    if (response.status === NOT_FOUND) return undefined
    const { annotations } = fieldsOf(this.#checked(response)['metadata'])
    const values = fieldsOf(annotations)
    const tooling = textOf(values[toolingAnnotation])
    if (!tooling.startsWith(`${TOOL}/`)) {
      throw new Error(
        `the ApplySet configmap/${this.#name} belongs to ${tooling || 'another program'}: delete the ConfigMap to apply the folder with Keelson again`,
      )
    }
    return {
      kinds: namesIn(textOf(values[kindsAnnotation])),
      namespaces: namesIn(textOf(values[namespacesAnnotation])),
    }
  }

  /** Writes the kinds and namespaces of the members to the parent object. */
  async write({ kinds, namespaces }: ApplySetScope): Promise<void> {
    const { client, folder, version } = this.#options
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: this.#name,
        labels: { [idLabel]: this.id },
        annotations: {
          [toolingAnnotation]: `${TOOL}/v${version}`,
          [kindsAnnotation]: printNames(kinds),
          [namespacesAnnotation]: printNames(namespaces),
        },
      },
      data: { folder },
    }
    // Only Keelson manages the fields of the parent object, so conflicts are resolved in its favor.
    const path = `${this.#path}?fieldManager=${PARENT_MANAGER}&force=true`
    const contentType = 'application/apply-patch+yaml'
    this.#checked(await client({ method: 'PATCH', path, body, contentType }))
  }

  /** Returns the members of these kinds. Leaves out kinds that the server does not serve. */
  async members({ kinds }: ApplySetScope): Promise<readonly KubeObject[]> {
    const types = new ResourceTypes(this.#options.client)
    const found: KubeObject[] = []
    for (const groupKind of kinds) {
      const type = await typeOf(types, groupKind)
      if (type === undefined) continue
      for (const object of await this.#list(type)) if (this.#isMember(object)) found.push(object)
    }
    return found
  }

  /** Deletes a member of the ApplySet. Returns false if the object does not exist any more. */
  async delete(member: KubeObject): Promise<boolean> {
    const types = new ResourceTypes(this.#options.client)
    const type = await types.find(member.apiVersion, member.kind)
    if (type === undefined) return false
    const { name = '', namespace, uid = '' } = member.metadata
    const response = await this.#options.client({
      method: 'DELETE',
      path: pathOf(type, { name, namespace }),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        // Do not delete an object that another client has created under the same name.
        preconditions: { uid },
        propagationPolicy: 'Background',
      },
    })
    if (response.status === NOT_FOUND || response.status === CONFLICT) return false
    if (response.status !== OK && response.status !== ACCEPTED) throw new Error(reasonOf(response))
    return true
  }

  get #path(): string {
    return `/api/v1/namespaces/${DEFAULT_NAMESPACE}/configmaps/${this.#name}`
  }

  #checked(response: ApiClientResponse) {
    if (response.status !== OK && response.status !== CREATED)
      throw new Error(`the ApplySet configmap/${this.#name}: ${reasonOf(response)}`)
    return fieldsOf(response.body)
  }

  /**
   * Whether this set contains an object. The label alone is not enough, because controllers copy
   * labels, for example from a Service to its EndpointSlices.
   */
  #isMember(object: KubeObject): boolean {
    return object.metadata.labels?.[partOfLabel] === this.id && isLabeledByKeelson(object)
  }

  async #list({ root, plural, kind }: ResourceType): Promise<readonly KubeObject[]> {
    const { client } = this.#options
    const apiVersion = root.replace(/^\/apis?\//, '')
    const objects: KubeObject[] = []
    const query = new URLSearchParams({
      labelSelector: `${partOfLabel}=${this.id}`,
      limit: `${LIST_ITEMS_MAX}`,
    })
    do {
      const response = await client({
        method: 'GET',
        path: `${root}/${plural}?${query.toString()}`,
      })
      // The CustomResourceDefinition has been deleted in the meantime.
      if (response.status === NOT_FOUND) return []
      if (response.status !== OK) throw new Error(`${root}/${plural}: ${reasonOf(response)}`)
      const { items, metadata } = fieldsOf(response.body)
      for (const item of itemsOf(items))
        objects.push({ ...item, apiVersion, kind, metadata: fieldsOf(item['metadata']) })
      query.set('continue', textOf(fieldsOf(metadata)['continue']))
    } while (query.get('continue') !== '')
    return objects
  }
}

/** Whether the label of an ApplySet was set by Keelson, according to managedFields. */
const isLabeledByKeelson = ({ metadata }: KubeObject): boolean =>
  itemsOf(metadata['managedFields']).some(({ manager, operation, fieldsV1 }) => {
    const labels = fieldsOf(fieldsOf(fieldsOf(fieldsV1)['f:metadata'])['f:labels'])
    return (
      manager === FIELD_MANAGER && operation === 'Apply' && labels[`f:${partOfLabel}`] !== undefined
    )
  })

const namesIn = (list: string): ReadonlySet<string> =>
  new Set(list.split(',').filter((name) => name !== ''))

const printNames = (names: ReadonlySet<string>): string => [...names].toSorted().join(',')

/** Returns the type of a kind with its group, such as `Deployment.apps`. */
function typeOf(types: ResourceTypes, groupKind: string): Promise<ResourceType | undefined> {
  const [kind = '', ...group] = groupKind.split('.')
  return types.findInGroup(group.join('.'), kind)
}
