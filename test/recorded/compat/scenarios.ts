/** Loads the scenario files and selects scenarios. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isRecord } from './json.ts'
import type { Scenario } from './steps.ts'

const directory = join(import.meta.dirname, 'scenarios')

/** A scenario with the name of its file and recording, without the extension. */
export type FiledScenario = Scenario & { readonly file: string }

export type Choice = {
  /**
   * Texts, one of which must occur in the ID or the file name of a scenario. ^TEXT must occur at
   * the beginning.
   */
  readonly only: readonly string[]
  readonly section?: string | undefined
  /** Set-ups whose scenarios are selected; undefined means all. */
  readonly setUps?: readonly string[] | undefined
  /** IDs of the selected scenarios. */
  readonly ids?: readonly string[] | undefined
}

export async function loadScenarios(): Promise<FiledScenario[]> {
  const files = readdirSync(directory).filter((name) => name.endsWith('.mjs'))
  const byFile = await Promise.all(files.toSorted().map(loadFile))
  const all = byFile.flat()
  const seen = new Map<string, string>()
  for (const { id, file } of all) {
    const other = seen.get(id)
    if (other !== undefined)
      throw new Error(`two scenarios are named ${id}, in ${other} and ${file}: rename one`)
    seen.set(id, file)
  }
  return all
}

async function loadFile(name: string): Promise<FiledScenario[]> {
  const module: unknown = await import(pathToFileURL(join(directory, name)).href)
  const scenarios = isRecord(module) ? module['default'] : undefined
  if (!Array.isArray(scenarios) || !scenarios.every(isScenario))
    throw new Error(`${name}: its default export must be a list of scenarios (see steps.ts)`)
  return scenarios.map((scenario) => ({ ...scenario, file: name.replace(/\.mjs$/, '') }))
}

const isScenario = (value: unknown): value is Scenario =>
  isRecord(value) && typeof value['id'] === 'string' && Array.isArray(value['steps'])

export function chooseScenarios(all: readonly FiledScenario[], choice: Choice): FiledScenario[] {
  const listed = choice.ids && listedScenarios(all, choice.ids, choice.setUps)
  return (listed ?? all).filter(
    (scenario) =>
      (choice.only.length === 0 || choice.only.some((text) => isNamed(scenario, text))) &&
      (choice.section === undefined || String(scenario.section).startsWith(choice.section)) &&
      hasSetUp(scenario, choice.setUps),
  )
}

const hasSetUp = ({ needs }: FiledScenario, offered: readonly string[] | undefined): boolean =>
  needs === undefined || offered === undefined || offered.includes(needs)

function isNamed({ id, file }: FiledScenario, text: string): boolean {
  if (!text.startsWith('^')) return id.includes(text) || file.includes(text)
  return id.startsWith(text.slice(1)) || file.startsWith(text.slice(1))
}

/**
 * Returns the scenarios of a list. Throws an error for unknown IDs, because otherwise they would
 * silently be skipped.
 */
function listedScenarios(
  all: readonly FiledScenario[],
  ids: readonly string[],
  offered: readonly string[] | undefined,
): FiledScenario[] {
  const byId = new Map(all.map((scenario) => [scenario.id, scenario]))
  return ids.map((id) => {
    const scenario = byId.get(id)
    if (scenario === undefined)
      throw new Error(`the list has ${id}, but there is no such scenario: correct the list`)
    if (!hasSetUp(scenario, offered))
      throw new Error(
        `the list has ${id}, which needs a server with ${scenario.needs}: add --with ${scenario.needs}`,
      )
    return scenario
  })
}
