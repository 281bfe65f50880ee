/**
 * Objects to begin with, of every built-in kind: those with every field set, which kube-apiserver's own tests have (../shared; without
 * it there are fewer kinds), and those that the scenarios send, which are what people write.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInResources } from '../../src/registry/built-in.ts'
import { apiVersionOf, type Resource } from '../../src/registry/resource.ts'
import { isRecord } from '../compat/json.ts'
import { loadScenarios } from '../compat/scenarios.ts'

const goldenFolder = join(import.meta.dirname, '..', '..', '..', 'shared', 'golden')

export const hasGolden: boolean = existsSync(goldenFolder)

export type Seed = { readonly resource: Resource; readonly object: unknown }

export async function loadSeeds(): Promise<Seed[]> {
  const resources = builtInResources().filter(({ isStored }) => isStored)
  const byKind = new Map(resources.map((resource) => [`${apiVersionOf(resource)} ${resource.kind}`, resource]))
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
  for (const file of hasGolden ? readdirSync(goldenFolder) : []) {
    if (file.endsWith('.json')) add(JSON.parse(readFileSync(join(goldenFolder, file), 'utf8')))
  }
  for (const { steps } of await loadScenarios()) {
    for (const step of steps) add('body' in step ? step.body : undefined)
  }
  return seeds
}
