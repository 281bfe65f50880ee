/** Parses and validates the command line before anything is started. */
import { parseArgs } from 'node:util'

export const usage = `npm run integration -- [PACKAGE…] [options]
  PACKAGE       a folder of k8s.io/kubernetes/test/integration, such as apiserver/apply, or one of the other
                module: apiextensions or apiextensions/conversion (default: all of packages.txt)
  --reference   run against kube-apiserver instead of Keelson. Verdicts of kube-apiserver are written to
                reference.txt, those of Keelson to keelson.txt
  --run REGEX   run only tests whose names match
  --skip REGEX  skip tests whose names match
  --timeout S   seconds for one test (150)
  --retries N   number of retries of a failed test (1), because many tests have their own time limits
  --jobs N      number of parallel tests (1)
  --missing     run only tests without a verdict; on Keelson, only of those that pass on the reference
  --build       only build the test program
  --table       run nothing: count the verdicts by package`

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

/** An error in the command line. The message says what to write instead. */
export class UsageError extends Error {}

/** Parses the command line. `listed` contains the existing packages. */
export function parseOptions(argv: readonly string[], listed: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const timeoutSeconds = Number(values.timeout)
  const retries = Number(values.retries)
  if (!(timeoutSeconds > 0))
    throw new UsageError(`--timeout ${values.timeout} must be a positive number of seconds`)
  if (!(retries >= 0))
    throw new UsageError(`--retries ${values.retries} must be a number of at least 0`)
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1)
    throw new UsageError(`--jobs ${values.jobs} must be a whole number of at least 1`)
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
