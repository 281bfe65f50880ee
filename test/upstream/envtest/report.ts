/** Parses the report of a suite: Ginkgo's JSON, or the output of Go's own tests. */

/** The results of a suite. */
export type Suite = {
  /** The state of each spec, by its full name. */
  readonly specs: ReadonlyMap<string, string>
  /** Failure messages of specs. */
  readonly messages: ReadonlyMap<string, string>
  /** Duration of the setup before the first spec. */
  readonly setUpSeconds: number
}

type SpecReport = {
  readonly LeafNodeType: string
  readonly State: string
  readonly RunTime: number
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly Failure?: { readonly Message?: string }
}

const NANOSECONDS = 1e9
const MESSAGE_CHARACTERS_MAX = 600

/** The report is not validated, because a pinned version writes it. */
export function readReport(
  report: readonly { readonly SpecReports: readonly SpecReport[] | null }[],
): Suite {
  const specs = new Map<string, string>()
  const messages = new Map<string, string>()
  let setUpNanoseconds = 0
  for (const reported of report.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    if (
      reported.LeafNodeType === 'BeforeSuite' ||
      reported.LeafNodeType === 'SynchronizedBeforeSuite'
    )
      setUpNanoseconds += reported.RunTime
    const name = [
      ...(reported.ContainerHierarchyTexts ?? []),
      reported.LeafNodeText || reported.LeafNodeType,
    ].join(' ')
    // Some specs of controller-runtime have the same name. The worst result is used.
    if (specs.get(name) === undefined || specs.get(name) === 'passed')
      specs.set(name, reported.State)
    if (reported.Failure?.Message !== undefined)
      messages.set(name, reported.Failure.Message.slice(0, MESSAGE_CHARACTERS_MAX))
  }
  return { specs, messages, setUpSeconds: setUpNanoseconds / NANOSECONDS }
}

const states: { readonly [word: string]: string } = {
  PASS: 'passed',
  FAIL: 'failed',
  SKIP: 'skipped',
}

/**
 * Parses the output of `-test.v`, which has a line for each completed test and subtest. Throws if a
 * panic prevented some tests from completing.
 */
export function readGoTests(text: string, setUpSeconds: number): Suite {
  if (!/^(?:PASS|FAIL)$/m.test(text)) throw new Error('the tests did not complete')
  const specs = new Map<string, string>()
  const messages = new Map<string, string>()
  for (const found of text.matchAll(/^ *--- (PASS|FAIL|SKIP): (.+) \([\d.]+s\)$/gm)) {
    const [, word = '', name = ''] = found
    const state = states[word] ?? word
    specs.set(name, state)
    if (state === 'failed')
      messages.set(name, text.slice(Math.max(0, found.index - MESSAGE_CHARACTERS_MAX), found.index))
  }
  return { specs, messages, setUpSeconds }
}
