/** Refuses every write, those of the server itself included: for tests. Deprecated upstream. */
import { type Attributes, type Plugin, refusal } from './admission.ts'

const deny = (attributes: Attributes): never => {
  throw refusal(attributes, 'admission control is denying all modifications')
}

export const alwaysDeny: Plugin = { name: 'AlwaysDeny', mutate: deny, validate: deny }
