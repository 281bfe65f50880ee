/** How much is logged, which can be changed while the server runs. Levels are upstream's: from 2 on details, from 4 on each decision. */
export const DETAILS = 2
export const DECISIONS = 4

/** A level for modules of this name, in which `*` and `?` stand for any characters. */
export type ModuleLevel = { readonly pattern: string; readonly level: number }

export class Verbosity {
  level: number
  readonly #modules: readonly { readonly test: RegExp; readonly level: number }[]
  readonly #known = new Map<string, number>()

  constructor(level: number, modules: readonly ModuleLevel[] = []) {
    this.level = level
    this.#modules = modules.map(({ pattern, level: own }) => ({ test: globOf(pattern), level: own }))
  }

  /** Whether lines of this level are logged by a module. As klog, the first pattern that matches decides. */
  isOn(level: number, module?: string): boolean {
    if (this.level >= level) return true
    return this.#modules.length > 0 && module !== undefined && this.#levelOf(module) >= level
  }

  #levelOf(module: string): number {
    const known = this.#known.get(module)
    if (known !== undefined) return known
    const level = this.#modules.find(({ test }) => test.test(module))?.level ?? 0
    this.#known.set(module, level)
    return level
  }
}

/** An operator's pattern, of a flag: no client can choose it. */
const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[^\w*?]/g, '\\$&')
      .replaceAll(/\*+/g, '.*')
      .replaceAll('?', '.')}$`,
  )
