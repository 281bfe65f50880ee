/** What a suite of Ginkgo says of itself, as JSON. */

export type Suite = {
  /** The state of each spec, by its full name. */
  readonly specs: ReadonlyMap<string, string>
  /** Why a spec failed. */
  readonly messages: ReadonlyMap<string, string>
  /** What ran before the first spec. */
  readonly setUpSeconds: number
}

type Told = {
  readonly LeafNodeType: string
  readonly State: string
  readonly RunTime: number
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly Failure?: { readonly Message?: string }
}

const NANOSECONDS = 1e9
const MESSAGE_CHARACTERS_MAX = 600

/** Checked no further: it is written by a pinned version. */
export function readReport(report: readonly { readonly SpecReports: readonly Told[] | null }[]): Suite {
  const specs = new Map<string, string>()
  const messages = new Map<string, string>()
  let setUpNanoseconds = 0
  for (const told of report.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    if (told.LeafNodeType === 'BeforeSuite' || told.LeafNodeType === 'SynchronizedBeforeSuite')
      setUpNanoseconds += told.RunTime
    const name = [...(told.ContainerHierarchyTexts ?? []), told.LeafNodeText || told.LeafNodeType].join(' ')
    // Some specs of controller-runtime have the same name: what is worst counts.
    if (specs.get(name) === undefined || specs.get(name) === 'passed') specs.set(name, told.State)
    if (told.Failure?.Message !== undefined) messages.set(name, told.Failure.Message.slice(0, MESSAGE_CHARACTERS_MAX))
  }
  return { specs, messages, setUpSeconds: setUpNanoseconds / NANOSECONDS }
}
