/**
 * The variables of device selectors (Dynamic Resource Allocation): the driver of a device, and its
 * attributes and capacities, which are grouped by domain.
 */
import { type Environment, withVariables } from './environment.ts'
import { deviceLibraries, type CelVersion } from './kubernetes.ts'
import { opaque, type FieldType, type StructType, type Type } from './types.ts'

const DOMAIN_CHARACTERS_MAX = 63
const NAME_CHARACTERS_MAX = 32
const VALUE_CHARACTERS_MAX = 64
/** Maximum total number of attributes and capacities of a device. */
const ENTRIES_MAX = 32

const text = (sizeMax: number): Type => ({ kind: 'string', sizeMax })

const byDomain = (value: Type): Type => ({
  kind: 'map',
  key: text(DOMAIN_CHARACTERS_MAX),
  value: { kind: 'map', key: text(NAME_CHARACTERS_MAX), value, sizeMax: ENTRIES_MAX },
  sizeMax: ENTRIES_MAX,
})

const fields: ReadonlyMap<string, FieldType> = new Map([
  ['driver', { key: 'driver', type: text(DOMAIN_CHARACTERS_MAX) }],
  [
    'attributes',
    { key: 'attributes', type: byDomain({ kind: 'dyn', sizeMax: VALUE_CHARACTERS_MAX }) },
  ],
  ['capacity', { key: 'capacity', type: byDomain(opaque('kubernetes.Quantity')) }],
])

export const deviceType: StructType = {
  kind: 'struct',
  name: 'kubernetes.DRADevice',
  field: (name) => fields.get(name),
}

export const deviceEnvironment = (version: CelVersion): Environment =>
  withVariables(deviceLibraries(version), { device: deviceType })
