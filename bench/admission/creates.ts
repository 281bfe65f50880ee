/**
 * `npm run bench -- --only admission [--reference]`: what admission adds to a create, on whole servers. One has 500 webhooks and 1,000 policies that
 * match nothing of the load, and one of each that matches objects with its label; the other has none. Loads take turns, so that what else the
 * machine does falls upon all of them; what counts is the median of the differences within a round.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../../test/harness/etcd.ts'
import { startReference } from '../../test/harness/reference.ts'
import type { Figure } from '../figure.ts'
import { type Figures, h2load, type Load } from '../server/h2load.ts'
import { PackagedKeelson } from '../server/packaged.ts'
import { type Target, targetOf } from '../server/targets.ts'
import { AllowingWebhook } from './allowing-webhook.ts'
import { configure, labelOf } from './configurations.ts'

/** What issue 17 asks for, in µs; of a webhook in ms, with 100 creates at once, and as a multiple of the reference's rate. */
const UNMATCHED_MICROS_MAX = 20
const POLICY_MICROS_MAX = 50
const WEBHOOK_MS_MAX = 1
const REFERENCE_TIMES = 3

/** The reference checks the types of policies for a while. */
const SETTLE_MS = 15_000
/** Rounds for each of `--runs`: they are short. */
const ROUNDS_PER_RUN = 10
/** Of each kind, for each server, before anything counts: code that is compiled late would be taken for a difference. */
const warmUp = { amount: { requests: 4_000 }, clients: 4, streams: 8 } as const

const body = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify({ metadata: { generateName: 'b-', labels }, data: { a: '1', b: '2', c: '3' } })

const plain = { bench: 'plain' } as const
const creates = (
  labels: Readonly<Record<string, string>>,
  how: Pick<Load, 'amount' | 'clients' | 'streams'>,
): Load => ({
  uri: '/api/v1/namespaces/default/configmaps',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: body(labels),
  ...how,
})

/** Each is short, so that what else the machine does falls upon all: as fast as it goes, one after the other, and 100 at once. */
const busy = { amount: { requests: 600 }, clients: 4, streams: 8 } as const
const single = { amount: { requests: 150 }, clients: 1, streams: 1 } as const
const hundred = { amount: { requests: 600 }, clients: 4, streams: 25 } as const

const loads = {
  busy: creates(plain, busy),
  single: creates(plain, single),
  'busy as before': creates(plain, busy),
  'single as before': creates(plain, single),
  hundred: creates(plain, hundred),
  'busy policy': creates(labelOf('policy'), busy),
  'single policy': creates(labelOf('policy'), single),
  'hundred webhook': creates(labelOf('webhook'), hundred),
  'single webhook': creates(labelOf('webhook'), single),
} as const

type Run = { readonly target: 'bare' | 'many' | 'reference'; readonly load: keyof typeof loads }

const keyOf = ({ target, load }: Run): string => `${target}: ${load}`

export type AdmissionBench = { readonly runs: number; readonly reference: boolean }

