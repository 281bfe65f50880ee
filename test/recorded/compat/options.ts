/** Parses and checks the command line of the compat suite before anything starts. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseRelease } from '../../../src/api/releases.ts'
import { readIds } from './passing.ts'
import { baseRelease, recordedReleases } from './release-recordings.ts'
import type { Sample } from './sample.ts'
import type { Choice } from './scenarios.ts'

export const usage = `npm run compat -- [replay|record|list|changes] [options]
  replay          compares each response with the recording (default)
  record          records the responses of a reference server
  list            lists the scenarios
  changes         prints what differs between the recordings of a release (--kubernetes) and those of 1.33

which server (default: Keelson from this tree, on its own etcd)
  --server URL    a running server; with --token T (admin-token), or --cert F --key F
  --reference     the reference kube-apiserver, on its own etcd; needs test/support/tools/install kube-apiserver
  --kubernetes V  release of the server that is started, and of the recordings, such as 1.34 (1.33);
                  --reference needs test/support/tools/install kube-apiserver-V
  --server-arg=A  an additional flag of the server that is started (repeatable)

which scenarios
  --only TEXT     scenarios whose id or file contains TEXT, or starts with it for ^TEXT (repeatable)
  --section S     scenarios of this section of the specification, such as 4.5
  --with F        with --server: also scenarios that need the set-up F, which the server must have (repeatable);
                  without --server, a server is started for each set-up
  --list-file F   only scenarios whose id is in the file F, one per line
  --sample N      with --kubernetes: only scenarios that differ from 1.33, and one of N of the others
  --seed S        number that chooses the sample (1)

how
  --without K     ignores every field named K, such as managedFields (repeatable)
  --parallel N    number of concurrent scenarios on a server (4)
  --set-ups N     number of servers at once, each with one set-up (1)
  --again         runs scenarios that differ once more on a new server after all others; they fail if they differ again,
                  and are reported if they do not
  --verbose       prints all differences, not only the first 8 of a step
  --bail          stops at the first scenario that differs
  --json F        writes every scenario's outcome to F
  --figures F     writes the counts to F, as bench/results/ has them
  --update-passing  adds scenarios that pass to the list of the release, such as passing.txt for 1.33, and fails if a listed one does not pass`

export type ServerChoice =
  | { readonly kind: 'keelson'; readonly args: readonly string[] }
  | { readonly kind: 'reference'; readonly args: readonly string[] }
  | {
      readonly kind: 'running'
      readonly url: string
      readonly token: string | undefined
      readonly cert: Buffer | undefined
      readonly key: Buffer | undefined
    }

const modes = ['replay', 'record', 'list', 'changes'] as const
type Mode = (typeof modes)[number]

export type Options = {
  readonly mode: Mode
  readonly server: ServerChoice
  /** Minor version of the release whose recordings are used. */
  readonly release: number
  readonly choice: Choice
  readonly sample: Sample | undefined
  readonly without: readonly string[]
  readonly parallel: number
  readonly setUps: number
  readonly again: boolean
  readonly verbose: boolean
  readonly bail: boolean
  readonly jsonFile: string | undefined
  readonly figuresFile: string | undefined
  readonly updatePassing: boolean
}

/** An error in the command line. The message says how to correct it. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const [name = 'replay', ...more] = positionals
  const mode = modes.find((one) => one === name)
  if (mode === undefined)
    throw new UsageError(`'${name}' is not a mode; the modes are ${modes.join(', ')}`)
  if (more.length > 0)
    throw new UsageError(`unexpected argument '${more.join(' ')}': put --only before a name`)
  const parallel = countOf('parallel', values.parallel)
  const setUps = countOf('set-ups', values['set-ups'])
  const server = serverChoice(values)
  if (mode === 'record' && server.kind === 'keelson')
    throw new UsageError(
      'only a reference server can be recorded: add --reference, or --server with its URL',
    )
  if (mode !== 'replay' && values.again) throw new UsageError('--again requires the mode replay')
  if (mode !== 'replay' && values['update-passing'])
    throw new UsageError('--update-passing requires the mode replay')
  // Only scenarios that pass in their first run are added to the list.
  if (values.again && values['update-passing'])
    throw new UsageError('--again and --update-passing cannot be combined')
  if (values.with.length > 0 && server.kind !== 'running')
    throw new UsageError('--with requires --server')
  const release = releaseOf(values.kubernetes)
  if (values.sample !== undefined && release === baseRelease)
    throw new UsageError('--sample requires --kubernetes with a release other than 1.33')
  const listFile = values['list-file']
  return {
    mode,
    server,
    release,
    choice: {
      only: values.only,
      section: values.section,
      setUps: server.kind === 'running' ? values.with : undefined,
      ids: listFile === undefined ? undefined : readIds(listFile),
    },
    sample:
      values.sample === undefined
        ? undefined
        : { oneOf: countOf('sample', values.sample), seed: countOf('seed', values.seed) },
    without: values.without,
    parallel,
    setUps,
    again: values.again,
    verbose: values.verbose,
    bail: values.bail,
    jsonFile: values.json,
    figuresFile: values.figures,
    updatePassing: values['update-passing'],
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        server: { type: 'string' },
        token: { type: 'string' },
        cert: { type: 'string' },
        key: { type: 'string' },
        reference: { type: 'boolean', default: false },
        kubernetes: { type: 'string', default: '1.33' },
        'server-arg': { type: 'string', multiple: true, default: [] },
        only: { type: 'string', multiple: true, default: [] },
        section: { type: 'string' },
        with: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        'list-file': { type: 'string' },
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
        parallel: { type: 'string', default: '4' },
        'set-ups': { type: 'string', default: '1' },
        again: { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
        bail: { type: 'boolean', default: false },
        json: { type: 'string' },
        figures: { type: 'string' },
        'update-passing': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function countOf(option: string, text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`--${option} takes an integer of at least 1`)
  return count
}

function releaseOf(text: string): number {
  const parsed = parseRelease(text, recordedReleases)
  if ('fault' in parsed) throw new UsageError(parsed.fault)
  return parsed.minor
}

function serverChoice(values: ReturnType<typeof parse>['values']): ServerChoice {
  const { server, reference, cert, key, token } = values
  const args = values['server-arg']
  if (server === undefined) {
    if (token || cert || key) throw new UsageError('--token, --cert and --key require --server')
    return { kind: reference ? 'reference' : 'keelson', args }
  }
  if (reference)
    throw new UsageError(
      '--reference starts a server and --server names one: leave one of them out',
    )
  if (args.length > 0)
    throw new UsageError(
      '--server-arg is for a server that this command starts: leave out --server',
    )
  if (!URL.canParse(server))
    throw new UsageError(`--server ${server} is not a URL: write https://127.0.0.1:6443`)
  return {
    kind: 'running',
    url: server,
    token: token ?? (cert === undefined ? 'admin-token' : undefined),
    cert: cert === undefined ? undefined : readFileSync(cert),
    key: key === undefined ? undefined : readFileSync(key),
  }
}
