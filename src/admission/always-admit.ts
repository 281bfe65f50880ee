/**
 * Does nothing. kube-apiserver has deprecated the plugin, but configurations of old clusters name
 * it.
 */
import type { Plugin } from './admission.ts'

export const alwaysAdmit: Plugin = {
  name: 'AlwaysAdmit',
  mutate: ({ object }) => object,
  validate: () => {},
}
