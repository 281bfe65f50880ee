/** Finds the paths of kinds with the discovery documents of the server. */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { type ApiClient, NOT_FOUND, OK, reasonOf } from './api-client.ts'
import { DEFAULT_NAMESPACE, groupOf } from './object-names.ts'

export type ResourceType = {
  readonly kind: string
  readonly group: string
  /** The path of the group version on the server, such as `/apis/apps/v1`. */
  readonly root: string
  readonly plural: string
  readonly isNamespaced: boolean
}

/** Returns the namespace of an object, or undefined if its kind is cluster-scoped. */
export const namespaceOf = (
  { isNamespaced }: ResourceType,
  { metadata }: KubeObject,
): string | undefined =>
  isNamespaced ? (metadata.namespace ?? '') || DEFAULT_NAMESPACE : undefined

export type ObjectName = { readonly name: string; readonly namespace: string | undefined }

/** Returns the path of an object. */
export const pathOf = ({ root, plural }: ResourceType, { name, namespace }: ObjectName): string =>
  namespace === undefined
    ? `${root}/${plural}/${encodeURIComponent(name)}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`

export class ResourceTypes {
  readonly #client: ApiClient
  readonly #lists = new Map<string, Promise<readonly ResourceType[]>>()

  constructor(client: ApiClient) {
    this.#client = client
  }

  /** Returns the resource of a kind, or undefined if the server does not serve the kind. */
  async find(apiVersion: string, kind: string): Promise<ResourceType | undefined> {
    const known = this.#lists.get(apiVersion)
    const list = known ?? this.#list(apiVersion)
    this.#lists.set(apiVersion, list)
    const found = (await list).find((type) => type.kind === kind)
    // Do not cache this result: a CustomResourceDefinition with this kind may be created at any
    // time.
    if (found === undefined) this.#lists.delete(apiVersion)
    return found
  }

  /**
   * Returns the resource of a kind in the preferred version of its group, or undefined if the
   * server does not serve the kind.
   */
  async findInGroup(group: string, kind: string): Promise<ResourceType | undefined> {
    if (group === '') return await this.find('v1', kind)
    const response = await this.#client({ method: 'GET', path: `/apis/${group}` })
    if (response.status === NOT_FOUND) return undefined
    if (response.status !== OK) throw new Error(`/apis/${group}: ${reasonOf(response)}`)
    for (const { groupVersion } of itemsOf(fieldsOf(response.body)['versions'])) {
      const found = await this.find(textOf(groupVersion), kind)
      if (found !== undefined) return found
    }
    return undefined
  }

  async #list(apiVersion: string): Promise<readonly ResourceType[]> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const response = await this.#client({ method: 'GET', path: root })
    if (response.status === NOT_FOUND) return []
    if (response.status !== OK) throw new Error(`${root}: ${reasonOf(response)}`)
    return itemsOf(fieldsOf(response.body)['resources'])
      .filter(({ name }) => !textOf(name).includes('/'))
      .map(({ name, kind, namespaced }) => ({
        kind: textOf(kind),
        group: groupOf(apiVersion),
        root,
        plural: textOf(name),
        isNamespaced: namespaced === true,
      }))
  }
}
