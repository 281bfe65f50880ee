/** The command line of the compat suite, read and checked before anything starts. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readIds } from './passing.ts'
import type { Choice } from './scenarios.ts'

export const usage = `npm run compat -- [replay|record|list] [options]
  replay          compares each answer with the recording (what is done when nothing is said)
  record          writes such recordings: ask a reference server
  list            what scenarios there are

which server (none named: keelson from this tree, on an etcd of its own)
  --server URL    a server that runs; --token T (admin-token), or --cert F --key F
  --reference     the reference kube-apiserver, on an etcd of its own: test/support/tools/install kube-apiserver
  --server-arg=A  one more flag for the server that is started (repeatable)

which scenarios
  --only TEXT     those whose id or file contains TEXT, or starts with it when it is written ^TEXT (repeatable)
  --section S     those of that section of the specification, such as 4.5
  --with F        with --server: also those that need the set-up F of set-ups.ts, which it has to have (repeatable);
                  a server that is started is set up as its scenarios need it, one after the other
  --list-file F   exactly the ids in the file F, one per line

how
  --without K     leaves every field named K out of the comparison, such as managedFields (repeatable)
  --parallel N    scenarios at once on a server (4)
  --set-ups N     set-ups at once, each on a server of its own, and what needs none on two (1)
  --again         what differs is run once more, after all others and on a new server, and fails if it differs again; what does not is told
  --verbose       every difference, not the first 8 of a step
  --bail          stops at the first scenario that differs
  --json F        writes every scenario's outcome to F
  --update-passing  adds what passes to test/recorded/compat/passing.txt, and fails if something in it no longer does`

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

export type Options = {
  readonly mode: 'replay' | 'record' | 'list'
  readonly server: ServerChoice
  readonly choice: Choice
  readonly without: readonly string[]
  readonly parallel: number
  readonly setUps: number
  readonly again: boolean
  readonly verbose: boolean
  readonly bail: boolean
  readonly jsonFile: string | undefined
  readonly updatePassing: boolean
}

/** A fault in the command line: its message says what to write instead. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const [mode = 'replay', ...more] = positionals
  if (mode !== 'replay' && mode !== 'record' && mode !== 'list')
    throw new UsageError(`'${mode}' is none of replay, record, list`)
  if (more.length > 0)
    throw new UsageError(`'${more.join(' ')}' belongs to no option: put --only before a name`)
  const parallel = countOf('parallel', values.parallel)
  const setUps = countOf('set-ups', values['set-ups'])
  const server = serverChoice(values)
  if (mode === 'record' && server.kind === 'keelson')
    throw new UsageError(
      'only a reference server is recorded: add --reference, or --server with its address',
    )
  if (mode !== 'replay' && values.again) throw new UsageError('--again goes with replay')
  if (mode !== 'replay' && values['update-passing'])
    throw new UsageError('--update-passing goes with replay')
  // The list is of what passes the first time.
  if (values.again && values['update-passing'])
    throw new UsageError('--again and --update-passing do not go together')
  if (values.with.length > 0 && server.kind !== 'running')
    throw new UsageError('--with goes with --server')
  const listFile = values['list-file']
  return {
    mode,
    server,
    choice: {
      only: values.only,
      section: values.section,
      setUps: server.kind === 'running' ? values.with : undefined,
      ids: listFile === undefined ? undefined : readIds(listFile),
    },
    without: values.without,
    parallel,
    setUps,
    again: values.again,
    verbose: values.verbose,
    bail: values.bail,
    jsonFile: values.json,
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
        'server-arg': { type: 'string', multiple: true, default: [] },
        only: { type: 'string', multiple: true, default: [] },
        section: { type: 'string' },
        with: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        'list-file': { type: 'string' },
        parallel: { type: 'string', default: '4' },
        'set-ups': { type: 'string', default: '1' },
        again: { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
        bail: { type: 'boolean', default: false },
        json: { type: 'string' },
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
    throw new UsageError(`--${option} takes a whole number from 1 on`)
  return count
}

function serverChoice(values: ReturnType<typeof parse>['values']): ServerChoice {
  const { server, reference, cert, key, token } = values
  const args = values['server-arg']
  if (server === undefined) {
    if (token || cert || key) throw new UsageError('--token, --cert and --key go with --server')
    return { kind: reference ? 'reference' : 'keelson', args }
  }
  if (reference)
    throw new UsageError(
      '--reference starts a server and --server names one: leave one of them out',
    )
  if (args.length > 0)
    throw new UsageError('--server-arg goes with a server that is started here, not with --server')
  if (!URL.canParse(server))
    throw new UsageError(`--server ${server} is no address: write https://127.0.0.1:6443`)
  return {
    kind: 'running',
    url: server,
    token: token ?? (cert === undefined ? 'admin-token' : undefined),
    cert: cert === undefined ? undefined : readFileSync(cert),
    key: key === undefined ? undefined : readFileSync(key),
  }
}
