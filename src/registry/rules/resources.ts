/** Rules for resource lists: the names of resources, and their quantities. */
import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidUnquoted,
  invalidValue,
  required,
} from '../../api/field-fault.ts'
import { goQuantity } from '../../api/go-value.ts'
import { checkQualifiedName } from '../../api/names.ts'
import { entriesOf, type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { nanosOf, parseQuantity } from '../../api/quantity.ts'
import { quote } from '../../api/quote.ts'
import { everyKey } from '../../lib/scheduling/parts.ts'
import { type Check, eachIn, type Rule } from './rule.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const compute = words('cpu memory ephemeral-storage')
/** Resources that count objects. Their quantities must be integers. */
const counts = words(`
  pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims services.nodeports
  services.loadbalancers`)
const standard: ReadonlySet<string> = new Set([
  ...compute,
  ...compute.map((name) => `requests.${name}`),
  ...compute.map((name) => `limits.${name}`),
  ...counts,
  'storage',
  'requests.storage',
])

const hugePages = 'hugepages-'
export const isHugePages = (name: string): boolean => name.startsWith(hugePages)

/**
 * Whether a resource is native to Kubernetes: its name has no domain, or a domain in kubernetes.io.
 */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

/** Whether a resource is an extended resource, such as `example.com/gpu`. */
export const isExtended = (name: string): boolean =>
  !isNative(name) &&
  !name.startsWith('requests.') &&
  checkQualifiedName(`requests.${name}`).length === 0

const isStandard = (name: string): boolean =>
  standard.has(name) || isHugePages(name) || name.startsWith(`requests.${hugePages}`)

const isWholeCount = (name: string): boolean => counts.includes(name) || isExtended(name)

/** Whether the resource supports overcommitment, so that its limits can exceed its requests. */
export const allowsOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name)

/** Validates the name of a resource. Errors show the name without quotes. */
export function checkResourceName(name: string): string[] {
  const faults = checkQualifiedName(name)
  if (faults.length > 0 || name.includes('/') || isStandard(name)) return faults
  return ['must be a standard resource type or fully qualified']
}

export function checkContainerResourceName(name: string): string[] {
  const faults = checkResourceName(name)
  if (!name.includes('/')) {
    const isForContainers = compute.includes(name) || isHugePages(name)
    return isForContainers ? faults : [...faults, 'must be a standard resource for containers']
  }
  if (isNative(name) || isExtended(name)) return faults
  return [...faults, "doesn't follow extended resource name standard"]
}

/** Validates a quantity of the resource `name`. */
export function checkAmount(name: string, amount: string, path: string): FieldFault[] {
  const nanos = nanosOf(amount)
  if (nanos < 0n) return [invalidValue(path, amount, 'must be greater than or equal to 0')]
  if (isWholeCount(name) && nanos % 10n ** 9n !== 0n)
    return [invalidShown(path, goQuantity(amount), 'must be an integer')]
  return []
}

/** Returns the rule for a resource list. `checkName` validates the names in the list. */
export function resourceList(checkName: (name: string) => string[]): Rule {
  return (value, path, check) => {
    eachIn(entriesOf(value), check, ([name, amount], _, { faults }) => {
      const at = `${path}[${name}]`
      for (const why of checkName(name)) faults.push(invalidUnquoted(at, name, why))
      faults.push(...checkAmount(name, amount, at))
    })
  }
}

/** Returns the rule for requests and limits. `list` is the rule for each of the two lists. */
export const requirementsOf =
  (list: Rule): Rule =>
  (value, path, check) => {
    const { limits, requests } = fieldsOf(value)
    if (limits === undefined && requests === undefined) return
    const limited = fieldsOf(limits)
    list(limits, `${path}.limits`, check)
    hugePagesFit(limited, `${path}.limits`, check)
    eachIn(entriesOf(requests), check, ([name, amount], _, own) => {
      const only = { [name]: amount }
      list(only, `${path}.requests`, own)
      hugePagesFit(only, `${path}.requests`, own)
      own.faults.push(...requestFaults(name, amount, { limit: textOf(limited[name]), path }))
    })
    const lists = [limited, fieldsOf(requests)]
    const hasOther = lists.some((one) => one['cpu'] !== undefined || one['memory'] !== undefined)
    if (!hasOther && lists.some(hasHugePages)) {
      check.faults.push(forbiddenField(path, 'HugePages require cpu or memory'))
    }
  }

const hasHugePages = (list: Fields): boolean =>
  !everyKey('huge pages', list, (name) => !isHugePages(name))

/** Rule for the requests and limits of a container. */
export const resourceRequirements: Rule = requirementsOf(resourceList(checkContainerResourceName))

function hugePagesFit(list: Fields, path: string, check: Check): void {
  eachIn(entriesOf(list), check, ([name, amount], _, { faults }) => {
    if (!isHugePages(name)) return
    const size = parseQuantity(name.slice(hugePages.length))
    const isFit = !('fault' in size) && size.nanos > 0n && nanosOf(amount) % size.nanos === 0n
    if (isFit) return
    faults.push(
      invalidValue(
        `${path}[${name}]`,
        amount,
        `${amount} is not positive integer multiple of ${name}`,
      ),
    )
  })
}

function requestFaults(
  name: string,
  amount: string,
  { limit, path }: { readonly limit: string; readonly path: string },
): FieldFault[] {
  if (limit === '') {
    if (allowsOvercommit(name)) return []
    return [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  }
  const asked = nanosOf(amount)
  const most = nanosOf(limit)
  if (asked !== most && !allowsOvercommit(name)) {
    return [invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)]
  }
  if (asked <= most) return []
  return [
    invalidValue(
      `${path}.requests`,
      amount,
      `must be less than or equal to ${name} limit of ${limit}`,
    ),
  ]
}

const byteResources = ['memory', 'ephemeral-storage', 'storage']

/** Warns about quantities of bytes that are not integers. */
export function fractionWarnings(
  list: Fields,
  path: string,
  names: readonly string[] = byteResources,
): string[] {
  return names.flatMap((name) => {
    const amount = textOf(list[name])
    if (amount === '' || !hasFraction(amount)) return []
    return [
      `${path}[${name}]: fractional byte value ${quote(amount)} is invalid, must be an integer`,
    ]
  })
}

/**
 * Whether a quantity has a fraction. As in kube-apiserver, the quantity is rounded up to
 * thousandths. If the number of thousandths overflows an int64, as for 7Ei, its lowest 64 bits are
 * used. For 10E, these are 0.
 */
function hasFraction(amount: string): boolean {
  const thousandths = (nanosOf(amount) + 999_999n) / 1_000_000n
  const counted = BigInt.asIntN(64, thousandths)
  const isNone = counted !== thousandths && /(?:[GTPE]|e(?:9|1\d))$/.test(amount)
  return !isNone && counted % 1000n !== 0n
}
