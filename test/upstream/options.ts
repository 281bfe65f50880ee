/** The command line, read and checked before anything starts. */
import { parseArgs } from 'node:util'

export const usage = `npm run integration -- [PACKAGE…] [options]
  PACKAGE       a folder of k8s.io/kubernetes/test/integration, such as apiserver/apply; apiextensions and apiextensions/conversion
                are those of the other module (all of packages.txt)
  --reference   asks kube-apiserver instead of Keelson; the verdicts go to reference.txt, those of Keelson to keelson.txt
  --run REGEX   only tests whose names match; --skip REGEX leaves out
  --timeout S   seconds for one test (150)
  --retries N   a test that fails is run again so often (1): many have time limits of their own
  --jobs N      so many tests at once (1)
  --missing     only tests that have no verdict yet; on Keelson, of those that pass on the reference
  --build       only builds the test program
  --table       runs nothing: counts the verdicts by package`

export type ServerKind = 'keelson' | 'reference'

export type Options = {
  readonly server: ServerKind
  readonly packages: readonly string[]
  readonly run: RegExp
  readonly skip: RegExp
  readonly timeoutSeconds: number
  readonly retries: number
  readonly jobs: number
  readonly missingOnly: boolean
  readonly buildOnly: boolean
  readonly tableOnly: boolean
}

/** A fault in the command line: its message says what to write instead. */
export class UsageError extends Error {}

/** `listed` are the packages there are. */
export function parseOptions(argv: readonly string[], listed: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const timeoutSeconds = Number(values.timeout)
  const retries = Number(values.retries)
  if (!(timeoutSeconds > 0))
    throw new UsageError(`--timeout ${values.timeout} is no number of seconds`)
  if (!(retries >= 0)) throw new UsageError(`--retries ${values.retries} is no such number`)
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1)
    throw new UsageError(`--jobs ${values.jobs} is no number of tests`)
  const unknown = positionals.find((name) => !listed.includes(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is not in packages.txt`)
  return {
    server: values.reference ? 'reference' : 'keelson',
    packages: positionals.length > 0 ? positionals : listed,
    run: new RegExp(values.run),
    skip: new RegExp(values.skip),
    timeoutSeconds,
    retries,
    jobs,
    missingOnly: values.missing,
    buildOnly: values.build,
    tableOnly: values.table,
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        reference: { type: 'boolean', default: false },
        run: { type: 'string', default: '.' },
        skip: { type: 'string', default: '^$' },
        timeout: { type: 'string', default: '150' },
        retries: { type: 'string', default: '1' },
        jobs: { type: 'string', default: '1' },
        missing: { type: 'boolean', default: false },
        build: { type: 'boolean', default: false },
        table: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
