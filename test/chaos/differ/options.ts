/** The command line, read and checked before anything starts. */
import { parseArgs } from 'node:util'
import { areas } from './areas/areas.ts'

export const usage = `npm run differ -- [fuzz|record|recorded|again FILE [LINE]] [options]
  fuzz            the same random requests to the reference and to Keelson (what is done when nothing is said)
  record          stores the reference's answers to cases on which both agree; what is stored stays
  recorded        sends the stored cases to Keelson alone and compares: needs no reference
  again FILE      sends the findings of a file again, or the one of LINE, and prints what differs

  --seed N        the same seed, area and number give the same case; printed at the start
  --area A,B      of ${Object.keys(areas).join(', ')} (all)
  --cases N       cases of each area (1,000; without end where --minutes is given)
  --from N        the number of the first one (0): --area apply --from 7 --cases 1 runs one again
  --minutes N     no new case after this, nor after SIGINT
  --concurrency N cases at once (4)
  --trials N      runs spent on making one finding smaller (120); 0 leaves it as it is
  --out FILE      where findings go, a line of JSON each (.cache/differ/findings.jsonl)
  --verbose       prints them too`

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

/** A fault in the command line: its message says what to write instead. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const chosen = values.area?.split(',') ?? Object.keys(areas)
  const unknown = chosen.find((area) => !Object.hasOwn(areas, area))
  if (unknown !== undefined)
    throw new UsageError(`--area ${unknown} is none of ${Object.keys(areas).join(', ')}`)
  const number = (
    name: 'cases' | 'from' | 'minutes' | 'concurrency' | 'trials',
    otherwise: number,
  ): number => {
    const value = Number(values[name] ?? otherwise)
    if (!(value >= (name === 'concurrency' ? 1 : 0)))
      throw new UsageError(`--${name} ${values[name]} is no such number`)
    return value
  }
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  if (!Number.isSafeInteger(seed)) throw new UsageError(`--seed ${values.seed} is no whole number`)
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
      throw new UsageError('again takes a file and, perhaps, a line')
    return { kind, file, line: line === undefined ? undefined : Number(line) }
  }
  if (kind !== 'fuzz' && kind !== 'record' && kind !== 'recorded')
    throw new UsageError(`'${kind}' is none of fuzz, record, recorded, again`)
  if (file !== undefined) throw new UsageError(`'${file}' belongs to no option`)
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
