/**
 * `npm run bench -- --only admission [--reference]`: measures what admission adds to a create on a
 * whole server. The server has 500 webhooks and 1,000 policies that do not match the load. One more
 * webhook and one more policy match objects with certain labels.
 *
 * The cost of a policy, and of webhooks and policies that do not match, is measured with
 * alternating slices on one process (bench/server/arms.ts). A kind that the rules name is compared
 * with an identical kind that no rule names. A third identical kind shows how much of a difference
 * is noise.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../../../test/support/harness/etcd.ts'
import { startReference } from '../../../test/support/harness/reference.ts'
import type { Figure } from '../../report/figure.ts'
import { median } from '../../report/interval.ts'
import {
  type Arm,
  atFullLoad,
  type Difference,
  difference,
  overKept,
  runArms,
  type Slice,
} from '../../server/arms.ts'
import { type Figures, h2load, type Load } from '../../server/h2load.ts'
import { PackagedKeelson } from '../../server/packaged.ts'
import { type Target, targetOf } from '../../server/targets.ts'
import { AllowingWebhook } from './allowing-webhook.ts'
import { configure, labelOf, twinGroups } from './configurations.ts'

/**
 * Targets: the time in µs that a feature adds to a create, the time in ms that a webhook adds with
 * 100 concurrent creates, and the rate as a multiple of kube-apiserver's rate.
 */
const UNMATCHED_MICROS_MAX = 20
const POLICY_MICROS_MAX = 50
const WEBHOOK_MS_MAX = 1
const REFERENCE_TIMES = 3

/**
 * Wait before the measurement, because kube-apiserver type-checks policies for a while after they
 * are created.
 */
const SETTLE_MS = 15_000
/** Number of rounds in each run. The option `--runs` sets the number of runs. */
const ROUNDS_PER_RUN = 10
const SLICES_PER_RUN = 20
/**
 * Load that warms up each server before each kind of measurement. Without it, the measured
 * differences would include the time that V8 needs to compile code.
 */
const warmUp = { amount: { requests: 4_000 }, clients: 4, streams: 8 } as const

const body = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify({ metadata: { generateName: 'b-', labels }, data: { a: '1', b: '2', c: '3' } })

const plain = { bench: 'plain' } as const
const headers = { 'content-type': 'application/json' } as const
const uri = '/api/v1/namespaces/default/configmaps'
const creates = (
  labels: Readonly<Record<string, string>>,
  how: Pick<Load, 'amount' | 'clients' | 'streams'>,
): Load => ({ uri, method: 'POST', headers, body: body(labels), ...how })

/**
 * Loads are short, so that a temporary slowdown of the machine affects all of them alike. One load
 * sends creates sequentially, the other sends 100 at once.
 */
const single = { amount: { requests: 150 }, clients: 1, streams: 1 } as const
const hundred = { amount: { requests: 600 }, clients: 4, streams: 25 } as const

const loads = {
  hundred: creates(plain, hundred),
  'single as before': creates(plain, single),
  'hundred webhook': creates(labelOf('webhook'), hundred),
  'single webhook': creates(labelOf('webhook'), single),
} as const

type Run = { readonly target: 'ours' | 'reference'; readonly load: keyof typeof loads }

const keyOf = ({ target, load }: Run): string => `${target}: ${load}`

export type AdmissionBench = { readonly runs: number; readonly reference: boolean }

