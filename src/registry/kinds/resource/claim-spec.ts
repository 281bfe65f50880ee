/**
 * Rules for the spec of a ResourceClaim: device requests, constraints, and driver configuration.
 */
import { quote } from '../../../api/quote.ts'
import {
  faultsOfEach,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { goPointer, goStruct, goStrings, shownItems } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { celVersionOf } from '../../../objects/cel/kubernetes.ts'
import { inPartsOf, type Turns } from '../../../objects/cel/turns.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { eachItem, mapEach, once } from '../../../lib/scheduling/parts.ts'
import { validateDriverName } from '../storage/csi-node.ts'
import {
  validateClassName,
  validateLabel,
  validateList,
  validateQualified,
  validateSet,
  WHOLE_ITEMS_SINCE,
} from './names.ts'
import { DeviceSelectors, type SelectorOptions } from './selectors.ts'
import { validateToleration } from './taints.ts'

export const REQUESTS_MAX = 32
const CONSTRAINTS_MAX = 32
export const CONFIG_MAX = 32
const FIRST_AVAILABLE_MAX = 8
const PARAMETERS_BYTES_MAX = 10 * 1024

/** Names of requests, each with the names of its subrequests. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

export function requestNames(requests: Json | undefined): RequestNames {
  const names = mapEach('requests', itemsOf(requests), ({ name, firstAvailable }) => {
    const alternatives = itemsOf(firstAvailable).map((one) => textOf(one['name']))
    return [textOf(name), new Set(alternatives)] as const
  })
  return once('names of requests', () => new Map(names))
}

type SelectorContext = {
  readonly selectors: DeviceSelectors
  readonly isStored: boolean
  readonly release: number
}

type ValidationContext = SelectorOptions & { readonly isStored: boolean }

export function* validateClaimSpec(
  spec: Fields,
  path: string,
  { isStored, gates, slice }: ValidationContext,
): Turns<FieldFault[]> {
  const { requests, constraints, config } = fieldsOf(spec['devices'])
  const selectors = yield* DeviceSelectors.compile(
    () => exactRequests(itemsOf(requests)),
    celVersionOf(gates, isStored),
    slice,
  )
  const how: SelectorContext = { isStored, selectors, release: gates.release }
  return yield* inPartsOf(
    () => validateDevices({ requests, constraints, config }, path, how),
    slice,
  )
}

/** Returns all exact requests, including the subrequests in `firstAvailable`. */
function exactRequests(requests: readonly Fields[]): readonly Fields[] {
  return eachItem(
    'exact requests',
    requests,
    (): Fields[] => [],
    (found, { exactly, firstAvailable }) => {
      addAll(found, itemsOf(firstAvailable))
      found.push(fieldsOf(exactly))
      return true
    },
  )
}

function validateDevices(
  { requests, constraints, config }: Fields,
  path: string,
  how: SelectorContext,
): FieldFault[] {
  const names = requestNames(requests)
  const own = `${path}.devices`
  const { release } = how
  return [
    ...validateSet(itemsOf(requests), `${own}.requests`, {
      validate: (request, place) => validateRequest(request, place, how),
      key: { of: ({ name }) => textOf(name), name: 'name' },
      max: REQUESTS_MAX,
      release,
    }),
    ...validateList(itemsOf(constraints), `${own}.constraints`, {
      validate: (constraint, place) => validateConstraint(constraint, place, { names, release }),
      max: CONSTRAINTS_MAX,
      release,
    }),
    ...validateList(itemsOf(config), `${own}.config`, {
      validate: (one, place) => [
        ...validateReferences(one['requests'], `${place}.requests`, { names, release }),
        ...validateConfiguration(one, place, how),
      ],
      max: CONFIG_MAX,
      release,
    }),
  ]
}

function validateRequest(
  { name, exactly, firstAvailable }: Fields,
  path: string,
  how: SelectorContext,
): FieldFault[] {
  const alternatives = itemsOf(firstAvailable)
  const count = (alternatives.length > 0 ? 1 : 0) + (isFields(exactly) ? 1 : 0)
  const why = 'exactly one of `exactly` or `firstAvailable` is required'
  const faults = [
    ...(count === 0 ? [required(path, why)] : []),
    ...(count > 1 ? [invalidValue(path, null, `${why}, but multiple fields are set`)] : []),
  ]
  const ofName = validateLabel(textOf(name), `${path}.name`)
  if (faults.length > 0 && how.release >= WHOLE_ITEMS_SINCE) return [...ofName, ...faults]
  return [
    ...ofName,
    ...(alternatives.length === 0
      ? []
      : validateSet(alternatives, `${path}.firstAvailable`, {
          validate: (one, place) => [
            ...validateLabel(textOf(one['name']), `${place}.name`),
            ...validateExact(one, place, how),
          ],
          key: { of: (one) => textOf(one['name']), name: 'name' },
          max: FIRST_AVAILABLE_MAX,
          release: how.release,
        })),
    ...(isFields(exactly) ? validateExact(exactly, `${path}.exactly`, how) : []),
    ...faults,
  ]
}

function validateExact(
  request: Fields,
  path: string,
  { selectors, release }: SelectorContext,
): FieldFault[] {
  return [
    ...validateClassName(textOf(request['deviceClassName']), `${path}.deviceClassName`),
    ...selectors.validate(request['selectors'], `${path}.selectors`, release),
    ...validateMode(request, path),
    ...faultsOfEach(itemsOf(request['tolerations']), (one, at) =>
      validateToleration(one, `${path}.tolerations[${at}]`, release),
    ),
  ]
}

function validateMode({ allocationMode, count }: Fields, path: string): FieldFault[] {
  const [mode, number] = [textOf(allocationMode), numberOf(count)]
  if (mode === 'All') {
    const why = "must not be specified when allocationMode is 'All'"
    return number === 0 ? [] : [invalidValue(`${path}.count`, number, why)]
  }
  if (mode === 'ExactCount') {
    return number > 0 ? [] : [invalidValue(`${path}.count`, number, 'must be greater than zero')]
  }
  return [notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount'])]
}

function validateConstraint(
  { requests, matchAttribute }: Fields,
  path: string,
  context: ReferenceContext,
): FieldFault[] {
  const { release } = context
  const place = `${path}.matchAttribute`
  const faults = validateReferences(requests, `${path}.requests`, context)
  if (matchAttribute === undefined || matchAttribute === null) return [...faults, required(place)]
  const attribute = textOf(matchAttribute)
  const isLater = release >= WHOLE_ITEMS_SINCE
  const isPlain = (attribute !== '' || isLater) && !attribute.includes('/')
  const why = isLater
    ? 'a fully qualified name must be a domain and a name separated by a slash'
    : 'must include a domain'
  return [
    ...faults,
    ...validateQualified(attribute, place, release),
    ...(isPlain ? [invalidValue(place, attribute, why)] : []),
  ]
}

export type ReferenceContext = { readonly names: RequestNames; readonly release: number }

export const validateReferences = (
  list: Json | undefined,
  path: string,
  { names, release }: ReferenceContext,
): FieldFault[] =>
  validateSet(textsOf(list), path, {
    validate: (name, place) => validateReference(name, place, names),
    key: { of: (name) => name },
    max: REQUESTS_MAX,
    release,
  })

/** Validates a reference to a request or subrequest. */
export function validateReference(name: string, path: string, names: RequestNames): FieldFault[] {
  const why =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  const parts = name.split('/')
  if (parts.length > 2) return [invalidValue(path, name, why)]
  const [request = '', alternative] = parts
  const isThere =
    alternative === undefined ? names.has(request) : names.get(request)?.has(alternative) === true
  return [
    ...parts.flatMap((part) => validateLabel(part, path)),
    ...(isThere ? [] : [invalidValue(path, name, why)]),
  ]
}

export function validateConfiguration(
  { opaque }: Fields,
  path: string,
  { isStored, release }: { readonly isStored: boolean; readonly release: number },
): FieldFault[] {
  if (!isFields(opaque)) return [required(`${path}.opaque`)]
  return [
    ...validateDriverName(textOf(opaque['driver']), `${path}.opaque.driver`, release),
    ...validateData(opaque['parameters'], `${path}.opaque.parameters`, isStored),
  ]
}

/**
 * Validates a field with raw JSON, which must be an object. The size of the JSON is limited unless
 * it is already stored.
 */
export function validateData(
  data: Json | undefined,
  path: string,
  isStored: boolean,
): FieldFault[] {
  const text = textOf(data)
  if (text === '') return [required(path)]
  if (!isStored && Buffer.byteLength(text) > PARAMETERS_BYTES_MAX)
    return [tooLong(path, PARAMETERS_BYTES_MAX)]
  if (text === 'null') return [required(path)]
  return text.startsWith('{')
    ? []
    : [invalidValue(path, '<value omitted>', 'parameters must be a valid JSON object')]
}

/** Formats the spec of a claim as Go does with %#v. */
export function goClaimSpec(spec: Fields): string {
  const { requests, constraints, config } = fieldsOf(spec['devices'])
  return goStruct('resource.ResourceClaimSpec', {
    Devices: goStruct('resource.DeviceClaim', {
      Requests: goItems('resource.DeviceRequest', requests, ({ name, exactly, firstAvailable }) =>
        goStruct('resource.DeviceRequest', {
          Name: quote(textOf(name)),
          Exactly: goPointer('resource.ExactDeviceRequest', isFields(exactly)),
          FirstAvailable: goItems('resource.DeviceSubRequest', firstAvailable, (one) =>
            goStruct('resource.DeviceSubRequest', { Name: quote(textOf(one['name'])) }),
          ),
        }),
      ),
      Constraints: goItems(
        'resource.DeviceConstraint',
        constraints,
        ({ requests: of, matchAttribute }) =>
          goStruct('resource.DeviceConstraint', {
            Requests: goStrings(textsOf(of)),
            MatchAttribute: goPointer('resource.FullyQualifiedName', matchAttribute !== undefined),
          }),
      ),
      Config: goItems('resource.DeviceClaimConfiguration', config, ({ requests: of, opaque }) =>
        goStruct('resource.DeviceClaimConfiguration', {
          Requests: goStrings(textsOf(of)),
          DeviceConfiguration: goStruct('resource.DeviceConfiguration', {
            Opaque: goPointer('resource.OpaqueDeviceConfiguration', isFields(opaque)),
          }),
        }),
      ),
    }),
  })
}

export function goItems(
  type: string,
  list: Json | undefined,
  show: (item: Fields) => string,
): string {
  const items = itemsOf(list)
  return items.length === 0 ? `[]${type}(nil)` : `[]${type}{${shownItems(items, show)}}`
}
