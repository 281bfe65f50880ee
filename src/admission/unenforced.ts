/**
 * Plugins that are not implemented yet. Their configurations are stored, since other servers on the same etcd may act on them; the writer
 * gets a warning that this server does not, since a policy that is silently not enforced is worse than none.
 */
import { admissionGroup, type Plugin } from './admission.ts'

const unenforced = (name: string, ...plurals: readonly string[]): Plugin => ({
  name,
  resources: new Set(plurals.map((plural) => `${plural}.${admissionGroup}`)),
  validate: ({ operation, subresource, resource, context }) => {
    if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    context.warnOfOwn(`${resource.kind} is stored but not enforced: this server has no ${name} admission yet`)
  },
})

export const unenforcedPlugins: readonly Plugin[] = [
  unenforced('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'),
]
