/**
 * The plugin NamespaceExists rejects writes and deletes in a namespace that does not exist. The
 * plugin NamespaceLifecycle rejects only the writes.
 */
import type { Attributes, Plugin } from './admission.ts'
import { findNamespace, isOfNamespaces } from './match/namespaces.ts'
import type { Objects } from '../api/object-access.ts'

export function createNamespaceExists(objects: Pick<Objects, 'get'>): Plugin {
  return {
    name: 'NamespaceExists',
    validate: async (attributes: Attributes) => {
      const { operation, namespace } = attributes
      if (operation === 'CONNECT' || namespace === '' || isOfNamespaces(attributes)) return
      await findNamespace(objects, namespace)
    },
  }
}
