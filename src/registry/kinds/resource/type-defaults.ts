/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import { type Fields, numberOf, textOf } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Sets the defaults of a device request. By default, it requests exactly one device. */
function withMode(request: Fields): Fields {
  const allocationMode = textOf(request['allocationMode']) || 'ExactCount'
  const isCounted = allocationMode === 'ExactCount' && numberOf(request['count']) === 0
  return { ...request, allocationMode, ...(isCounted ? { count: 1 } : {}) }
}

/**
 * Like `withMode`, but for v1alpha3 and v1beta1. In these API versions, a request without a device
 * class is not an exact request, and gets no defaults.
 */
const withClassMode = (request: Fields): Fields =>
  textOf(request['deviceClassName']) === '' ? request : withMode(request)

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['resource/v1alpha3 DeviceRequest', { fields: {}, set: withClassMode }],
  ['resource/v1beta1 DeviceRequest', { fields: {}, set: withClassMode }],
  ['resource/v1beta2 ExactDeviceRequest', { fields: {}, set: withMode }],
  ['resource/v1 ExactDeviceRequest', { fields: {}, set: withMode }],
  ...['v1', 'v1alpha3', 'v1beta1', 'v1beta2'].map((version): [string, TypeDefaults] => [
    `resource/${version} DeviceSubRequest`,
    { fields: {}, set: withMode },
  ]),
]
