/** Parses ginkgo's report of a run. */

export type Outcome = {
  readonly name: string
  readonly result: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  /** The first line of the failure, or the reason for skipping. Empty if the test passed. */
  readonly said: string
}

/**
 * Returns the outcomes in a report. Leaves out tests that were not selected, which ginkgo reports
 * as skipped without a reason.
 */
export function readJunit(report: string): Outcome[] {
  const outcomes: Outcome[] = []
  for (const [, attributes = '', body = ''] of report.matchAll(
    /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const name = /\bname="\[It\] ([^"]*)"/.exec(attributes)?.[1]
    const status = /\bstatus="([^"]*)"/.exec(attributes)?.[1]
    if (name === undefined || status === undefined || status === 'pending') continue
    const said = textOf(/<(?:failure|error|skipped) message="([^"]*)"/.exec(body)?.[1] ?? '')
    if (status === 'skipped' && !said.startsWith('skipped - ')) continue
    outcomes.push({
      name: textOf(name),
      result: status === 'passed' || status === 'skipped' ? status : 'failed',
      seconds: Number(/\btime="([^"]*)"/.exec(attributes)?.[1] ?? 0),
      said: said.split('\n')[0] ?? '',
    })
  }
  return outcomes
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  '#34': '"',
  '#39': "'",
  '#xA': '\n',
  '#x9': '\t',
}

const textOf = (xml: string): string =>
  xml.replaceAll(/&([^;]+);/g, (whole, name: string) => entities[name] ?? whole)