export async function benchAdmission({ runs, reference }: AdmissionBench): Promise<Figure[]> {
  await using parts = new AsyncDisposableStack()
  const dir = mkdtempSync(join(tmpdir(), 'keelson-bench-admission-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const targets = await start(parts, reference)
  const added = await compareArms(targets.ours, { runs, dir })
  const measured = new Map<string, Figures[]>()
  for (const target of Object.values(targets)) {
    for (const labels of [plain, labelOf('webhook')])
      await h2load(target, creates(labels, warmUp), dir)
  }
  for (const together of plan(reference)) {
    for (let round = 0; round < runs * ROUNDS_PER_RUN; round++) {
      for (const run of round % 2 === 0 ? together : together.toReversed()) {
        const target = targets[run.target]
        if (target === undefined) continue
        const figures = await h2load(target, loads[run.load], dir)
        if (figures.failed > 0) throw new Error(`${keyOf(run)}: ${figures.failed} creates failed`)
        measured.set(keyOf(run), [...(measured.get(keyOf(run)) ?? []), figures])
      }
    }
  }
  return [...added, ...report(measured, reference)]
}

async function start(
  parts: AsyncDisposableStack,
  reference: boolean,
): Promise<{ readonly ours: Target; readonly reference?: Target }> {
  const { clientConfig } = parts.use(await AllowingWebhook.start())
  const { clientUrl } = parts.use(await startEtcd())
  const built = parts.use(new PackagedKeelson())
  const ours = targetOf('ours', parts.use(await built.start({ etcdUrl: clientUrl })), clientUrl)
  await configure(ours, clientConfig)
  if (!reference) return { ours }
  const { clientUrl: theirUrl } = parts.use(await startEtcd())
  const theirs = targetOf(
    'reference',
    parts.use(await startReference({ etcdUrl: theirUrl })),
    theirUrl,
  )
  await configure(theirs, clientConfig)
  await sleep(SETTLE_MS)
  return { ours, reference: theirs }
}

const [namedGroup, otherGroup, againGroup] = twinGroups.map(
  (group) => `/apis/${group}/v1/namespaces/default/things`,
)

/** The request bodies of all compared loads have the same length. */
const arms: readonly Arm[] = [
  { name: 'policy', sent: { method: 'POST', path: uri, headers, body: body(labelOf('policy')) } },
  { name: 'plain', sent: { method: 'POST', path: uri, headers, body: body({ bench: 'plain1' }) } },
  {
    name: 'plain again',
    sent: { method: 'POST', path: uri, headers, body: body({ bench: 'plain2' }) },
  },
  ...Object.entries({ named: namedGroup, other: otherGroup, 'other again': againGroup }).map(
    ([name, path = '']) => ({
      name,
      sent: { method: 'POST', path, headers, body: bodyOfTwin(path, body(plain)) },
    }),
  ),
]

function bodyOfTwin(path: string, text: string): string {
  const [, , group = '', version = ''] = path.split('/')
  return text.replace('{', `{"apiVersion":"${group}/${version}","kind":"Thing",`)
}

/**
 * Three loads with different concurrency. `full` keeps the server busy all the time. `few` leaves
 * the server idle at times. `alone` sends one request at a time, which shows the latency.
 */
const full = { requests: 1_000, clients: 4, streams: 25 } as const
const few = { requests: 200, connections: 4, lanes: 16 } as const
const alone = { requests: 40, connections: 1, lanes: 1 } as const
/**
 * Number of warm-up rounds under full load, until V8 has compiled all the code that is measured.
 */
const WARM_UP_ROUNDS = 20

async function compareArms(
  target: Target,
  { runs, dir }: { readonly runs: number; readonly dir: string },
): Promise<Figure[]> {
  const rounds = runs * SLICES_PER_RUN
  const loaded = await runArms(
    arms,
    { rounds, warmUp: WARM_UP_ROUNDS },
    atFullLoad(target, full, dir),
  )
  using waiting = overKept(target, few)
  const paced = await runArms(arms, { rounds, warmUp: 2 }, waiting.run)
  using one = overKept(target, alone)
  const quiet = await runArms(arms, { rounds, warmUp: 1 }, one.run)
  const cpu = (name: string): number[] =>
    (loaded.get(name) ?? []).map(({ cpuMicros }: Slice) => cpuMicros)
  const cold = (name: string): number[] =>
    (paced.get(name) ?? []).map(({ cpuMicros }: Slice) => cpuMicros)
  const time = (name: string): number[] =>
    (quiet.get(name) ?? []).map(({ halfMicros }: Slice) => halfMicros)
  const rate = (name: string): number[] =>
    (loaded.get(name) ?? []).map(({ perSecond }: Slice) => perSecond)
  const unmatched = '500 webhooks, 1,000 policies elsewhere'
  const policy = 'a policy of five validations'
  return [
    {
      name: '100 creates at once',
      value: median(rate('plain')),
      unit: 'a second',
      note: 'the load of the figures below, unless they name another',
    },
    figure(`${unmatched}: CPU added`, difference(cpu('named'), cpu('other')), UNMATCHED_MICROS_MAX),
    figure('noise: two kinds that no rule names', difference(cpu('other again'), cpu('other'))),
    figure(`${unmatched}: CPU added, a few at once`, difference(cold('named'), cold('other'))),
    figure(
      `${unmatched}: time added, one after the other`,
      difference(time('named'), time('other')),
      UNMATCHED_MICROS_MAX,
    ),
    figure(`${policy}: CPU added`, difference(cpu('policy'), cpu('plain')), POLICY_MICROS_MAX),
    figure('noise: no policy on either side', difference(cpu('plain again'), cpu('plain'))),
    figure(`${policy}: CPU added, a few at once`, difference(cold('policy'), cold('plain'))),
    figure(
      `${policy}: time added, one after the other`,
      difference(time('policy'), time('plain')),
      POLICY_MICROS_MAX,
    ),
  ]
}

const figure = (
  name: string,
  { value, low, high, heavier, lighter }: Difference,
  below?: number,
): Figure => ({
  name,
  value,
  unit: 'µs',
  note: `95 %: ${low.toFixed(1)} to ${high.toFixed(1)}; ${heavier.toPrecision(3)} against ${lighter.toPrecision(3)}`,
  ...(below === undefined ? {} : { target: { below } }),
})

/**
 * Groups of loads that are compared with each other. Only the loads of one group alternate. If all
 * loads alternated, each server would wait longer for its turn and would collect garbage during
 * this wait.
 */
const plan = (reference: boolean): readonly (readonly Run[])[] => [
  [
    { target: 'ours', load: 'single as before' },
    { target: 'ours', load: 'single webhook' },
  ],
  [
    { target: 'ours', load: 'hundred' },
    { target: 'ours', load: 'hundred webhook' },
    ...(reference
      ? ([
          { target: 'reference', load: 'hundred' },
          { target: 'reference', load: 'hundred webhook' },
        ] as const)
      : []),
  ],
]

const cpu = ({ cpuMicros }: Figures): number => cpuMicros
const rate = ({ perSecond }: Figures): number => perSecond
const halfMs = ({ p50 = Number.NaN }: Figures): number => p50
/** Average time per create, in ms. */
const eachMs = ({ perSecond }: Figures): number => 1000 / perSecond

function report(measured: ReadonlyMap<string, readonly Figures[]>, reference: boolean): Figure[] {
  const of = (key: string, value: (figures: Figures) => number): number[] =>
    (measured.get(key) ?? []).map(value)
  /** Returns the median, over all rounds, of the difference between two loads in a round. */
  const added = (
    heavier: string,
    lighter: string,
    value: (figures: Figures) => number,
  ): { value: number; note: string } => {
    const [more, less] = [of(heavier, value), of(lighter, value)]
    const note = `${median(more).toPrecision(3)} against ${median(less).toPrecision(3)}`
    return { value: median(more.map((one, round) => one - (less[round] ?? Number.NaN))), note }
  }
  const webhook = { unit: 'ms', target: { below: WEBHOOK_MS_MAX } }
  const figures: Figure[] = [
    {
      name: 'a webhook: time added, one after the other',
      ...webhook,
      ...added('ours: single webhook', 'ours: single as before', halfMs),
    },
    {
      name: 'a webhook: added to each of 100 creates at once',
      ...webhook,
      ...added('ours: hundred webhook', 'ours: hundred', eachMs),
    },
    // Shows the median, because the time of the last of 100 concurrent creates includes that of all
    // the others.
    {
      name: 'a webhook: median time added to 100 creates at once',
      unit: 'ms',
      ...added('ours: hundred webhook', 'ours: hundred', halfMs),
    },
    {
      name: 'a webhook: CPU added',
      unit: 'µs',
      ...added('ours: hundred webhook', 'ours: hundred', cpu),
    },
  ]
  return reference ? [...figures, ...against(of)] : figures
}

function against(of: (key: string, value: (figures: Figures) => number) => number[]): Figure[] {
  return (['hundred', 'hundred webhook'] as const).map((load) => {
    const [ours, theirs] = [of(`ours: ${load}`, rate), of(`reference: ${load}`, rate)]
    return {
      name: `${load === 'hundred' ? 'no webhook' : 'a webhook'}: rate against the reference`,
      value: median(ours.map((one, round) => one / (theirs[round] ?? Number.NaN))),
      unit: 'times',
      note: `${median(ours).toFixed(0)} against ${median(theirs).toFixed(0)} a second`,
      ...(load === 'hundred' ? {} : { target: { atLeast: REFERENCE_TIMES } }),
    }
  })
}
