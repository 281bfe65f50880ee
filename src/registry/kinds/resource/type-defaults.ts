/** Defaults of types of this group wherever they occur, besides those that OpenAPI publishes. */
import { type Fields, numberOf, textOf } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** A request is for one device by default. */
function withMode(request: Fields): Fields {
  const allocationMode = textOf(request['allocationMode']) || 'ExactCount'
  const isCounted = allocationMode === 'ExactCount' && numberOf(request['count']) === 0
  return { ...request, allocationMode, ...(isCounted ? { count: 1 } : {}) }
}

/** In older versions an exact request is one that names a class. */
const withClassMode = (request: Fields): Fields =>
  textOf(request['deviceClassName']) === '' ? request : withMode(request)

/** By package and name. `set` runs after the fixed values are set. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['resource/v1alpha3 DeviceRequest', { fields: {}, set: withClassMode }],
  ['resource/v1beta1 DeviceRequest', { fields: {}, set: withClassMode }],
  ['resource/v1beta2 ExactDeviceRequest', { fields: {}, set: withMode }],
  ...['v1alpha3', 'v1beta1', 'v1beta2'].map((version): [string, TypeDefaults] => [
    `resource/${version} DeviceSubRequest`,
    { fields: {}, set: withMode },
  ]),
]
