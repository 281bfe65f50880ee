/** The command line, read and checked before anything starts. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

export const usage = `npm run integration -- [PACKAGE…] [options]
  PACKAGE       a folder of k8s.io/kubernetes/test/integration, such as apiserver/apply; apiextensions and apiextensions/conversion
                are those of the other module (all of packages.txt)
  --reference   asks kube-apiserver instead of Keelson, and writes what passes to reference.txt
  --run REGEX   only tests whose names match; --skip REGEX leaves out
  --timeout S   seconds for one test (150)
  --retries N   a test that fails is run again so often (1): many have time limits of their own
  --jobs N      so many tests at once (1)
  --build       only builds the test programs
  --table       runs nothing: counts what the last runs answered, by package`

export type ServerKind = 'keelson' | 'reference'

export type Options = {
  readonly server: ServerKind
  readonly packages: readonly string[]
  readonly run: RegExp
  readonly skip: RegExp
  readonly timeoutSeconds: number
  readonly retries: number
  readonly jobs: number
  readonly buildOnly: boolean
  readonly tableOnly: boolean
}

/** A fault in the command line: its message says what to write instead. */
export class UsageError extends Error {}

/** Those that failed most come first. */
const listed = join(import.meta.dirname, 'packages.txt')

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const timeoutSeconds = Number(values.timeout)
  const retries = Number(values.retries)
  if (!(timeoutSeconds > 0)) throw new UsageError(`--timeout ${values.timeout} is no number of seconds`)
  if (!(retries >= 0)) throw new UsageError(`--retries ${values.retries} is no such number`)
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError(`--jobs ${values.jobs} is no number of tests`)
  return {
    server: values.reference ? 'reference' : 'keelson',
    packages: positionals.length > 0 ? positionals : readPackages(),
    run: new RegExp(values.run),
    skip: new RegExp(values.skip),
    timeoutSeconds,
    retries,
    jobs,
    buildOnly: values.build,
    tableOnly: values.table,
  }
}

function readPackages(): string[] {
  if (!existsSync(listed)) throw new UsageError('packages.txt is not there: name the packages')
  return readFileSync(listed, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
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
        build: { type: 'boolean', default: false },
        table: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
