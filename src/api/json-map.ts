/**
 * A map with keys that a client chooses: it inherits nothing, so `constructor` and `__proto__` are
 * keys like any other. Filling it takes a third of the time of an Object.create(null), which V8
 * keeps in dictionary mode.
 */
import type { Json } from './object.ts'

export class JsonMap {
  [key: string]: Json
}

Reflect.deleteProperty(JsonMap.prototype, 'constructor')
Object.setPrototypeOf(JsonMap.prototype, null)
