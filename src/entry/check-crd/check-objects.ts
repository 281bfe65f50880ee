/**
 * Checks CustomResourceDefinitions and custom objects as a server of one version does when a client
 * creates or updates them: with the rules of the registry, but without a server.
 */
import { ApiError } from '../../api/errors.ts'
import type { FieldFault } from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { fieldsOf, type KubeObject, present, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { zeroTime } from '../../api/time.ts'
import { systemUser } from '../../api/user.ts'
import { assert } from '../../lib/errors.ts'
import { decodeBody } from '../../objects/codec/decode-body.ts'
import { printSorted } from '../../objects/codec/json.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { readCrd } from '../../registry/custom/crd.ts'
import { type CustomResource, customResources } from '../../registry/custom/custom-resource.ts'
import type { Resource, WriteRules } from '../../registry/resource.ts'
import { validateCreate, validateUpdate } from '../../registry/validate.ts'
import { DEFAULT_NAMESPACE, groupOf, keyOf } from '../apply/object-names.ts'
import type { Manifest } from '../apply/parse-manifests.ts'

/**
 * The outcome of a check. `skipped` means that the object was not checked, because its
 * CustomResourceDefinition was refused.
 */
export type Outcome = 'ok' | 'refused' | 'skipped'

export type Verdict = {
  readonly outcome: Outcome
  /** The errors of a refused object. */
  readonly errors: readonly string[]
  /** The warnings that a client gets. */
  readonly warnings: readonly string[]
}

export const isDefinition = ({ object }: Manifest): boolean =>
  groupOf(object.apiVersion) === 'apiextensions.k8s.io' &&
  object.kind === 'CustomResourceDefinition'

/**
 * Returns the CustomResourceDefinitions, and the objects of their kinds, in the order in which they
 * are checked. Each step has the manifests of one argument of the command. In each step,
 * definitions come before other objects. New definitions even come before all steps, because the
 * examples of a project can precede its definitions.
 */
export function inCheckingOrder(steps: readonly (readonly Manifest[])[]): readonly Manifest[] {
  const created = new Map<string, Manifest>()
  for (const manifest of steps.flat().filter(isDefinition)) {
    const key = keyOf(manifest.object)
    if (!created.has(key)) created.set(key, manifest)
  }
  const first = new Set(created.values())
  const defined = new Set(
    steps
      .flat()
      .filter(isDefinition)
      .map(({ object }) => definedKind(object)),
  )
  const later = steps.flatMap((step) => [
    ...step.filter((manifest) => isDefinition(manifest) && !first.has(manifest)),
    ...step.filter((manifest) => !isDefinition(manifest) && defined.has(kindOf(manifest.object))),
  ])
  return [...first, ...later]
}

const kindOf = ({ apiVersion, kind }: KubeObject): string => `${kind}.${groupOf(apiVersion)}`

function definedKind({ spec }: KubeObject): string {
  const { group, names } = fieldsOf(spec)
  return `${textOf(fieldsOf(names)['kind'])}.${textOf(group)}`
}

/**
 * Returns what one version of Kubernetes says about each object. The objects are checked in this
 * order. If an earlier state of an object was accepted, the object is checked as an update.
 */
export async function checkObjects(
  manifests: readonly Manifest[],
  gates: Gates,
): Promise<ReadonlyMap<Manifest, Verdict>> {
  const cluster = new CheckedCluster(gates)
  const verdicts = new Map<Manifest, Verdict>()
  for (const manifest of manifests)
    verdicts.set(
      manifest,
      await (isDefinition(manifest)
        ? cluster.define(manifest.object)
        : cluster.apply(manifest.object)),
    )
  return verdicts
}

/** The simulated state of a cluster: the objects that a server would have stored so far. */
class CheckedCluster {
  readonly #release: number
  readonly #definitions: Resource
  /** The resources of accepted definitions, by kind and group. */
  readonly #served = new Map<string, readonly CustomResource[]>()
  readonly #stored = new Map<string, KubeObject>()

  constructor(gates: Gates) {
    const [definitions] = builtInResources({
      gates,
      isServed: ({ group, version }) => group === 'apiextensions.k8s.io' && version === 'v1',
    })
    assert(definitions !== undefined, 'CustomResourceDefinitions are built in')
    this.#release = gates.release
    this.#definitions = definitions
  }

  async define(crd: KubeObject): Promise<Verdict> {
    const { verdict, object } = await write(crd, this.#definitions, this.#stored.get(keyOf(crd)))
    this.#served.delete(definedKind(crd))
    if (object !== undefined) {
      const stored = established(object)
      this.#stored.set(keyOf(crd), stored)
      this.#served.set(definedKind(stored), customResources(readCrd(stored), this.#release))
    }
    return verdict
  }

  async apply(given: KubeObject): Promise<Verdict> {
    const { apiVersion, kind } = given
    const versions = this.#served.get(kindOf(given))
    if (versions === undefined) return { outcome: 'skipped', errors: [], warnings: [] }
    const resource = versions.find(
      ({ isServed, group, version }) => isServed && `${group}/${version}` === apiVersion,
    )
    if (resource === undefined)
      return refused([`no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`])
    const key = keyOf(given)
    const before = this.#stored.get(key)
    const { verdict, object } = await write(
      inNamespace(given, resource),
      resource,
      before && (resource.shape.custom?.fromStored(before) ?? before),
    )
    if (object !== undefined) this.#stored.set(key, object)
    return verdict
  }
}

const refused = (errors: readonly string[], warnings: readonly string[] = []): Verdict => ({
  outcome: 'refused',
  errors,
  warnings,
})

/** Returns a definition with the status that the server sets after its creation. */
const established = (crd: KubeObject): KubeObject => ({
  ...crd,
  status: {
    ...fieldsOf(crd['status']),
    acceptedNames: fieldsOf(crd['spec'])['names'] ?? {},
    conditions: [{ type: 'Established', status: 'True' }],
  },
})

/** Sets the namespace as kubectl does. */
function inNamespace(object: KubeObject, { isNamespaced }: Resource): KubeObject {
  const { namespace = '', ...metadata } = object.metadata
  if (!isNamespaced) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, namespace: namespace || DEFAULT_NAMESPACE } }
}

