/**
 * Loads seed objects of every built-in kind: objects with every field set, objects that
 * kube-apiserver stored (test/recorded/golden), and objects that the compat scenarios send.
 */
import { builtInResources } from '../../../src/registry/built-in.ts'
import { apiVersionOf, type Resource } from '../../../src/registry/resource.ts'
import { isRecord } from '../../recorded/compat/json.ts'
import { loadScenarios } from '../../recorded/compat/scenarios.ts'
import { readFilled, readStored } from '../../recorded/golden/read.ts'

export type Seed = { readonly resource: Resource; readonly object: unknown }

export async function loadSeeds(): Promise<Seed[]> {
  const resources = builtInResources().filter(({ isStored }) => isStored)
  const byKind = new Map(
    resources.map((resource) => [`${apiVersionOf(resource)} ${resource.kind}`, resource]),
  )
  const seeds: Seed[] = []
  const seen = new Set<string>()
  const add = (object: unknown): void => {
    if (!isRecord(object)) return
    const resource = byKind.get(`${String(object['apiVersion'])} ${String(object['kind'])}`)
    const text = JSON.stringify(object)
    if (resource === undefined || seen.has(text)) return
    seen.add(text)
    seeds.push({ resource, object })
  }
  for (const { json } of readFilled()) add(json)
  for (const { object } of readStored()) add(object)
  for (const { steps } of await loadScenarios()) {
    for (const step of steps) add('body' in step ? step.body : undefined)
  }
  return seeds
}