export async function benchAdmission({ runs, reference }: AdmissionBench): Promise<Figure[]> {
  await using parts = new AsyncDisposableStack()
  const dir = mkdtempSync(join(tmpdir(), 'keelson-bench-admission-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const targets = await start(parts, reference)
  const measured = new Map<string, Figures[]>()
  for (const [name, target] of Object.entries(targets)) {
    for (const labels of name === 'bare' ? [plain, plain, plain] : [plain, labelOf('policy'), labelOf('webhook')]) {
      await h2load(target, creates(labels, warmUp), dir)
    }
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
  return report(measured, reference)
}

async function start(
  parts: AsyncDisposableStack,
  reference: boolean,
): Promise<Readonly<Partial<Record<Run['target'], Target>>>> {
  const { clientConfig } = parts.use(await AllowingWebhook.start())
  const etcds = []
  for (const _ of reference ? [0, 1, 2] : [0, 1]) etcds.push(parts.use(await startEtcd()))
  const [bareUrl = '', manyUrl = '', theirUrl = ''] = etcds.map(({ clientUrl }) => clientUrl)
  const ours = async (name: string, etcdUrl: string): Promise<Target> =>
    targetOf(name, parts.use(await parts.use(new PackagedKeelson()).start({ etcdUrl })), etcdUrl)
  const bare = await ours('bare', bareUrl)
  const many = await ours('many', manyUrl)
  await configure(many, clientConfig)
  if (!reference) return { bare, many }
  const theirs = targetOf('reference', parts.use(await startReference({ etcdUrl: theirUrl })), theirUrl)
  await configure(theirs, clientConfig)
  await sleep(SETTLE_MS)
  return { bare, many, reference: theirs }
}

/** What is compared takes turns by itself: a server that waited for longer than the other collects its garbage then. */
const plan = (reference: boolean): readonly (readonly Run[])[] => [
  [
    { target: 'bare', load: 'busy' },
    { target: 'many', load: 'busy' },
  ],
  [
    { target: 'bare', load: 'single' },
    { target: 'many', load: 'single' },
  ],
  [
    { target: 'many', load: 'busy as before' },
    { target: 'many', load: 'busy policy' },
  ],
  [
    { target: 'many', load: 'single as before' },
    { target: 'many', load: 'single policy' },
    { target: 'many', load: 'single webhook' },
  ],
  [
    { target: 'many', load: 'hundred' },
    { target: 'many', load: 'hundred webhook' },
    ...(reference
      ? ([
          { target: 'reference', load: 'hundred' },
          { target: 'reference', load: 'hundred webhook' },
        ] as const)
      : []),
  ],
]

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN

const cpu = ({ cpuMicros }: Figures): number => cpuMicros
const rate = ({ perSecond }: Figures): number => perSecond
const halfMs = ({ p50 = Number.NaN }: Figures): number => p50
const halfMicros = (figures: Figures): number => halfMs(figures) * 1000
/** What each takes of the time of all. */
const eachMs = ({ perSecond }: Figures): number => 1000 / perSecond

function report(measured: ReadonlyMap<string, readonly Figures[]>, reference: boolean): Figure[] {
  const of = (key: string, value: (figures: Figures) => number): number[] => (measured.get(key) ?? []).map(value)
  /** What one takes more than the other, in the same round. */
  const added = (
    heavier: string,
    lighter: string,
    value: (figures: Figures) => number,
  ): { value: number; note: string } => {
    const [more, less] = [of(heavier, value), of(lighter, value)]
    const note = `${median(more).toPrecision(3)} against ${median(less).toPrecision(3)}`
    return { value: median(more.map((one, round) => one - (less[round] ?? Number.NaN))), note }
  }
  const unmatched = { unit: 'µs', target: { below: UNMATCHED_MICROS_MAX } }
  const policy = { unit: 'µs', target: { below: POLICY_MICROS_MAX } }
  const webhook = { unit: 'ms', target: { below: WEBHOOK_MS_MAX } }
  const figures: Figure[] = [
    {
      name: '500 webhooks, 1,000 policies elsewhere: CPU added',
      ...unmatched,
      ...added('many: busy', 'bare: busy', cpu),
    },
    {
      name: '500 webhooks, 1,000 policies elsewhere: time added',
      ...unmatched,
      ...added('many: single', 'bare: single', halfMicros),
    },
    {
      name: 'a policy of five validations: CPU added',
      ...policy,
      ...added('many: busy policy', 'many: busy as before', cpu),
    },
    {
      name: 'a policy of five validations: time added',
      ...policy,
      ...added('many: single policy', 'many: single as before', halfMicros),
    },
    {
      name: 'a webhook: time added, one after the other',
      ...webhook,
      ...added('many: single webhook', 'many: single as before', halfMs),
    },
    {
      name: 'a webhook: added to each of 100 creates at once',
      ...webhook,
      ...added('many: hundred webhook', 'many: hundred', eachMs),
    },
    // The last of them waits for the work of all the others.
    {
      name: 'a webhook: time of half of 100 creates at once',
      unit: 'ms',
      ...added('many: hundred webhook', 'many: hundred', halfMs),
    },
    { name: 'a webhook: CPU added', unit: 'µs', ...added('many: hundred webhook', 'many: hundred', cpu) },
  ]
  return reference ? [...figures, ...against(of)] : figures
}

function against(of: (key: string, value: (figures: Figures) => number) => number[]): Figure[] {
  return (['hundred', 'hundred webhook'] as const).map((load) => {
    const [ours, theirs] = [of(`many: ${load}`, rate), of(`reference: ${load}`, rate)]
    return {
      name: `${load === 'hundred' ? 'no webhook' : 'a webhook'}: rate against the reference`,
      value: median(ours.map((one, round) => one / (theirs[round] ?? Number.NaN))),
      unit: 'times',
      note: `${median(ours).toFixed(0)} against ${median(theirs).toFixed(0)} a second`,
      ...(load === 'hundred' ? {} : { target: { atLeast: REFERENCE_TIMES } }),
    }
  })
}
