/** Parses and checks the command line before anything starts. */
import { parseArgs } from 'node:util'
import { areas } from './areas/areas.ts'

export const usage = `npm run differ -- [fuzz|record|recorded|again FILE [LINE]] [options]
  fuzz            sends the same random requests to the reference and to Keelson (default)
  record          stores the reference's responses to cases on which both agree; keeps stored cases
  recorded        sends the stored cases to Keelson only and compares; needs no reference server
  again FILE      sends the findings of FILE again, or only that of LINE, and prints the differences

  --seed N        seed of the random cases, printed at the start (random); a case is determined by seed, area and number
  --area A,B      areas, of ${Object.keys(areas).join(', ')} (all)
  --cases N       number of cases of each area (1,000; unlimited with --minutes)
  --from N        number of the first case (0); --area apply --from 7 --cases 1 repeats one case
  --minutes N     time after which no new case starts; SIGINT has the same effect
  --concurrency N number of cases that run at once (4)
  --trials N      maximum number of runs to reduce a finding (120); 0 disables the reduction
  --out FILE      file to which findings are appended as JSON lines (.cache/differ/findings.jsonl)
  --verbose       also prints the findings`

const CASES = 1000
const CONCURRENCY = 4
const TRIALS = 120

export type Mode =
  | { readonly kind: 'fuzz' | 'record' | 'recorded' }
  | { readonly kind: 'again'; readonly file: string; readonly line: number | undefined }

export type Options = {
  readonly mode: Mode
  readonly seed: number
  readonly areas: readonly string[]
  readonly cases: number
  readonly from: number
  readonly minutes: number
  readonly concurrency: number
  readonly trials: number
  readonly out: string
  readonly verbose: boolean
}

/** An error in the command line. The message says how to correct it. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const chosen = values.area?.split(',') ?? Object.keys(areas)
  const unknown = chosen.find((area) => !Object.hasOwn(areas, area))
  if (unknown !== undefined)
    throw new UsageError(
      `--area ${unknown} does not exist; the areas are ${Object.keys(areas).join(', ')}`,
    )
  const number = (
    name: 'cases' | 'from' | 'minutes' | 'concurrency' | 'trials',
    otherwise: number,
  ): number => {
    const value = Number(values[name] ?? otherwise)
    if (!(value >= (name === 'concurrency' ? 1 : 0)))
      throw new UsageError(`--${name} ${values[name]} is not a valid number`)
    return value
  }
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  if (!Number.isSafeInteger(seed)) throw new UsageError(`--seed ${values.seed} is not an integer`)
  return {
    mode: modeOf(positionals),
    seed,
    areas: chosen,
    cases: number('cases', values.minutes === undefined ? CASES : Infinity),
    from: number('from', 0),
    minutes: number('minutes', Infinity),
    concurrency: number('concurrency', CONCURRENCY),
    trials: number('trials', TRIALS),
    out: values.out,
    verbose: values.verbose,
  }
}

function modeOf([kind = 'fuzz', file, line, ...more]: readonly string[]): Mode {
  if (kind === 'again') {
    if (file === undefined || more.length > 0)
      throw new UsageError('again takes a file and an optional line number')
    return { kind, file, line: line === undefined ? undefined : Number(line) }
  }
  if (kind !== 'fuzz' && kind !== 'record' && kind !== 'recorded')
    throw new UsageError(
      `'${kind}' is not a command; the commands are fuzz, record, recorded, again`,
    )
  if (file !== undefined) throw new UsageError(`unexpected argument '${file}'`)
  return { kind }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        seed: { type: 'string' },
        area: { type: 'string' },
        cases: { type: 'string' },
        from: { type: 'string' },
        minutes: { type: 'string' },
        concurrency: { type: 'string' },
        trials: { type: 'string' },
        out: { type: 'string', default: '.cache/differ/findings.jsonl' },
        verbose: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
