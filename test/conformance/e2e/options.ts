/** The flags of `npm run conformance`. */
import { parseArgs } from 'node:util'

export const groups = ['api-only', 'with-controllers'] as const
export type Group = (typeof groups)[number]

export const usage = `npm run conformance -- --group NAME [flags]: upstream's e2e tests that need no containers, against Keelson

  --group NAME       api-only or with-controllers (the lists are beside this file)
  --reference        against the reference kube-apiserver; its times are kept for the table
  --manager WHICH    real: kube-controller-manager runs all controllers (on the reference always)
                     inside: it runs only the controllers that Keelson does not have (default)
  --only TEXT        only tests whose names contain TEXT; may be repeated
  --jobs N           how many run at once; those marked [Serial] and [Disruptive] run alone (default 2)
  --junit FILE       writes a report for machines
  --keep-logs DIR    keeps what the tests and servers said`

export class UsageError extends Error {}

export type Options = {
  readonly group: Group
  readonly isReference: boolean
  readonly manager: 'real' | 'inside'
  readonly only: readonly string[]
  readonly jobs: number
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
      only: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '2' },
      junit: { type: 'string' },
      'keep-logs': { type: 'string' },
    },
  })
  const group = groups.find((name) => name === values.group)
  if (group === undefined) throw new UsageError(`--group must be one of ${groups.join(', ')}`)
  const { reference, manager = reference ? 'real' : 'inside' } = values
  if (manager !== 'real' && manager !== 'inside') throw new UsageError('--manager must be real or inside')
  if (reference && manager === 'inside')
    throw new UsageError('the reference has no controllers inside; leave --manager out')
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError('--jobs must be a whole number of at least 1')
  return {
    group,
    isReference: reference,
    manager,
    only: values.only,
    jobs,
    junit: values.junit,
    logs: values['keep-logs'],
  }
}
