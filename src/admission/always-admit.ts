/** Does nothing; kept because configurations of old clusters name it. Deprecated upstream. */
import type { Plugin } from './admission.ts'

export const alwaysAdmit: Plugin = {
  name: 'AlwaysAdmit',
  mutate: ({ object }) => object,
  validate: () => {},
}
