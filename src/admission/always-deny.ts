/**
 * Rejects every write, including those of the server itself. The plugin is meant for tests. It is
 * deprecated in kube-apiserver.
 */
import { type Attributes, type Plugin, refusal } from './admission.ts'

const deny = (attributes: Attributes): never => {
  throw refusal(attributes, 'admission control is denying all modifications')
}

export const alwaysDeny: Plugin = { name: 'AlwaysDeny', mutate: deny, validate: deny }
