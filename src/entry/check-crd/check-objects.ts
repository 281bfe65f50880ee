/**
 * Checks CustomResourceDefinitions and custom objects as a server of one version does when a client
 * creates them: with the rules of the registry, but without a server.
 */
import { ApiError } from '../../api/errors.ts'
import type { FieldFault } from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { zeroTime } from '../../api/time.ts'
import { systemUser } from '../../api/user.ts'
import { assert } from '../../lib/errors.ts'
import { decodeBody } from '../../objects/codec/decode-body.ts'
import { printSorted } from '../../objects/codec/json.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { readCrd } from '../../registry/custom/crd.ts'
import { type CustomResource, customResources } from '../../registry/custom/custom-resource.ts'
import type { Resource } from '../../registry/resource.ts'
import { validateCreate } from '../../registry/validate.ts'
import { DEFAULT_NAMESPACE, groupOf } from '../apply/object-names.ts'
import type { Manifest } from '../apply/parse-manifests.ts'

/** `skipped` means that the definition of the object was refused. */
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

/** Returns the definitions, and the objects whose kinds they define. */
export function checkedOf(manifests: readonly Manifest[]): readonly Manifest[] {
  const definitions = manifests.filter(isDefinition)
  const defined = new Set(definitions.map(({ object }) => definedKind(object)))
  return manifests.filter(
    (manifest) => isDefinition(manifest) || defined.has(kindOf(manifest.object)),
  )
}

const kindOf = ({ apiVersion, kind }: KubeObject): string => `${kind}.${groupOf(apiVersion)}`

function definedKind({ spec }: KubeObject): string {
  const { group, names } = fieldsOf(spec)
  return `${textOf(fieldsOf(names)['kind'])}.${textOf(group)}`
}

const skipped: Verdict = { outcome: 'skipped', errors: [], warnings: [] }

/** Returns the verdict of a version on each object. The definitions are checked first. */
export async function checkObjects(
  manifests: readonly Manifest[],
  gates: Gates,
): Promise<ReadonlyMap<Manifest, Verdict>> {
  const [definitions] = builtInResources({
    gates,
    isServed: ({ group, version }) => group === 'apiextensions.k8s.io' && version === 'v1',
  })
  assert(definitions !== undefined, 'CustomResourceDefinitions are built in')
  const verdicts = new Map<Manifest, Verdict>()
  const served = new Map<string, readonly CustomResource[]>()
  for (const manifest of manifests.filter(isDefinition)) {
    const { verdict, created } = await create(manifest.object, definitions)
    verdicts.set(manifest, verdict)
    if (created !== undefined)
      served.set(
        definedKind(created),
        customResources(readCrd(established(created)), gates.release),
      )
  }
  for (const manifest of manifests) {
    if (isDefinition(manifest)) continue
    const { object } = manifest
    const versions = served.get(kindOf(object))
    const found = versions?.find(
      ({ isServed, group, version }) => isServed && `${group}/${version}` === object.apiVersion,
    )
    const verdict =
      versions === undefined
        ? skipped
        : found === undefined
          ? refused([`no matches for kind "${object.kind}" in version "${object.apiVersion}"`])
          : (await create(inNamespace(object, found), found)).verdict
    verdicts.set(manifest, verdict)
  }
  return verdicts
}

const refused = (errors: readonly string[], warnings: readonly string[] = []): Verdict => ({
  outcome: 'refused',
  errors,
  warnings,
})

/** Accepts the names of a definition, as the server does after its creation. */
const established = (crd: KubeObject): KubeObject => ({
  ...crd,
  status: { ...fieldsOf(crd['status']), acceptedNames: fieldsOf(crd['spec'])['names'] ?? {} },
})

/** Sets the namespace as kubectl does. */
function inNamespace(object: KubeObject, { isNamespaced }: Resource): KubeObject {
  const { namespace = '', ...metadata } = object.metadata
  if (!isNamespaced) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, namespace: namespace || DEFAULT_NAMESPACE } }
}

type Creation = {
  readonly verdict: Verdict
  /** The object that a server would store. Undefined if it refuses the object. */
  readonly created?: KubeObject
}

/** Decodes, completes and validates a new object. */
async function create(given: KubeObject, resource: Resource): Promise<Creation> {
  const warnings: string[] = []
  const warn = (text: string): void => {
    warnings.push(text)
  }
  try {
    const bytes = Buffer.from(printSorted(given))
    const decoded = decodeBody({ bytes }, resource, 'Warn')
    warnings.push(...decoded.warnings)
    if (decoded.refusal !== undefined) throw decoded.refusal
    const { rules } = resource
    const writer = { user: systemUser, now: () => zeroTime, newId: () => '', warn }
    const object = rules.prepareCreate(decoded.object, writer)
    const found = (await rules.validateInSlices?.(object, undefined, { warn })) ?? []
    const faults = validateCreate(object, resource, found)
    if (faults.length > 0) return { verdict: refused(textsOf(faults), warnings) }
    warnings.push(...rules.warnings(object, undefined))
    return { verdict: { outcome: 'ok', errors: [], warnings }, created: object }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { verdict: refused([error.message], warnings) }
  }
}

const textsOf = (faults: readonly FieldFault[]): string[] => [
  ...new Set(faults.map(({ path, message }) => `${path}: ${message}`)),
]
