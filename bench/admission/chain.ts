/** What the chain itself costs a create, its metrics included, with plugins that let everything pass at once. Usage: node bench/admission/chain.ts */
import { Admission, type Plugin } from '../../src/admission/admission.ts'
import { pluginsOnByDefault } from '../../src/config/admission-plugins.ts'
import { anObject, attributes } from '../../test/harness/admission.ts'

/** The plugins that are asked about every resource, by step. */
const mutating = ['NamespaceLifecycle', 'MutatingAdmissionWebhook']
const validating = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'ResourceQuota']

const plugins: Plugin[] = pluginsOnByDefault.split(', ').map((name) => ({
  name,
  ...(mutating.includes(name) ? { mutate: ({ object }) => object } : {}),
  ...(validating.includes(name) ? { validate: () => undefined } : {}),
  ...(mutating.includes(name) || validating.includes(name) ? {} : { resources: new Set(['pods']) }),
}))
const admission = new Admission(plugins)
const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })

const ROUNDS = 15
const WRITES = 200_000
const costs: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const begun = process.cpuUsage()
  for (let at = 0; at < WRITES; at++) {
    const object = await admission.mutate(write)
    await admission.validate(object === undefined ? write : { ...write, object })
  }
  const { user, system } = process.cpuUsage(begun)
  costs.push((user + system) / WRITES)
}
costs.sort((a, b) => a - b)
console.log(
  `a create through the chain: ${(costs[ROUNDS >> 1] ?? 0).toFixed(3)} µs of CPU, at best ${(costs[0] ?? 0).toFixed(3)}`,
)
