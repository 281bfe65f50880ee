/**
 * A map whose keys are chosen by a client. It inherits nothing, so `constructor` and `__proto__`
 * are keys like any other. It fills faster than an Object.create(null), which V8 keeps in
 * dictionary mode.
 */
import type { Json } from './object.ts'

export class JsonMap {
  [key: string]: Json
}

Reflect.deleteProperty(JsonMap.prototype, 'constructor')
Object.setPrototypeOf(JsonMap.prototype, null)
