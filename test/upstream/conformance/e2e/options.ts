/** The flags of `npm run conformance`. */
import { parseArgs } from 'node:util'

export const groups = ['api-only', 'with-controllers', 'wide', 'aggregated'] as const
export type Group = (typeof groups)[number]

export const usage = `npm run conformance -- --group NAME [flags]: runs Kubernetes' e2e tests that need no containers against Keelson

  --group NAME       api-only, with-controllers, wide or aggregated (lists in test/upstream/conformance/e2e)
  --reference        run against the reference kube-apiserver and store its results for comparison
  --manager WHICH    real: kube-controller-manager runs all controllers (always on the reference)
                     inside: it runs only the controllers that Keelson does not have (default)
                     none: only Keelson's own controllers, no other program, no scheduler
  --nodes WHICH      kwok: three nodes that kwok simulates (default for wide and aggregated)
                     played: nodes that this program simulates, three for wide, otherwise one (default
                     for the others)
  --names FILE       read the names from FILE, one per line, instead of the group's list
  --only TEXT        run only tests whose names contain TEXT; may be repeated
  --skip TEXT        skip tests whose names contain TEXT; may be repeated
  --rest             run only tests without a stored result for this server
  --failed           run only tests whose stored result for this server is a failure
  --jobs N           number of parallel tests; [Serial] and [Disruptive] tests run alone (default 2)
  --limit SECONDS    start each test separately and end it after SECONDS
  --junit FILE       write a report in JUnit format
  --keep-logs DIR    keep the output of tests and servers`
export class UsageError extends Error {}

export type Options = {
  readonly group: Group
  readonly isReference: boolean
  readonly manager: 'real' | 'inside' | 'none'
  readonly nodes: 'kwok' | 'played'
  /** File with test names that replaces the list of the group. */
  readonly names: string | undefined
  readonly only: readonly string[]
  readonly skip: readonly string[]
  readonly kept: 'rest' | 'failed' | undefined
  readonly jobs: number
  readonly limitSeconds: number | undefined
  readonly junit: string | undefined
  readonly logs: string | undefined
}

export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      group: { type: 'string' },
      reference: { type: 'boolean', default: false },
      manager: { type: 'string' },
      nodes: { type: 'string' },
      names: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      skip: { type: 'string', multiple: true, default: [] },
      rest: { type: 'boolean', default: false },
      failed: { type: 'boolean', default: false },
      jobs: { type: 'string', default: '2' },
      limit: { type: 'string' },
      junit: { type: 'string' },
      'keep-logs': { type: 'string' },
    },
  })
  const group = groups.find((name) => name === values.group)
  if (group === undefined) throw new UsageError(`--group must be one of ${groups.join(', ')}`)
  const { reference, manager = reference ? 'real' : 'inside' } = values
  if (manager !== 'real' && manager !== 'inside' && manager !== 'none')
    throw new UsageError('--manager must be real, inside or none')
  if (reference && manager !== 'real')
    throw new UsageError('the reference has no built-in controllers; omit --manager')
  const { nodes = group === 'wide' || group === 'aggregated' ? 'kwok' : 'played' } = values
  if (nodes !== 'kwok' && nodes !== 'played') throw new UsageError('--nodes must be kwok or played')
  if (values.rest && values.failed) throw new UsageError('--rest and --failed exclude each other')
  return {
    group,
    isReference: reference,
    manager,
    nodes,
    names: values.names,
    only: values.only,
    skip: values.skip,
    kept: values.rest ? 'rest' : values.failed ? 'failed' : undefined,
    jobs: wholeNumber('jobs', values.jobs),
    limitSeconds: values.limit === undefined ? undefined : wholeNumber('limit', values.limit),
    junit: values.junit,
    logs: values['keep-logs'],
  }
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`--${flag} must be a whole number of at least 1`)
  return number
}
