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

/** Reads Ginkgo's report. The report is not validated, because the version of Ginkgo is pinned. */
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
    // If several specs have the same name, as in controller-runtime, store the worst result.
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
 * Parses the output of `-test.v`, which has a line for each completed test. Throws an error if some
 * tests were not completed because of a panic.
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