type WriteResult = {
  readonly verdict: Verdict
  /** The object that a server would store. Undefined if it refuses the object. */
  readonly object?: KubeObject
}

/**
 * Processes a new object, or an update of the object `before`, as a server does before it stores
 * the object: decodes it, sets fields and validates it.
 */
async function write(
  given: KubeObject,
  resource: Resource,
  before: KubeObject | undefined,
): Promise<WriteResult> {
  const { rules } = resource
  const warnings: string[] = []
  const warn = (text: string): void => {
    warnings.push(text)
  }
  try {
    const bytes = Buffer.from(printSorted(given))
    const decoded = decodeBody({ bytes }, resource, 'Warn')
    warnings.push(...decoded.warnings)
    if (decoded.refusal !== undefined) throw decoded.refusal
    const object = prepare(decoded.object, before, { rules, warn })
    const found = (await rules.validateInSlices?.(object, before, { warn })) ?? []
    const faults =
      before === undefined
        ? validateCreate(object, resource, found)
        : validateUpdate(object, before, { resource, rules, found })
    if (faults.length > 0) return { verdict: refused(textsOf(faults), warnings) }
    warnings.push(...rules.warnings(object, before))
    return { verdict: { outcome: 'ok', errors: [], warnings }, object }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { verdict: refused([error.message], warnings) }
  }
}

type PrepareTools = {
  readonly rules: WriteRules
  readonly warn: (text: string) => void
}

/** Sets fields such as the uid, which the server sets before it validates an object. */
function prepare(
  decoded: KubeObject,
  before: KubeObject | undefined,
  { rules, warn }: PrepareTools,
): KubeObject {
  const writer = { user: systemUser, now: () => zeroTime, newId: () => '', warn }
  if (before === undefined) return rules.prepareCreate(decoded, writer)
  const metadata = present({ ...decoded.metadata, generation: before.metadata.generation })
  return rules.prepareUpdate({ ...decoded, metadata }, before, writer)
}

const textsOf = (faults: readonly FieldFault[]): string[] => [
  ...new Set(faults.map(({ path, message }) => `${path}: ${message}`)),
]
