/**
 * Does nothing. The plugin is deprecated in kube-apiserver, but configurations of old clusters
 * still name it.
 */
import type { Plugin } from './admission.ts'

export const alwaysAdmit: Plugin = {
  name: 'AlwaysAdmit',
  mutate: ({ object }) => object,
  validate: () => {},
}
