/**
 * The verbosity of the log, which can be changed while the server runs. The levels are the same as
 * in kube-apiserver: details from level 2 on, and each decision from level 4 on.
 */
export const DETAILS = 2
export const DECISIONS = 4

/**
 * The verbosity of modules whose name matches a pattern. In a pattern, `*` and `?` stand for any
 * characters.
 */
export type ModuleLevel = { readonly pattern: string; readonly level: number }

export class Verbosity {
  level: number
  #modules: readonly { readonly test: RegExp; readonly level: number }[] = []
  readonly #known = new Map<string, number>()

  constructor(level: number, modules: readonly ModuleLevel[] = []) {
    this.level = level
    this.setModules(modules)
  }

  setModules(modules: readonly ModuleLevel[]): void {
    this.#modules = modules.map(({ pattern, level }) => ({ test: globOf(pattern), level }))
    this.#known.clear()
  }

  /**
   * Whether messages of this level are logged for a module. If several patterns match the name of
   * the module, the first one applies, as in klog.
   */
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

/**
 * Converts an operator's pattern to a regular expression. It is matched only against the names of
 * modules. These are short, so matching is always fast.
 */
const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[^\w*?]/g, '\\$&')
      .replaceAll(/\*+/g, '.*')
      .replaceAll('?', '.')}$`,
  )

/** The largest verbosity level, as in klog. */
const LEVEL_MAX = 2 ** 31 - 1

/** Returns the level, or an error message if the text is not a level. */
export function parseLevel(text: string, max: number = LEVEL_MAX): number | string {
  const level = Number(text)
  const why = !/^\d+$/.test(text)
    ? 'invalid syntax'
    : level > max
      ? 'value out of range'
      : undefined
  return why === undefined ? level : `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`
}

/** Parses `pattern=N,…`. Returns the levels, or an error message if the text is invalid. */
export function parseModules(text: string): readonly ModuleLevel[] | string {
  const modules: ModuleLevel[] = []
  for (const pair of text.split(',')) {
    // Skip empty parts: the text can end with a comma.
    if (pair === '') continue
    const [pattern = '', given = '', ...more] = pair.split('=')
    if (pattern === '' || given === '' || more.length > 0)
      return `${JSON.stringify(pair)} does not have the pattern=N format`
    const level = parseLevel(given)
    if (typeof level === 'string') return `parsing verbosity in ${JSON.stringify(pair)}: ${level}`
    modules.push({ pattern, level })
  }
  return modules
}
