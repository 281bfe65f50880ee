/**
 * A map whose keys are chosen by a client. The map inherits no properties, so `constructor` and
 * `__proto__` are ordinary keys. Adding keys is faster than with Object.create(null), whose objects
 * V8 stores in dictionary mode.
 */
import type { Json } from './object.ts'

export class JsonMap {
  [key: string]: Json
}

Reflect.deleteProperty(JsonMap.prototype, 'constructor')
Object.setPrototypeOf(JsonMap.prototype, null)
