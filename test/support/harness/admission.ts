/**
 * Shared code of the tests of admission plugins: a write in the form in which plugins receive it,
 * and objects in memory instead of a server.
 */
import assert from 'node:assert/strict'
import { Admission, type Attributes, type Plugin } from '../../../src/admission/admission.ts'
import type { Objects, NamespacedName, ResourceId } from '../../../src/api/object-access.ts'
import { RequestContext } from '../../../src/api/context.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { matchesLabels, type Requirement } from '../../../src/api/label-selector.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../src/api/object.ts'
import type { User } from '../../../src/api/user.ts'
import { valueAt } from '../../../src/objects/codec/json-bytes.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { Registry } from '../../../src/registry/registry.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

export const anObject = (kind: string, name: string, fields: Fields = {}): KubeObject => {
  const { metadata, ...rest } = fields
  return { apiVersion: 'v1', kind, ...rest, metadata: { name, ...fieldsOf(metadata) } }
}

export const pod = (spec: Fields = {}, metadata: Fields = {}): KubeObject =>
  anObject('Pod', 'p', { metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } })

type Write = Partial<Attributes> & {
  readonly plural: string
  readonly group?: string
  readonly user?: User
}

export function attributes({
  plural,
  group = '',
  user = { name: 'u', uid: '', groups: [] },
  ...more
}: Write): Attributes {
  const resource =
    registry.find({ group, version: 'v1', plural }) ??
    registry.find({ group, version: 'v1beta1', plural })
  assert.ok(resource, `no resource is named ${plural}`)
  return {
    operation: 'CREATE',
    resource,
    subresource: '',
    namespace: resource.isNamespaced ? 'n' : '',
    name: more.object?.metadata.name ?? '',
    object: undefined,
    oldObject: undefined,
    isDryRun: false,
    options: () => undefined,
    shape: () => resource.shape,
    context: contextOf(user),
    known: {},
    ...more,
  }
}

function contextOf(user: User): RequestContext {
  const context = new RequestContext({
    auditId: '',
    info: { kind: 'path', verb: 'get', path: '/' },
    client: new AbortController(),
    timeoutMs: Infinity,
    monotonicMs: () => 0,
  })
  context.identify(user)
  return context
}

/** Returns the object after admission, or the message with which the plugin rejects the write. */
export async function admit(
  plugin: Plugin,
  write: Attributes,
): Promise<KubeObject | undefined | string> {
  const admission = new Admission([plugin])
  try {
    const object = await admission.mutate(write)
    await admission.validate({ ...write, object })
    return object
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`
    throw error
  }
}

/** Objects by `plural/namespace/name`. Reads always return the latest state. */
export class MemoryObjects implements Objects {
  readonly #objects = new Map<string, KubeObject>()

  #revision = 0

  put(plural: string, namespace: string, object: KubeObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) }
    this.#objects.set(`${plural}/${namespace}/${metadata.name}`, { ...object, metadata })
  }

  readonly getNow = (
    { plural }: ResourceId,
    { namespace, name }: NamespacedName,
  ): KubeObject | undefined => this.#objects.get(`${plural}/${namespace}/${name}`)

  readonly get = async (id: ResourceId, place: NamespacedName): Promise<KubeObject | undefined> =>
    this.getNow(id, place)

  readonly list = async (
    { plural }: ResourceId,
    namespace: string,
  ): Promise<readonly KubeObject[]> =>
    [...this.#objects]
      .filter(([key]) => key.startsWith(`${plural}/${namespace}/`))
      .map(([, object]) => object)

  readonly pick: Objects['pick'] = async (id, namespace, { path, isWanted, countMax }) =>
    (await this.list(id, namespace))
      .filter((object) => isWanted(valueAt(Buffer.from(JSON.stringify(object)), path)))
      .slice(0, countMax)

  readonly select = async (
    id: ResourceId,
    namespace: string,
    requirements: readonly Requirement[],
  ): Promise<readonly (() => KubeObject)[]> =>
    (await this.list(id, namespace))
      .filter(({ metadata }) => matchesLabels(requirements, metadata.labels))
      .map((object) => () => object)

  readonly changeStatus = async (
    id: ResourceId,
    place: NamespacedName,
    decide: (object: KubeObject) => KubeObject | undefined,
  ): Promise<string | undefined> => {
    const object = await this.get(id, place)
    const changed = object && decide(object)
    if (changed !== undefined) this.put(id.plural, place.namespace, changed)
    return (await this.get(id, place))?.metadata.resourceVersion
  }
}

export const specOf = (admitted: KubeObject | undefined | string): unknown =>
  typeof admitted === 'string' ? admitted : admitted?.['spec']
