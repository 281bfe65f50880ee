/**
 * Rules for the downward API: environment variables and volumes that refer to fields and resources
 * of the Pod itself.
 */
import { invalidValue, notSupported, required } from '../../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../../api/names.ts'
import { fieldsOf, textOf } from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import type { Check, Rule } from '../../../rules/rule.ts'

const metadataPaths = ['metadata.name', 'metadata.namespace', 'metadata.uid'] as const
const maps = ['metadata.annotations', 'metadata.labels'] as const

export const envPaths: readonly string[] = [
  ...metadataPaths,
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
export const volumePaths: readonly string[] = [...maps, ...metadataPaths]

/**
 * All paths of the Pod version v1 that kube-apiserver can convert. A path that can be converted but
 * is not in `supported` causes a different error than an unknown path.
 */
const knownPaths: ReadonlySet<string> = new Set([
  ...envPaths,
  ...maps,
  'status.phase',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.host',
  'status.nominatedNodeName',
  'spec.hostNetwork',
])

/**
 * Returns the rule for a reference to a field of the Pod. In the path of the field, keys of labels
 * and annotations are in brackets.
 */
export function fieldRef(supported: readonly string[]): Rule {
  return (value, path, check) => {
    const { fieldPath, apiVersion } = fieldsOf(value)
    const text = textOf(fieldPath)
    if (textOf(apiVersion) === '') check.faults.push(required(`${path}.apiVersion`))
    else if (text === '') check.faults.push(required(`${path}.fieldPath`))
    else checkFieldPath(text, { path, apiVersion: textOf(apiVersion), supported, check })
  }
}

type Reference = {
  readonly path: string
  readonly apiVersion: string
  readonly supported: readonly string[]
  readonly check: Check
}

function checkFieldPath(text: string, { path, apiVersion, supported, check }: Reference): void {
  // Find the last bracket that opens a key. A regular expression would be slow here, because it
  // backtracks.
  const keyAt = text.endsWith("']") ? text.lastIndexOf("['", text.length - 4) : -1
  const [base, key] = keyAt === -1 ? [text] : [text.slice(0, keyAt), text.slice(keyAt + 2, -2)]
  const fail = (why: string): void => {
    check.faults.push(invalidValue(`${path}.fieldPath`, text, `error converting fieldPath: ${why}`))
  }
  if (apiVersion !== 'v1') return fail(`unsupported pod version: ${apiVersion}`)
  if (key !== undefined) {
    if (!maps.some((map) => map === base))
      return fail(`field label does not support subscript: ${text}`)
    // In keys of annotations, the domain can contain uppercase letters.
    const checked = base === 'metadata.annotations' ? key.toLowerCase() : key
    for (const why of checkQualifiedName(checked)) check.faults.push(invalidValue(path, key, why))
    return
  }
  if (!knownPaths.has(text)) return fail(`field label not supported: ${text}`)
  // spec.host is the former name of spec.nodeName.
  const field = text === 'spec.host' ? 'spec.nodeName' : text
  if (!supported.includes(field))
    check.faults.push(notSupported(`${path}.fieldPath`, text, supported))
}

const amounts = ['cpu', 'ephemeral-storage', 'memory'] as const
const amountPaths: readonly string[] = ['limits', 'requests'].flatMap((side) =>
  amounts.map((name) => `${side}.${name}`),
)
const sizes = [
  '1',
  '1k',
  '1M',
  '1G',
  '1T',
  '1P',
  '1E',
  '1Ki',
  '1Mi',
  '1Gi',
  '1Ti',
  '1Pi',
  '1Ei',
] as const
const sizesShown = sizes.join(', ')
const sizeNanos: ReadonlySet<bigint> = new Set(sizes.map(nanosOf))
const cpuNanos: ReadonlySet<bigint> = new Set(['1m', '1'].map(nanosOf))

/**
 * Returns the rule for a reference to a resource quantity of a container, in units of the divisor.
 * In a volume, the reference must name the container.
 */
export function resourceFieldRef({ isVolume }: { readonly isVolume: boolean }): Rule {
  return (value, path, { faults }) => {
    const { containerName, resource, divisor } = fieldsOf(value)
    const name = textOf(resource)
    if (isVolume && textOf(containerName) === '') {
      faults.push(required(`${path}.containerName`))
      return
    }
    if (name === '') {
      faults.push(required(`${path}.resource`))
      return
    }
    const isPages = /^(limits|requests)\.hugepages-/.test(name)
    if (!amountPaths.includes(name) && !isPages) {
      faults.push(notSupported(`${path}.resource`, name, amountPaths))
      return
    }
    const why = divisorFault(name.slice(name.indexOf('.') + 1), nanosOf(textOf(divisor)))
    if (why !== undefined) faults.push(invalidValue(`${path}.divisor`, name, why))
  }
}

function divisorFault(amount: string, nanos: bigint): string | undefined {
  if (nanos === 0n) return undefined
  if (amount === 'cpu') {
    return cpuNanos.has(nanos)
      ? undefined
      : "only divisor's values 1m and 1 are supported with the cpu resource"
  }
  if (sizeNanos.has(nanos)) return undefined
  const shown =
    amount === 'memory'
      ? 'memory'
      : amount === 'ephemeral-storage'
        ? 'local ephemeral storage'
        : 'hugepages'
  return `only divisor's values ${sizesShown} are supported with the ${shown} resource`
}
